"""Headings of sections: "ONCOLOGY" or "FAMILY HISTORY:" at the start of a line is no mention.

A heading that names a problem, such as "Diabetes:", is a mention. So only headings made of words
of a list are left out.
"""

from bisect import bisect_right
from collections.abc import Sequence

from ...text.pieces import Border, Pieces
from .match import Match

_LONGEST = 8  # pieces of a heading before its colon


def without_headings(
    pieces: Pieces, matches: Sequence[Match], words: frozenset[str]
) -> list[Match]:
    """Leave out matches that lie in the heading of a section.

    words (FrozenSet[str]): keys of the words that headings are made of.
    """
    if not (matches and words):
        return list(matches)
    starts = [
        place
        for place in range(len(pieces.keys))
        if place == 0 or pieces.borders[place] == Border.SENTENCE or "\n" in pieces.gaps[place]
    ]
    ends: dict[int, int] = {}
    kept = []
    for match in matches:
        start = starts[bisect_right(starts, match.start) - 1]
        if match.start - start < _LONGEST:
            if start not in ends:
                ends[start] = _heading_end(pieces, start, words)
            if match.end <= ends[start]:
                continue
        kept.append(match)
    return kept


def _heading_end(pieces: Pieces, line: int, words: frozenset[str]) -> int:
    """Find the end of the heading at the start of a line or a sentence; the start without any."""
    has_words, is_upper = False, True
    for place in range(line, min(line + _LONGEST, len(pieces.keys)) + 1):
        gap = pieces.gaps[place]
        if place == line and ":" in gap.rpartition("\n")[2]:
            return line
        if has_words:
            before_line = gap.partition("\n")[0]
            if ":" in before_line:
                return place
            if "\n" in gap or place == len(pieces.keys):
                begins_line = line == 0 or "\n" in pieces.gaps[line]
                is_alone = is_upper and not before_line.strip() and "\n" in gap
                return place if is_alone and begins_line else line
            if set(".;!?") & set(gap):
                return line
        if place == len(pieces.keys):
            break
        own = pieces.keys[place]
        if not own or own.isdigit():  # "2. ", "- "
            continue
        if not (pieces.is_stop[place] or all(part in words for part in own.split())):
            return line
        has_words = True
        is_upper &= not any(map(str.islower, pieces.texts[place]))
    return line
