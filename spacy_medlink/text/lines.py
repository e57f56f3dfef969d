"""Lines of a page: which ones the width of a page ends, and columns that stand side by side.

What is wrapped is decided by a line and its neighbours alone, so that an excerpt reads as it does
within the whole.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import islice, pairwise, takewhile
from typing import NamedTuple

from .marks import FILL, sign_of

LINE_END = re.compile("\r\n?|[\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_BULLET = re.compile(r"(?:[-*•+>·–☐☑☒✓✗#|<\"']|\d+[.)]|\(?[a-zA-Z0-9][.)]|[\[(]).*", re.DOTALL)
_LABEL = re.compile(r"[^\W\d_][\w /&'()-]{0,40}:")
_STOP = re.compile(r"[.!?](?:[\s\"')\]]|$)")
# A line that ends with one of these goes on.
_OPEN = frozenset(
    "a an the of and or nor not no without with to in for by from on at as is was were are be been "
    "has have had her his their its any this that these she he it they we some mild severe acute "
    "chronic than but which who "
    "de del el los las y o ni con sin en por para un una al su se que es fue no "
    "der die das den dem des ein eine einen einer eines und oder mit ohne von im für bei als kein "
    "keine keinen keiner ist war hat sie er "
    "le les du et ou avec sans une d au aux pas elle il est par pour sur "
    "di da lo gli i e della dello dei degli delle senza né non con per nel nella la il".split()
)
_NO = frozenset("no non not nein".split())
_NARROW = 16  # characters of a line that goes on for the small letter of the next alone
_FULL_LINE = 50  # of one that is full by its width alone
_NEAR = 2  # lines before and behind
_GAP = re.compile(r"(?<=\S) {3,}(?=\S)")  # parts columns
_MOST = 4  # columns of a line that are looked at
_ROW = re.compile(r"\d|(?:active|resolved|inactive|unknown|normal)\b", re.IGNORECASE)
_BOXED = re.compile(r"[☐☑☒✓✗|]|[\[(][ xX]?[\])]|_{2}")
_END = (-1, -1)  # of a line of a column


class _Line(NamedTuple):
    """A line without the white space around it; indent (int): the spaces before it."""

    start: int
    end: int
    text: str
    indent: int


def _lines(text: str, strip: bool = True) -> list[_Line]:
    lines, last = list[_Line](), 0
    for start, end in [*(it.span() for it in LINE_END.finditer(text)), (len(text), len(text))]:
        written = text[last:start]
        line = written.strip()
        indent = len(written) - len(written.lstrip()) if line else 0
        begin = last + indent if strip else last
        lines.append(_Line(begin, begin + len(line), line if strip else written.rstrip(), indent))
        last = end
    return lines


def joined_lines(text: str) -> str:
    """Write a space for each line end at which only the width of the page ends a line."""
    if not LINE_END.search(text):
        return text
    lines = _lines(text)
    parts, last = list[str](), 0
    is_prose, is_joined = _of_sentences(lines), False
    for row, (line, following) in enumerate(pairwise(lines)):
        is_long = len(line.text) >= _NARROW or (is_joined and line.text[:1].islower())
        is_joined = bool(line.text and following.text)
        if is_joined := is_joined and _goes_on(lines, row, is_prose[row] and is_long):
            parts += [text[last : line.end], " ", FILL * (following.start - line.end - 1)]
            last = following.start
    return "".join([*parts, text[last:]]) if parts else text


def _of_sentences(lines: Sequence[_Line]) -> list[bool]:
    """Tell of each line whether what goes on from it with small letters has a full stop."""
    found, is_prose = False, [False] * len(lines)
    for row in range(len(lines) - 1, -1, -1):
        text = lines[row].text
        goes_on = row + 1 < len(lines) and lines[row + 1].text[:1].islower()
        found = bool(_STOP.search(text)) or (found and goes_on)
        is_prose[row] = found
    return is_prose


def _goes_on(lines: Sequence[_Line], row: int, is_prose: bool) -> bool:
    line, following = lines[row].text, lines[row + 1].text
    last, first = line[-1], following[0]
    if last in ".:;?!|>\"'-\xad\u2010" or _BULLET.match(following) or _LABEL.match(following):
        return False
    words = line.rsplit(None, 1)
    word, before = words[-1].lower(), words[0][-1:] if len(words) > 1 else ""
    is_answer = word in _NO and (before in ":=?,-–" or bool(sign_of(following.split()[-1])))
    if word in _OPEN and len(words) > 1 and not is_answer:
        return True
    if "\t" in line or "   " in line:
        return False
    if first.islower():
        opening = following.split(None, 1)[0].strip(",").lower()
        if last == "," or (opening in _OPEN and opening not in _NO and len(line) >= _NARROW):
            return True
        is_hanging = _BULLET.match(line) and lines[row + 1].indent > lines[row].indent
        if is_hanging or is_prose:
            return True
    is_sentence = first.isupper() and (following[1:2].islower() or len(following.split()[0]) == 1)
    return not is_sentence and _is_full(lines, row)


def _is_written(line: _Line) -> bool:
    return bool(line.text)


def _is_full(lines: Sequence[_Line], row: int) -> bool:
    """Tell whether the next word had no room in a line, by the longest of its neighbours."""
    line, following = lines[row], lines[row + 1]
    if len(line.text) < _FULL_LINE:
        return False
    behind = takewhile(_is_written, lines[row + 1 : row + 1 + _NEAR])
    before = takewhile(_is_written, reversed(lines[max(0, row - _NEAR) : row]))
    width = max(its.indent + len(its.text) for its in (line, *before, *behind))
    return line.indent + len(line.text) + 1 + len(following.text.split(None, 1)[0]) > width


class Page:
    """A text as it is read: laid out, with columns one below the other.

    plain (str): what is read.
    """

    def __init__(self, text: str, laid_out: Callable[[str], str]) -> None:
        """Read a text. laid_out (Callable): see `layout.laid_out`."""
        self._starts, self._places, parts, length = [0], [0], list[str](), 0
        self._count = len(text)
        for start, end in _parts(text):
            if (start, end) != _END:
                self._starts.append(length)
                self._places.append(start)
            parts.append("\n" if (start, end) == _END else text[start:end])
            length += len(parts[-1])
        self.plain = laid_out("".join(parts) if parts else text)
        self._by_place = sorted(zip(self._places, self._starts, strict=True))

    def read(self, start: int, end: int) -> tuple[int, int]:
        """Get the characters of `plain` for some of the text."""
        place, begin = self._by_place[bisect_right(self._by_place, (start, len(self.plain))) - 1]
        return start + begin - place, end + begin - place

    def written(self, start: int, end: int) -> tuple[int, int]:
        """Get the characters of the text from the first to the last of some of `plain`."""
        first, last = (bisect_right(self._starts, it) - 1 for it in (start, end - 1))
        begin, stop = (
            self._places[first] - self._starts[first],
            self._places[last] - self._starts[last],
        )
        return start + begin, min(max(start + begin + 1, end + stop), self._count)


def _parts(text: str) -> list[tuple[int, int]]:
    """Find in which order the parts of a text are read; [] without columns.

    Two lines or more have a column where words begin at the same place behind spaces, and no word
    stands across it. RETURNS: first and last character + 1 of each; the same twice for a line end.
    """
    parts, block, columns, done = list[tuple[int, int]](), list[_Line](), frozenset[int](), 0
    if "   " not in text or not _GAP.search(text):
        return parts
    for line in [*_lines(text, strip=False), _Line(len(text), len(text), "", 0)]:
        gaps = frozenset(gap.end() for gap in islice(_GAP.finditer(line.text), _MOST))
        own = gaps | {line.indent} if line.indent else gaps
        is_short = len(line.text) < min(columns, default=0)
        if block and line.start < len(text) and (is_short or columns & own):
            columns = columns if is_short else columns & own
            block.append(line)
            continue
        if columns and (pairs := _columns(text, block, min(columns))):
            parts += [(done, block[0].start), *pairs]
            done = block[-1].start + len(block[-1].text)
        block, columns = [line] if gaps else [], gaps
    return [*parts, (done, len(text))] if parts else parts


def _columns(text: str, block: Sequence[_Line], column: int) -> list[tuple[int, int]]:
    """Part the lines of a block at a column; [] where they are the rows of a table."""
    left, right = list[tuple[int, int]](), list[tuple[int, int]]()
    cells, rows = list[str](), 0
    for line in block:
        first = line.text[:column].rstrip()
        left += [(line.start, line.start + len(first)), _END]
        if len(line.text) > column:
            right += [(line.start + column, line.start + len(line.text)), _END]
            cells.append(line.text[column:])
            is_row = bool(_ROW.match(cells[-1]) or _BOXED.search(line.text))
            rows += is_row or first.endswith(":") or bool(sign_of(_GAP.split(cells[-1])[0]))
        elif not first:
            right.append(_END)
    return [*left, _END, *right] if len(cells) > 1 and 2 * rows < len(cells) else []
