"""Tokens in columns, as CoNLL has them: a tag of a mention, and its id in a column of its own.

The id may also be the type of the tag ("B-HP:0001945"). HIPE's header is such a file, too.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .documents import UNSAID, Document, Mention, Problems
from .ids import is_id, together
from .lines import read_lines

_TAG = re.compile(r"O|[BIESLUM]-\S+|[BI]")
_EMPTY = frozenset({"_", "-", "O", "NIL", "*", ""})
_DOCUMENT = re.compile(r"-DOCSTART-|#\s*(?:newdoc|document)\b(?:\s+id)?\s*=?\s*(?P<id>\S*)", re.I)
_NO_SPACE = re.compile(r"SpaceAfter=No|NoSpaceAfter")
_SAMPLE = 200  # rows that tell the columns

Row = list[str]


class _Columns(NamedTuple):
    """Columns: the tag, and the ids (-1 where the tags have them, or nothing does)."""

    tag: int
    id: int


def columns_of(lines: list[str]) -> _Columns | None:
    """Find the columns in the first lines of a file; None where they are not of this format."""
    rows = [row for line in lines if (row := _row(line))][:_SAMPLE]
    if len(rows) > 1 and rows[0][0].upper() in ("TOKEN", "WORD"):
        rows = rows[1:]
    if not rows:
        return None
    width = Counter(map(len, rows)).most_common(1)[0][0]
    rows = [row for row in rows if len(row) >= width]
    for tag in range(width - 1, 0, -1):
        tags = [row[tag] for row in rows]
        if "O" in tags and set(tags) != {"O"} and all(map(_TAG.fullmatch, tags)):
            ids = (at for at in range(1, width) if at != tag and _has_ids(rows, tag, at))
            return _Columns(tag, next(ids, -1))
    return None


def _has_ids(rows: list[Row], tag: int, at: int) -> bool:
    """Tell whether a column has something with a digit in it where a mention is, and only there."""
    inside = [row[at] for row in rows if row[tag] != "O"]
    outside = {row[at] for row in rows if row[tag] == "O"}
    return outside <= _EMPTY and any(re.search(r"\d", cell) for cell in inside)


def _row(line: str) -> Row:
    """Split a line of a token; [] for others."""
    if not line.strip() or _DOCUMENT.match(line) or (line.startswith("# ") and "\t" not in line):
        return []
    return line.rstrip().split("\t" if "\t" in line else None)


def read_conll(path: Path, problems: Problems) -> Iterator[Document]:
    """Stream the documents of a file; the text is the tokens with spaces between them."""
    lines = list(read_lines(path, problems))
    columns = columns_of([line for _, line in lines])
    if columns is None:
        problems.fault("no column of tags", path, 1)
        return
    document, count = _Document("", 1), 0
    for number, line in lines:
        if start := _DOCUMENT.match(line):
            if document.text:
                yield document.made(path)
            count += 1
            document = _Document(start["id"] or str(count), number)
        elif not line.strip():
            document.end_sentence()
        elif row := _row(line):
            if len(row) <= max(columns):
                problems.fault("rows with too few columns", path, number)
            elif row[0].upper() not in ("TOKEN", "WORD"):
                document.add(row, columns)
    if document.text:
        yield document.made(path)


class _Document:
    """A document that is being read."""

    def __init__(self, id: str, line: int) -> None:
        self.id, self.line, self.text, self._space = id, line, "", ""
        self._mentions: list[Mention] = []
        self._open = ""  # the type of the mention that the next token may continue

    def end_sentence(self) -> None:
        """Begin a new line."""
        self._space, self._open = ("\n" if self.text else ""), ""

    def add(self, row: Row, columns: _Columns) -> None:
        """Add a token."""
        self.text += self._space
        start = len(self.text)
        self.text += row[0]
        self._space = "" if any(map(_NO_SPACE.search, row[1:])) else " "
        mark, _, type = row[columns.tag].partition("-")
        if mark in ("I", "E", "L", "M") and self._open == f"-{type}":
            before = self._mentions[-1]
            self._mentions[-1] = before._replace(spans=((before.spans[0][0], len(self.text)),))
        elif mark != "O":
            self._mentions.append(_mention(type, (start, len(self.text)), row, columns.id))
        self._open = f"-{type}" if mark in ("B", "I", "M") else ""

    def made(self, path: Path) -> Document:
        """Make the document."""
        return Document(self.id, self.text, tuple(self._mentions), path, line=self.line)


def _mention(type: str, span: tuple[int, int], row: Row, column: int) -> Mention:
    if column >= 0:
        cell = "" if row[column] in _EMPTY else row[column]
        return Mention("", (span,), together(*re.split(r"[|,;]", cell)), type)
    *before, last = re.split(r"[|/#]", type)
    if is_id(last):
        return Mention("", (span,), together(last), before[0] if before else "")
    return Mention("", (span,), UNSAID, type)
