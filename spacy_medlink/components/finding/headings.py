"""Headings of sections: "ONCOLOGY" or "FAMILY HISTORY:" at the start of a line is no mention.

A heading that names a problem, such as "Diabetes:", is a mention. So only headings made of words
of a list are left out.
"""

from bisect import bisect_right
from collections.abc import Sequence

from .words import Match, Tokens

_LONGEST = 8  # tokens of a heading before its colon
_ENDS = frozenset(".;!?")


def without_headings(
    tokens: Tokens, matches: Sequence[Match], words: frozenset[str]
) -> list[Match]:
    """Leave out matches that lie in the heading of a section.

    words (FrozenSet[str]): keys of the words that headings are made of.
    """
    if not (matches and words):
        return list(matches)
    lines = [0]
    if "\n" in tokens.text:
        lines += [place for place, text in enumerate(tokens.texts, 1) if "\n" in text]
    ends: dict[int, int] = {}
    kept = []
    for match in matches:
        line = lines[bisect_right(lines, match.start) - 1]
        if match.start - line < _LONGEST:
            if line not in ends:
                ends[line] = _heading_end(tokens, line, words)
            if match.end <= ends[line]:
                continue
        kept.append(match)
    return kept


def _heading_end(tokens: Tokens, line: int, words: frozenset[str]) -> int:
    """Find the end of the heading at the start of a line; the start of the line without any."""
    has_words, is_upper = False, True
    for place in range(line, min(line + _LONGEST + 1, len(tokens))):
        text, own = tokens.texts[place], tokens.keys[place]
        if text == ":":
            return place if has_words else line
        if "\n" in text:
            return place if has_words and is_upper else line
        if has_words and text in _ENDS:
            return line
        if not own or own.isdigit():  # "2. ", "- "
            continue
        if not (tokens.is_stop[place] or all(part in words for part in own.split())):
            return line
        has_words = True
        is_upper &= not any(map(str.islower, text))
    return line
