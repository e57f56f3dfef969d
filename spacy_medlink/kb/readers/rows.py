"""Rows of tab- or comma-separated files, with the numbers of their lines."""

import csv
import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from ...types import BadLines
from .fields import FieldError
from .lines import numbered_lines, report
from .xlsx import first_sheet, is_workbook

Row = tuple[int, list[str]]
_DELIMITERS = "\t;,|$"
_SAID = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # Excel's own first line
_COMMENT = ("#", "!", "%", "//", '"#')
_MOST = 1000  # comment lines


def read_rows(
    path: Path, bad_lines: BadLines, delimiter: str = "", western: list[int] | None = None
) -> Iterator[Row]:
    """Stream (number of its first line, cells) of each row that is not blank.

    In tab-separated files, a line is a row, and quotation marks are text unless they enclose a
    whole cell. With other delimiters, cells may be quoted and hold line breaks (RFC 4180).

    delimiter (str): what separates cells; "" takes the most frequent one of the first line.
    western (Optional[List[int]]): as for `numbered_lines`.
    RAISES (MedlinkError): E105 for a bad line, unless `bad_lines` collects it.
    """
    delimiter = delimiter or delimiter_of(line for _, line in numbered_lines(path, [], []))
    yield from rows_of(path, numbered_lines(path, bad_lines, western), bad_lines, delimiter)


def read_table(
    path: Path,
    bad_lines: BadLines,
    delimiter: str = "",
    western: list[int] | None = None,
    encoding: str = "",
) -> Iterator[Row]:
    """Stream the rows of a table as `read_rows` does, without the comments before its header.

    The last comment with as many cells as the first row is the header, as in files of the CTD.
    A first line `sep=;` says the delimiter. Of a workbook (.xlsx), the first sheet is the table.

    western, encoding: as for `numbered_lines`.
    """
    if is_workbook(path):
        yield from first_sheet(path)
        return
    lines = numbered_lines(path, bad_lines, western, encoding)
    comments, first = list[tuple[int, str]](), list[tuple[int, str]]()
    for line_number, line in lines:
        if not comments and (mark := _SAID.fullmatch(line.strip(" "))):
            delimiter = delimiter or mark[1]
        elif line.startswith(_COMMENT) and len(comments) < _MOST:
            comments.append((line_number, line.lstrip("#!%/ ")))
        elif line.strip():
            first = [(line_number, line)]
            break
    delimiter = delimiter or delimiter_of(line for _, line in first or comments)
    width = len(_cells(path, first[0], delimiter)) if first else 0
    fitting = [line for line in comments if _is_header(_cells(path, line, delimiter), width)]
    yield from rows_of(path, chain(fitting[-1:], first, lines), bad_lines, delimiter)


def fitted(cells: list[str], width: int) -> list[str]:
    """Give a row the width of its header: programs leave out, or add, empty cells at its end.

    RAISES (FieldError): where a row has more filled cells than the header.
    """
    if any(map(str.strip, cells[width:])):
        raise FieldError(f"{len(cells)} columns", f"{width} columns as in line 1")
    return [*cells[:width], *[""] * (width - len(cells))]


def _is_header(cells: list[str], width: int) -> bool:
    """Tell whether a comment may be a header; in a sentence, blanks follow the commas."""
    return len(cells) == width > 1 and all(cell == cell.strip() for cell in cells)


def _cells(path: Path, line: tuple[int, str], delimiter: str) -> list[str]:
    return next(rows_of(path, iter([line]), [], delimiter), (0, []))[1]


def rows_of(
    path: Path,
    lines: Iterator[tuple[int, str]],
    bad_lines: BadLines,
    delimiter: str,
    is_quoted: bool = False,
) -> Iterator[Row]:
    """Stream the rows of numbered lines, as `read_rows` does.

    path (Path): for messages. is_quoted (bool): cells may be quoted in tab-separated files, too.
    """
    is_tabbed = delimiter == "\t" and not is_quoted
    rows = _tabbed(lines) if is_tabbed else _quoted(path, lines, bad_lines, delimiter)
    for line_number, cells in rows:
        if any(cell and not cell.isspace() for cell in cells):
            yield line_number, cells


def delimiter_of(lines: Iterable[str]) -> str:
    """Guess what separates cells: the most frequent delimiter of the first line with text."""
    first = next(filter(str.strip, lines), "")
    return max(_DELIMITERS, key=first.count) if any(map(first.count, _DELIMITERS)) else "\t"


def _tabbed(lines: Iterator[tuple[int, str]]) -> Iterator[Row]:
    for line_number, line in lines:
        cells = line.split("\t")
        yield line_number, [_unquoted(cell) for cell in cells] if '"' in line else cells


def _unquoted(cell: str) -> str:
    # Spreadsheets quote cells that hold quotation marks, and double those.
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        inner = cell[1:-1].replace('""', "\0")
        if '"' not in inner:
            return inner.replace("\0", '"')
    return cell


class _Feed:
    """Passes lines to the csv module and remembers those of the current row.

    The lines of a row are bounded by the longest cell that the csv module reads, 128 KB.
    """

    def __init__(self, lines: Iterator[tuple[int, str]]) -> None:
        self._lines = lines
        self._again: deque[tuple[int, str]] = deque()
        self._taken: list[tuple[int, str]] = []

    @property
    def first(self) -> int:
        """The number of the row's first line."""
        return self._taken[0][0]

    @property
    def last(self) -> int:
        """The number of the row's last line so far."""
        return self._taken[-1][0]

    def next_row(self) -> None:
        """Begin another row."""
        self._taken.clear()

    def give_back(self) -> None:
        """Read all lines of this row but the first again."""
        self._again.extendleft(reversed(self._taken[1:]))

    def __iter__(self) -> "_Feed":
        return self

    def __next__(self) -> str:
        taken = self._again.popleft() if self._again else next(self._lines)
        self._taken.append(taken)
        return taken[1] + "\n"


def _quoted(
    path: Path, lines: Iterator[tuple[int, str]], bad_lines: BadLines, delimiter: str
) -> Iterator[Row]:
    feed = _Feed(lines)
    rows = csv.reader(feed, delimiter=delimiter, strict=True)
    while True:
        feed.next_row()
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            quoting = "expected after" in str(error) or "unexpected end" in str(error)
            hint = "a stray quotation mark: " if quoting else ""
            problem = f"{hint}{error} (row up to line {feed.last})"
            report(path, feed.first, problem, "cells quoted as in RFC 4180", bad_lines)
            # An open quotation mark would make one cell of all the lines behind it.
            feed.give_back()
            rows = csv.reader(feed, delimiter=delimiter, strict=True)
            continue
        yield feed.first, cells
