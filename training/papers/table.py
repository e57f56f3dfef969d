"""A table: our figures, and under each system's row what its paper published."""

from collections.abc import Sequence
from typing import Any

from .layout import Layout
from .measuring import Part, Row
from .published import Published

_NONE = "-"


def make_table(
    layout: Layout, corpus: str, rows: Sequence[Row], published: Sequence[Published]
) -> dict[str, Any]:
    """Put ours beside theirs, by the names of the systems.

    RETURNS (Dict[str, Any]): "title", "note", "corpus", "parts" in order, and "rows": "system",
        "ours" and "published": by part the figures in per cent, with "n" mentions in ours; systems
        that we have not measured come last.
    """
    theirs: dict[str, dict[str, dict[str, float]]] = {}
    for one in published:
        theirs.setdefault(one.system, {})[one.part] = one.figures
    ours = {row.system: row.parts for row in rows}
    measured = [part for row in rows for part in row.parts]
    kept = list(dict.fromkeys(measured)) or list(dict.fromkeys(one.part for one in published))
    order = list(dict.fromkeys([*ours, *theirs]))
    tables = sorted({one.table for one in published})
    return {
        "paper": layout.paper,
        "title": layout.title,
        "note": layout.note,
        "corpus": corpus,
        "published_in": [f"table {number}" for number in tables],
        "parts": kept,
        "rows": [
            {
                "system": system,
                "ours": {part: _ours(own) for part, own in ours.get(system, {}).items()},
                "published": theirs.get(system, {}),
            }
            for system in order
        ],
    }


def as_markdown(table: dict[str, Any]) -> str:
    """Write a table as Markdown; of several figures, those that ours or theirs have, in order."""
    parts = table["parts"]
    names = _names(table)
    counts = next((row["ours"] for row in table["rows"] if row["ours"]), {})
    titles = [f"{part} ({counts[part]['n']:,})" if part in counts else part for part in parts]
    lines = [
        f"**{table['title']}**: {table['corpus']}, {' / '.join(names)}",
        "",
        "| system | " + " | ".join(titles) + " |",
        "|---|" + "---|" * len(parts),
    ]
    for row in table["rows"]:
        if row["ours"]:
            lines.append(_line(row["system"], row["ours"], parts, names))
            name = "*published*"
        else:
            name = f"*{row['system']}, published*"
        if row["published"]:
            lines.append(_line(name, row["published"], parts, names))
    source = ", ".join(table["published_in"])
    notes = [f"Published: {source} of the paper."] if source else []
    return "\n".join([*lines, "", " ".join([*notes, table["note"]]).strip()]).rstrip()


def _ours(part: Part) -> dict[str, Any]:
    return {"n": part.n, **part.figures}


def _names(table: dict[str, Any]) -> list[str]:
    """List the figures: ours where there are any, else theirs."""
    for side in ("ours", "published"):
        found = [name for row in table["rows"] for part in row[side].values() for name in part]
        names = [name for name in dict.fromkeys(found) if name != "n"]
        if names:
            return names
    return []


def _line(name: str, own: dict[str, Any], parts: Sequence[str], names: Sequence[str]) -> str:
    return f"| {name} | " + " | ".join(_cell(own.get(part), names) for part in parts) + " |"


def _cell(figures: dict[str, Any] | None, names: Sequence[str]) -> str:
    if not figures:
        return ""
    values = (figures.get(name) for name in names)
    return " / ".join(_NONE if value is None else f"{value:.1f}" for value in values)
