"""A table: our figures, and under each system's row what its paper published."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, stdev
from typing import Any

from .figures import Panel
from .measuring import Part, Row
from .plan import Layout
from .published import Published

_DEVIATION = " deviation"
Table = dict[str, Any]
"""The content of a table, as its JSON file has it: parts in order, and for each system "ours" and
"published", by part and name of the figure; systems that were not measured come last."""


def make_table(
    layout: Layout, corpus: str, rows: Sequence[Row], published: Sequence[Published]
) -> Table:
    """Match our figures with the published ones by the names of the systems."""
    theirs: dict[str, dict[str, dict[str, float]]] = {}
    for one in published:
        theirs.setdefault(one.system, {}).setdefault(one.part, {}).update(one.figures)
    ours = {
        row.system: {name: {"n": own.n, **own.figures} for name, own in row.parts.items()}
        for row in rows
    }
    parts = [part for own in ours.values() for part in own] or [one.part for one in published]
    return {
        "paper": layout.paper,
        "title": layout.title,
        "note": layout.note,
        "corpus": corpus,
        "published_in": [f"table {number}" for number in sorted({one.table for one in published})],
        "parts": list(dict.fromkeys(parts)),
        "rows": [
            {"system": name, "ours": ours.get(name, {}), "published": theirs.get(name, {})}
            for name in dict.fromkeys([*ours, *theirs])
        ],
    }


def averaged(rows: Iterable[Row]) -> list[Row]:
    """Make one row of the runs of a system: the mean of each figure, and its standard deviation.

    rows (Iterable[Row]): runs of a system have the same name; the panels are those of the first.
    """
    runs: dict[str, dict[str, list[Part]]] = {}
    panels: dict[str, tuple[Panel, ...]] = {}
    for row in rows:
        panels.setdefault(row.system, row.panels)
        own = runs.setdefault(row.system, {})
        for name, part in row.parts.items():
            own.setdefault(name, []).append(part)
    return [
        Row(system, {name: _average(parts) for name, parts in own.items()}, panels[system])
        for system, own in runs.items()
    ]


def _average(parts: Sequence[Part]) -> Part:
    if len(parts) == 1:
        return parts[0]
    figures: dict[str, float | None] = {}
    for name in parts[0].figures:
        values = [value for part in parts if (value := part.figures[name]) is not None]
        if len(values) < len(parts):
            figures[name] = None
        else:
            figures |= {name: mean(values), f"{name}{_DEVIATION}": stdev(values)}
    return Part(parts[0].n, figures)


def pooled(folds: Sequence[Sequence[Row]]) -> list[Row]:
    """Make one row of the folds of a system: the mean of each figure, over all mentions."""
    rows = [row for fold in folds for row in fold]
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        counts.update({(row.system, name): part.n for name, part in row.parts.items()})
    return [
        Row(row.system, {
            name: Part(counts[row.system, name], {
                figure: value for figure, value in part.figures.items()
                if not figure.endswith(_DEVIATION)
            })
            for name, part in row.parts.items()
        })
        for row in averaged(rows)
    ]  # fmt: skip


def as_markdown(table: Table) -> str:
    """Write a table as Markdown; of several figures, those that ours or theirs have, in order."""
    parts, rows = table["parts"], table["rows"]
    counted: Mapping[str, Any] = next((row["ours"] for row in rows if row["ours"]), {})
    every = [row["ours"] for row in rows if row["ours"]] or [row["published"] for row in rows]
    found = dict.fromkeys(name for own in every for part in own.values() for name in part)
    names = [name for name in found if name != "n" and not name.endswith(_DEVIATION)]
    titles = [f"{part} ({counted[part]['n']:,})" if part in counted else part for part in parts]
    lines = [
        f"**{table['title']}**: {table['corpus']}, {' / '.join(names)}",
        "",
        "| system | " + " | ".join(titles) + " |",
        "|---|" + "---|" * len(parts),
    ]
    for row in rows:
        beside = "*published*" if row["ours"] else f"*{row['system']}, published*"
        for name, own in ((row["system"], row["ours"]), (beside, row["published"])):
            if own:
                cells = (_cell(own.get(part, {}), names) for part in parts)
                lines.append(f"| {name} | {' | '.join(cells)} |")
    source = ", ".join(table["published_in"])
    notes = [f"Published: {source} of the paper."] if source else []
    return "\n".join([*lines, "", " ".join([*notes, table["note"]]).strip()]).rstrip()


def _cell(figures: Mapping[str, float | None], names: Sequence[str]) -> str:
    return " / ".join(_figure(figures, name) for name in names) if figures else ""


def _figure(figures: Mapping[str, float | None], name: str) -> str:
    value, deviation = figures.get(name), figures.get(f"{name}{_DEVIATION}")
    if value is None:
        return "-"
    return f"{value:.1f}" if deviation is None else f"{value:.1f} ± {deviation:.1f}"
