"""Tables with a header: tab- or comma-separated files, or sheets of a workbook."""

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from spacy_medlink.errors import Errors, MedlinkError
from spacy_medlink.exchange.lines import unreadable
from spacy_medlink.kb.readers.rows import Row, read_rows
from spacy_medlink.types import BadLine

from .tally import Tally

Aliases = Mapping[str, tuple[str, ...]]


def read_table(
    path: Path, tally: Tally, columns: Aliases, optional: Aliases | None = None
) -> Iterator[tuple[int, dict[str, str]]]:
    """Stream (line, cells by our column names) of a table with a header.

    columns (Mapping[str, Tuple[str, ...]]): our name to the names that releases use.
    optional (Mapping[str, Tuple[str, ...]]): the same for optional columns.
    RAISES (MedlinkError): E165 when a column is missing.
    """
    rows = read_cells(path, tally)
    names = [name.strip().lower() for name in next(rows, (1, []))[1]]
    places: dict[str, int] = {}
    for name, aliases in {**columns, **(optional or {})}.items():
        there = [names.index(alias.lower()) for alias in aliases if alias.lower() in names]
        if there:
            places[name] = there[0]
        elif name in columns:
            header = ", ".join(names[:20]) or "nothing"
            problem = f"no column {' or '.join(map(repr, aliases))}; the first line has: {header}"
            raise Errors.source_unreadable(path=path, reason=problem)
    for line, cells in rows:
        if len(cells) <= max(places[name] for name in columns):
            tally.fault("rows with too few cells", path, line)
            continue
        yield (
            line,
            {name: cells[column].strip() for name, column in places.items() if column < len(cells)},
        )


def read_cells(path: Path, tally: Tally, delimiter: str = "") -> Iterator[Row]:
    """Stream (line, cells) of a table; rows that cannot be read are counted as faults."""
    bad: list[BadLine] = []
    try:
        for row in chain(read_rows(path, bad, delimiter), [None]):
            for one in bad:
                tally.fault("rows that cannot be read", path, one.line, one.problem)
            bad.clear()
            if row is not None:
                yield row
    except MedlinkError as error:
        raise unreadable(path, error) from error
