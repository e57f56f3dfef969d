"""Tables of terms as streams of rows: CSV and TSV, Parquet, and workbooks (.xlsx)."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from ...annotate.parquet import open_parquet
from ...errors import Errors
from ...exchange.spreadsheets import unescaped
from ...kb.readers.foreign import unknown_ending
from ...kb.readers.rows import Row, delimiter_of, read_rows, rows_of
from ...kb.readers.xlsx import first_sheet
from ...types import BadLine

_PLAIN = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt")
_PARQUET, _WORKBOOK = ".parquet", ".xlsx"
KNOWN = (*_PLAIN, _PARQUET, _WORKBOOK)
_ROWS = 1000


@dataclass
class Problems:
    """Problems found while a table was read.

    aside (Counter[str]): rows that were set aside, by problem.
    first (Dict[str, int]): the first row of each kind. western (List[int]): lines that are not
        UTF-8, read as Windows-1252.
    """

    aside: Counter[str] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)
    western: list[int] = field(default_factory=list)

    def note(self, problem: str, row: int) -> None:
        """Count a row that was set aside."""
        self.aside[problem] += 1
        self.first.setdefault(problem, row)


@dataclass(frozen=True)
class Pasted:
    """The text of a table, in place of a file."""

    text: str

    def __repr__(self) -> str:  # for messages, which do not repeat what was pasted
        return "The table"


Source = Path | Pasted


def read_table(path: Source, problems: Problems) -> Iterator[Row]:
    """Stream (number, cells) of each row that is not blank; of a workbook, of the first sheet.

    Cells that `escaped` wrote are given unescaped.
    RAISES (MedlinkError): E107 for no file, E611 for another format, E614 for Parquet without
        pyarrow, E165 and E105 for files that cannot be read.
    """
    rows = _pasted(path, problems) if isinstance(path, Pasted) else _rows(path, problems)
    for row, cells in rows:
        if any(map(str.strip, cells)):
            yield row, [unescaped(cell) for cell in cells]


def _rows(path: Path, problems: Problems) -> Iterator[Row]:
    if not path.is_file():
        raise Errors.source_missing(path=path)
    name, bad = path.name.lower(), list[BadLine]()
    if name.endswith(_PARQUET):
        return _parquet(path)
    if name.endswith(_WORKBOOK):
        return first_sheet(path)
    if name.endswith(_PLAIN):
        delimiter = "\t" if ".tsv" in name else ""
        return _noted(read_rows(path, bad, delimiter, problems.western), bad, problems)
    raise unknown_ending(path, KNOWN)


def _pasted(table: Pasted, problems: Problems) -> Iterator[Row]:
    text = table.text.replace("\0", "").replace("\r\n", "\n")
    bad, lines = list[BadLine](), text.split("\n" if "\n" in text else "\r")
    rows = rows_of(Path(str(table)), iter(enumerate(lines, 1)), bad, delimiter_of(lines))
    return _noted(rows, bad, problems)


def _noted(rows: Iterator[Row], bad: list[BadLine], problems: Problems) -> Iterator[Row]:
    """Stream rows, and note the problems of those that are collected meanwhile."""
    for row in chain(rows, (None,)):
        for line in bad:
            problems.note(line.problem.partition(" (row")[0], line.line)
        bad.clear()
        if row is not None:
            yield row


def _parquet(path: Path) -> Iterator[Row]:
    with open_parquet(path) as file:
        yield 0, list(file.schema_arrow.names)
        row = 0
        for batch in file.iter_batches(batch_size=_ROWS):
            for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                row += 1
                yield row, [_text(value) for value in values]


def _text(value: object) -> str:
    if value is None:
        return ""
    # Many programs write a column of whole numbers with gaps as floats.
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
