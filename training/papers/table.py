"""A table: our figures, and under each system's row what its paper published."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, stdev
from typing import TypedDict

from .layout import Layout
from .measuring import Part, Row
from .published import Published

_NONE = "-"
_DEVIATION = " deviation"
# By part, by name: in per cent; of ours also "n", the mentions, and deviations over several runs.
_Figures = Mapping[str, Mapping[str, float | None]]


class System(TypedDict):
    """A row."""

    system: str
    ours: _Figures
    published: _Figures


class Table(TypedDict):
    """The content of a table, parts in order; systems that were not measured come last."""

    paper: str
    title: str
    note: str
    corpus: str
    published_in: list[str]
    parts: list[str]
    rows: list[System]


def make_table(
    layout: Layout, corpus: str, rows: Sequence[Row], published: Sequence[Published]
) -> Table:
    """Match our figures with the published ones by the names of the systems."""
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


def averaged(rows: Iterable[Row]) -> list[Row]:
    """Make one row of the runs of a system: the mean of each figure, and its standard deviation.

    rows (Iterable[Row]): runs of a system have the same name.
    """
    runs: dict[str, dict[str, list[Part]]] = {}
    for row in rows:
        own = runs.setdefault(row.system, {})
        for name, part in row.parts.items():
            own.setdefault(name, []).append(part)
    return [
        Row(system, {name: _average(parts) for name, parts in own.items()})
        for system, own in runs.items()
    ]


def pooled(folds: Sequence[Sequence[Row]]) -> list[Row]:
    """Make one row of the folds of a system: the mean of each figure, over all mentions."""
    means = averaged(row for fold in folds for row in fold)
    counts: Counter[tuple[str, str]] = Counter()
    for row in (row for fold in folds for row in fold):
        counts.update({(row.system, name): part.n for name, part in row.parts.items()})
    return [
        Row(row.system, {
            name: Part(counts[row.system, name], _without_deviations(part.figures))
            for name, part in row.parts.items()
        })
        for row in means
    ]  # fmt: skip


def _without_deviations(figures: Mapping[str, float | None]) -> dict[str, float | None]:
    return {name: value for name, value in figures.items() if not name.endswith(_DEVIATION)}


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


def as_markdown(table: Table) -> str:
    """Write a table as Markdown; of several figures, those that ours or theirs have, in order."""
    parts = table["parts"]
    names = _names(table)
    counts: _Figures = next((row["ours"] for row in table["rows"] if row["ours"]), {})
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


def _ours(part: Part) -> dict[str, float | None]:
    return {"n": part.n, **part.figures}


def _names(table: Table) -> list[str]:
    """List the figures: ours where there are any, else theirs."""
    ours = [part for row in table["rows"] for part in row["ours"].values()]
    theirs = [part for row in table["rows"] for part in row["published"].values()]
    for parts in (ours, theirs):
        found = [name for part in parts for name in part]
        names = [name for name in _without_deviations(dict.fromkeys(found)) if name != "n"]
        if names:
            return names
    return []


def _line(name: str, own: _Figures, parts: Sequence[str], names: Sequence[str]) -> str:
    return f"| {name} | " + " | ".join(_cell(own.get(part), names) for part in parts) + " |"


def _cell(figures: Mapping[str, float | None] | None, names: Sequence[str]) -> str:
    if not figures:
        return ""
    return " / ".join(_figure(figures, name) for name in names)


def _figure(figures: Mapping[str, float | None], name: str) -> str:
    value, deviation = figures.get(name), figures.get(f"{name}{_DEVIATION}")
    if value is None:
        return _NONE
    return f"{value:.1f}" if deviation is None else f"{value:.1f} ± {deviation:.1f}"
