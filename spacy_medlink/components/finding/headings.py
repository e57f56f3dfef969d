"""Headings of sections: "ONCOLOGY" or "FAMILY HISTORY:" at the start of a line is no mention.

A heading that names a problem, such as "Diabetes:", is a mention. So only headings made of words
of a list are left out.
"""

from bisect import bisect_right
from collections.abc import Sequence

from spacy.tokens import Doc

from ...text.normalisation import key
from .words import Match

_LONGEST = 8  # tokens of a heading before its colon
_ENDS = frozenset(".;!?")


def without_headings(doc: Doc, matches: Sequence[Match], words: frozenset[str]) -> list[Match]:
    """Leave out matches that lie in the heading of a section.

    words (FrozenSet[str]): keys of the words that headings are made of.
    """
    if not (matches and words):
        return list(matches)
    lines = [0, *(token.i + 1 for token in doc if "\n" in token.text)]
    ends: dict[int, int] = {}
    kept = []
    for match in matches:
        line = lines[bisect_right(lines, match.start) - 1]
        if match.start - line < _LONGEST:
            if line not in ends:
                ends[line] = _heading_end(doc, line, words)
            if match.end <= ends[line]:
                continue
        kept.append(match)
    return kept


def _heading_end(doc: Doc, line: int, words: frozenset[str]) -> int:
    """Find the end of the heading at the start of a line; the start of the line without any."""
    has_words, is_upper = False, True
    for place in range(line, min(line + _LONGEST + 1, len(doc))):
        token = doc[place]
        if token.text == ":":
            return place if has_words else line
        if "\n" in token.text:
            return place if has_words and is_upper else line
        if has_words and token.text in _ENDS:
            return line
        own = key(token.text)
        if not own or own.isdigit():  # "2. ", "- "
            continue
        if not (token.is_stop or all(part in words for part in own.split())):
            return line
        has_words = True
        is_upper &= not any(map(str.islower, token.text))
    return line
