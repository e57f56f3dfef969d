"""Notes as narrow pages: wrapped, with mixed widths, and with two columns side by side."""

import re
from itertools import zip_longest

from benchmarks.reading.cases import Case

_OPEN, _CLOSE = 0xE000, 0xE800  # around a place, plus its number; without width of their own
_SIGN = re.compile("[\ue000-\uefff]")
_GUTTER = 4  # spaces between columns


def pages(notes: list[Case]) -> list[tuple[str, list[Case]]]:
    """Print notes on pages of several widths. RETURNS: each way, and its notes."""
    return [
        ("40 columns", [_printed(note, [40]) for note in notes]),
        ("60 columns", [_printed(note, [60]) for note in notes]),
        ("mixed columns", [_printed(note, [45, 110, 30]) for note in notes]),
        ("two columns", [_printed(note, [40], is_double=True) for note in notes]),
    ]


def _printed(note: Case, widths: list[int], is_double: bool = False) -> Case:
    """Wrap the lines of a note, each paragraph at the next width."""
    parts, last = list[str](), 0
    for number, place in enumerate(note.places):
        name = note.text[place.start : place.end]
        parts += [note.text[last : place.start], chr(_OPEN + number), name, chr(_CLOSE + number)]
        last = place.end
    lines, paragraph = list[str](), 0
    for line in "".join([*parts, note.text[last:]]).split("\n"):
        paragraph += not line.strip()
        lines += _wrapped(line, widths[paragraph % len(widths)]) or [""]
    if is_double:
        half = (len(lines) + 1) // 2
        width = max(map(_width, lines)) + _GUTTER
        rows = zip_longest(lines[:half], lines[half:], fillvalue="")
        lines = [(left + " " * (width - _width(left)) + right).rstrip() for left, right in rows]
    return _unmarked(note, "\n".join(lines))


def _width(line: str) -> int:
    return len(_SIGN.sub("", line))


def _wrapped(line: str, width: int) -> list[str]:
    """Wrap a line at its spaces; places count as they are written."""
    if "  " in line.strip() or _width(line) <= width:
        return [line]
    words, lines = line.split(), [line[: len(line) - len(line.lstrip())]]
    for word in words:
        if lines[-1].strip() and _width(lines[-1]) + 1 + _width(word) > width:
            lines.append("")
        lines[-1] += " " * bool(lines[-1].strip()) + word
    return lines


def _unmarked(note: Case, marked: str) -> Case:
    parts, ends, length = list[str](), dict[int, int](), 0
    for piece in re.split("([\ue000-\uefff])", marked):
        if _SIGN.fullmatch(piece):
            ends[ord(piece)] = length
        else:
            parts.append(piece)
            length += len(piece)
    text = "".join(parts)
    places = [
        place._replace(start=ends[_OPEN + number], end=ends[_CLOSE + number])
        for number, place in enumerate(note.places)
    ]
    # A place that a column cuts in two is no run of characters.
    whole = [place for place in places if " " * _GUTTER not in text[place.start : place.end]]
    return note._replace(text=text, places=tuple(whole))
