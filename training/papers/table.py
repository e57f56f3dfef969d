"""A table: our figures, and under each system's row what its paper published."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import mean, stdev
from typing import Any, NamedTuple, TypedDict

import numpy as np

from spacy_medlink.evaluation.intervals import compare_systems

from .plan import Layout
from .published import Published

_DEVIATION = " deviation"
_TESTED = "Differences are of the first figure, with p by randomisation over documents."


Mention = tuple[str, int]  # its document, and its number


class Row(NamedTuple):
    """Figures of a system on a part of the mentions.

    n (int): mentions. figures (Dict[str, Optional[float]]): in per cent; None, which tables show as
        "-", where there is none. hits (Mapping[Mention, float]): 1.0 for each mention that is
        right, for tests.
    """

    system: str
    part: str
    n: int
    figures: dict[str, float | None]
    hits: Mapping[Mention, float] = {}


Figures = Mapping[str, Mapping[str, float | None]]  # by part and name of the figure


class TableRow(TypedDict):
    """Our figures of a system and the published ones; {} for none.

    against (str): the system that it starts from, or "". differences: to it in each part, with the
        interval and p of the paired tests in `spacy_medlink.evaluation.intervals`.
    """

    system: str
    ours: Figures
    published: Figures
    against: str
    differences: Mapping[str, Mapping[str, Any]]


class Table(TypedDict):
    """A table as its JSON file has it; systems that were not measured come last."""

    paper: str
    title: str
    note: str
    corpus: str
    published_in: list[str]
    parts: list[str]
    rows: list[TableRow]
    lines: list[str]


def make_table(
    layout: Layout,
    corpus: str,
    rows: Sequence[Row],
    published: Sequence[Published],
    bases: Mapping[str, str] = {},
    lines: Sequence[str] = (),
) -> Table:
    """Match our figures with the published ones by the names of the systems.

    bases (Mapping[str, str]): the systems that systems start from. lines: more to say.
    """
    ours: dict[str, dict[str, dict[str, float | None]]] = {}
    for row in rows:
        ours.setdefault(row.system, {})[row.part] = {"n": row.n, **row.figures}
    theirs: dict[str, dict[str, dict[str, float]]] = {}
    for line in published:
        theirs.setdefault(line.system, {}).setdefault(line.part, {}).update(line.figures)
    parts = [row.part for row in rows] or [line.part for line in published]
    ranked = any(name.startswith("acc@") for row in rows for name in row.figures)
    return {
        "paper": layout.paper,
        "title": layout.title,
        "note": f"Ranks count {layout.protocol}. {layout.note}".strip() if ranked else layout.note,
        "corpus": corpus,
        "published_in": [
            f"table {table_number}" for table_number in sorted({line.table for line in published})
        ],
        "parts": list(dict.fromkeys(parts)),
        "rows": [
            {
                "system": name, "ours": ours.get(name, {}), "published": theirs.get(name, {}),
                "against": bases.get(name, ""),
                "differences": dict(_differences(rows, name, bases.get(name, ""))),
            }
            for name in dict.fromkeys([*ours, *theirs])
        ],
        "lines": list(lines),
    }  # fmt: skip


def _differences(
    rows: Sequence[Row], system: str, base: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Compare a system with its base in each part where both have the same mentions."""
    others = {row.part: row.hits for row in rows if row.system == base}
    for row in rows:
        other = others.get(row.part, {})
        if row.system == system != base and row.hits and row.hits.keys() == other.keys():
            ours, theirs = (np.array([hits[key] for key in row.hits]) for hits in (row.hits, other))
            yield row.part, compare_systems(ours, theirs, [doc for doc, _ in row.hits])


def averaged(rows: Iterable[Row], pooled: bool = False) -> list[Row]:
    """Make one row of the runs of a system on a part: the mean of each figure, and its deviation.

    pooled (bool): the runs are folds: all their mentions count, and there is no deviation.
    """
    runs: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        runs.setdefault((row.system, row.part), []).append(row)
    return [_average(rows_of_part, pooled) for rows_of_part in runs.values()]


