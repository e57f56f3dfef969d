"""Headings of sections: text from the start of a line to a colon, or alone on a line."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_BEFORE_COLON = r"(?:^|(?<=[.;]\s))[ \t\x1f]*([^\W\d_][\w /&'()-]{0,48})[ \t\x1f]*:"
_CAPITALS = r"^[ \t\x1f]*([A-Z][A-Z /&'-]{3,48})[ \t\x1f]*$"
_TITLE = r"^[ \t\x1f]*([A-ZÀ-ÞŒ][\w'-]*(?: (?:[A-ZÀ-ÞŒ][\w'-]*|[a-zß-ÿ]{1,3})){1,5})[ \t\x1f]*$"
_MARKED = r"^[ \t\x1f]*(?:#{1,6}[ \t\x1f]+(?P<marked>[^\s#:][^\n#:]{0,60})[ \t\x1f#:]*$)"
_HEADING = re.compile(f"{_BEFORE_COLON}|{_CAPITALS}", re.MULTILINE)
_ANY_HEADING = re.compile(f"{_MARKED}|{_BEFORE_COLON}|{_CAPITALS}|{_TITLE}", re.MULTILINE)


class Heading(NamedTuple):
    """A heading: where it begins and ends (characters, with its colon), and its words.

    is_marked (bool): whether it is written as one, "## Plan", and not only read as one.
    """

    start: int
    end: int
    title: str
    is_marked: bool = False


def find_headings(text: str, titles: bool = False) -> Iterator[Heading]:
    """Find possible headings of sections, from left to right.

    titles (bool): lines like "Past Medical History" are headings, too, whatever they say.
    """
    for heading in (_ANY_HEADING if titles else _HEADING).finditer(text):
        group = heading.lastindex or 0
        is_marked = heading.lastgroup == "marked"
        yield Heading(heading.start(group), heading.end(), heading[group], is_marked)
