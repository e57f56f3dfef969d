"""Tables with a header: tab- or comma-separated files, or sheets of a workbook."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from spacy_medlink.errors import Errors, MedlinkError
from spacy_medlink.exchange.lines import unreadable
from spacy_medlink.kb.readers.rows import Row, read_rows
from spacy_medlink.types import BadLine

from ..tally import Tally

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
    header = next(rows, (1, []))[1]
    names = [name.strip().lower() for name in header]
    places = _places(path, names, columns, optional or {})
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
    told = 0
    try:
        for row in read_rows(path, bad, delimiter):
            told = _tell(path, tally, bad, told)
            yield row
    except MedlinkError as error:
        raise unreadable(path, error) from error
    _tell(path, tally, bad, told)


def _tell(path: Path, tally: Tally, bad: list[BadLine], told: int) -> int:
    for line in bad[told:]:
        tally.fault("rows that cannot be read", path, line.line, line.problem)
    return len(bad)


def _places(path: Path, names: list[str], columns: Aliases, optional: Aliases) -> dict[str, int]:
    places = {}
    for name, aliases in [*columns.items(), *optional.items()]:
        column = _first(names, aliases)
        if column is not None:
            places[name] = column
        elif name in columns:
            header = ", ".join(names[:20]) or "nothing"
            problem = f"no column {' or '.join(map(repr, aliases))}; the first line has: {header}"
            raise Errors.source_unreadable(path=path, reason=problem)
    return places


def _first(names: list[str], aliases: Iterable[str]) -> int | None:
    return next((names.index(alias.lower()) for alias in aliases if alias.lower() in names), None)