def _average(rows: Sequence[Row], pooled: bool) -> Row:
    figures: dict[str, float | None] = {}
    for name in rows[0].figures:
        values = [value for row in rows if (value := row.figures[name]) is not None]
        is_whole = len(values) == len(rows)
        figures[name] = mean(values) if is_whole else None
        if is_whole and len(rows) > 1 and not pooled:
            figures[f"{name}{_DEVIATION}"] = stdev(values)
    n = sum(row.n for row in rows) if pooled else rows[0].n
    hits: dict[Mention, list[float]] = {}
    for row in rows:
        for mention, hit in row.hits.items():
            hits.setdefault(mention, []).append(hit)
    means = {mention: mean(values) for mention, values in hits.items()}
    return rows[0]._replace(n=n, figures=figures, hits=means)


def with_averages(rows: Iterable[Row], averages: Mapping[str, Sequence[str]]) -> Iterator[Row]:
    """Add, to the rows of each system, the means over parts that there are.

    averages (Mapping[str, Sequence[str]]): the parts of each mean, () for all.
    """
    by_system: dict[str, list[Row]] = {}
    for row in rows:
        by_system.setdefault(row.system, []).append(row)
    for rows_of_system in by_system.values():
        yield from rows_of_system
        for name, parts in averages.items():
            chosen = [row for row in rows_of_system if row.part in parts or not parts]
            if len(chosen) > 1 and len(chosen) >= len(parts):
                yield _average(chosen, pooled=True)._replace(part=name, hits={})


def as_markdown(table: Table) -> str:
    """Write a table as Markdown; of several figures, those that ours or theirs have, in order."""
    parts, rows = table["parts"], table["rows"]
    counted: Figures = next((row["ours"] for row in rows if row["ours"]), {})
    shown = [row["ours"] for row in rows if row["ours"]] or [row["published"] for row in rows]
    keys = dict.fromkeys(key for parts_of in shown for part in parts_of.values() for key in part)
    names = [key for key in keys if key != "n" and not key.endswith(_DEVIATION)]
    titles = [f"{part} ({counted[part]['n']:,})" if part in counted else part for part in parts]
    lines = [
        f"**{table['title']}**: {table['corpus']}, {' / '.join(names)}",
        "",
        "| system | " + " | ".join(titles) + " |",
        "|---|" + "---|" * len(parts),
    ]
    for row in rows:
        beside = "*published*" if row["ours"] else f"*{row['system']}, published*"
        for name, figures in ((row["system"], row["ours"]), (beside, row["published"])):
            if figures:
                cells = (_cell(figures.get(part, {}), names) for part in parts)
                lines.append(f"| {name} | {' | '.join(cells)} |")
        if row["differences"]:
            cells = (_difference(row["differences"].get(part)) for part in parts)
            lines.append(f"| *against {row['against']}* | {' | '.join(cells)} |")
    source = ", ".join(table["published_in"])
    notes = [f"Published: {source} of the paper."] if source else []
    if any(row["differences"] for row in rows):
        notes.append(_TESTED)
    noted = " ".join([*notes, table["note"]]).strip()
    return "\n".join([*lines, "", noted, *table["lines"]]).rstrip()


def _difference(compared: Mapping[str, Any] | None) -> str:
    return f"{100 * compared['difference']:+.1f} (p {compared['p']:.3f})" if compared else ""


def _cell(figures: Mapping[str, float | None], names: Sequence[str]) -> str:
    return " / ".join(_figure(figures, name) for name in names) if figures else ""


def _figure(figures: Mapping[str, float | None], name: str) -> str:
    value, deviation = figures.get(name), figures.get(f"{name}{_DEVIATION}")
    if value is None:
        return "-"
    return f"{value:.1f}" if deviation is None else f"{value:.1f} ± {deviation:.1f}"
