"""Rows of an RRF file: fields that end with a bar, in blocks, checked in bulk, sorted by id."""

import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ....errors import Errors
from ....types import BadLines
from ...scratch import Groups
from ..lines import report
from .release import Piece

Row = list[str]


class Select(NamedTuple):
    """A selection of rows.

    row (Callable): tells whether a row is wanted. words (Tuple[bytes]): a wanted row has one of
        them, so that blocks without any are not split; () where nothing is known.
    """

    row: Callable[[Row], bool]
    words: tuple[bytes, ...] = ()


def of_ids(ids: Iterable[str]) -> Select:
    """Select the rows whose first column is one of some ids."""
    wanted = frozenset(ids)
    return Select(lambda row: row[0] in wanted)


Check = Callable[[Row], str]
"""Row -> its problem, "" if there is none."""

_BLOCK = 1 << 16  # rows split from more would fall out of the processor's cache
_LONGEST = 1 << 24
_BAR, _END = 124, 10
# zipfile raises a bare RuntimeError for encryption or compression that it does not support.
_UNREADABLE = (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError)


class Table:
    """An RRF file that can be read several times, each time from its start.

    pieces (List[Piece]): the files of the table, in order; none for a missing table.
    columns (str): names of the columns, separated by spaces.
    required (Sequence[int]): columns that must not be empty.
    by_id (bool): whether the first column is an id, by which the rows must be sorted.
    select (Optional[Select]): the rows that are wanted; other rows are only checked for form.
    check (Optional[Check]): a further test of every row, for small tables.
    bad_lines (Optional[List[BadLine]]): collects bad lines; None makes the first one an error.
    reported (Optional[Set[int]]): numbers of lines already reported; new ones are added.
    """

    def __init__(
        self,
        pieces: list[Piece],
        columns: str,
        required: Sequence[int] = (),
        by_id: bool = True,
        select: Select | None = None,
        check: Check | None = None,
        bad_lines: BadLines = None,
        reported: set[int] | None = None,
    ) -> None:
        self._pieces = pieces
        self._columns = columns.split()
        # Some exports name the columns, and `sort` may put that line anywhere.
        self._header = re.compile(
            b'^["#]?' + re.escape("|".join(self._columns).encode()) + b"\\|?$", re.M | re.I
        )
        self._required = required
        self._by_id = by_id
        self._select = select
        self._check = check
        self._bad_lines = bad_lines
        self._reported = set() if reported is None else reported
        first = pieces[0] if pieces else Piece(Path(), "", "", False)
        self.path = first.origin or Path(first.path, first.member)
        self._lines = first.lines

    def rows(self) -> Iterator[Row]:
        """Stream the rows, each a list of its fields (and "" for what follows the last bar).

        RAISES (MedlinkError): E105 for a bad line, E150 for one out of order.
        """
        return chain.from_iterable(self._blocks())

    def groups(self) -> Groups[Row]:
        """Stream the rows by id."""
        return Groups(self.rows())

    def _blocks(self) -> Iterator[list[Row]]:
        last = ""
        for line, count, block in self._raw_blocks():
            rows = self._split(block, count)
            if rows is None or not self._is_clean(rows, last):
                rows = self._split_slowly(block, line, last)
            if rows:
                last = rows[-1][0]
                yield rows

    def _raw_blocks(self) -> Iterator[tuple[int, int, bytes]]:
        """Read (number of the first line, number of lines, lines), without marks and "\\r"."""
        line, rest = 1, b""
        try:
            for data in self._read():
                block = rest + data
                cut = block.rfind(b"\n") + 1
                rest, block = block[cut:], block[:cut]
                if block:
                    count = _count_lines(block)
                    yield line, count, self._data(block, line)
                    line += count
                if len(rest) > _LONGEST:
                    raise self._error(line, "a line of over 16 MB")
        except _UNREADABLE as error:
            raise self._error(line, f"unreadable or damaged data ({error})") from error
        if rest:
            yield line, 1, self._data(rest + b"\n", line)

    def _data(self, block: bytes, line: int) -> bytes:
        """Take marks, "\\r", and the names of the columns off a block. line: of its first row."""
        block = _plain(block, line)
        begin = "|".join(self._columns[:2]).encode()
        is_named = begin in block or begin.lower() in block
        return self._header.sub(b"", block) if is_named else block

    def _read(self) -> Iterator[bytes]:
        for piece in self._pieces:
            with piece.open() as file:
                while data := file.read(_BLOCK):
                    yield data

    def _split(self, block: bytes, count: int) -> list[Row] | None:
        """Split the wanted lines of a block; None when some line is not well-formed."""
        if not self._is_well_formed(block, count):
            return None
        select = self._select
        if select is not None and select.words and not any(map(block.__contains__, select.words)):
            return []
        lines = block.decode().split("\n")
        del lines[-1]
        rows = [line.split("|") for line in lines]
        return rows if select is None else list(filter(select.row, rows))

    def _is_well_formed(self, block: bytes, count: int) -> bool:
        """Tell quickly whether all lines of a block have their columns, and are UTF-8."""
        data, width = np.frombuffer(block, np.uint8), len(self._columns)
        bars = np.flatnonzero(data == _BAR)
        # If the number of bars is right and a bar stands at the place where each line must end,
        # no line has more or fewer bars than the others.
        if len(bars) != count * width or b"\0" in block:
            return False
        return bool((data[bars[width - 1 :: width] + 1] == _END).all()) and _is_utf8(block)

    def _is_clean(self, rows: list[Row], last: str) -> bool:
        """Tell quickly whether all rows of a block are valid."""
        for column in self._required:
            if not all(map(str.strip, map(itemgetter(column), rows))):
                return False
        if self._check is not None and any(map(self._check, rows)):
            return False
        return not self._by_id or _are_clean_ids([row[0] for row in rows], last)

    def _split_slowly(self, block: bytes, first: int, last: str) -> list[Row]:
        """Split the lines of a block one by one, and report bad lines."""
        rows = []
        for line, raw in enumerate(block.split(b"\n")[:-1], start=first):
            if not raw.strip():
                continue
            try:
                row = raw.decode().split("|")
            except UnicodeDecodeError as error:
                self._report(line, f"not UTF-8 at byte {error.start}")
                continue
            problem = self._problem(row)
            if problem:
                self._report(line, problem)
            elif self._select is not None and not self._select.row(row):
                continue
            elif self._by_id and row[0] < last:
                raise Errors.unsorted_rows(path=self.path, line=line, id=row[0], previous=last)
            else:
                last = row[0]
                rows.append(row)
        return rows

    def _problem(self, row: Row) -> str:
        if any("\0" in text for text in row):
            return "a NUL byte"
        if len(row) != len(self._columns) + 1:
            return f"{len(row) - 1} columns"
        if row[-1]:
            return "text after the last bar"
        if self._select is not None and not self._select.row(row):
            return ""
        if self._by_id and not _are_clean_ids(row[:1], ""):
            return f"{self._columns[0]} is {row[0][:40]!r}"
        for column in self._required:
            if not row[column].strip():
                return f"{self._columns[column]} is empty"
        return self._check(row) if self._check is not None else ""

    def _report(self, line: int, problem: str) -> None:
        if line not in self._reported:
            self._reported.add(line)
            line = self._lines[line - 1] if self._lines else line
            report(self.path, line, problem, self._expected, self._bad_lines)

    def _error(self, line: int, problem: str) -> Exception:
        expected = self._expected
        line = self._lines[line - 1] if self._lines else line
        return Errors.bad_line(path=self.path, line=line, problem=problem, expected=expected)

    @property
    def _expected(self) -> str:
        return f"{len(self._columns)} columns, each ended by a bar: {'|'.join(self._columns)}|"


def _are_clean_ids(ids: list[str], last: str) -> bool:
    """Tell whether the ids are sorted, and none is empty or holds invisible characters."""
    joined = "".join(ids)
    if " " in joined or not joined.isprintable() or not all(ids):
        return False
    return not ids or (last <= ids[0] and ids == sorted(ids))


def _count_lines(block: bytes) -> int:
    # bytes.count takes many times as long where there are so many to count.
    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == _END))


def _plain(block: bytes, line: int) -> bytes:
    if line == 1 and block.startswith(b"\xef\xbb\xbf"):
        block = block[3:]
    return block.replace(b"\r\n", b"\n") if b"\r" in block else block


def _is_utf8(block: bytes) -> bool:
    if block.isascii():
        return True
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return True
