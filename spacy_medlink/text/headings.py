"""Headings of sections: what begins a line and ends with a colon, or a line in capitals."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_HEADING = re.compile(
    r"(?:^|(?<=[.;]\s))[ \t]*([^\W\d_][\w /&'()-]{0,48})[ \t]*:"
    r"|^[ \t]*([A-Z][A-Z /&'-]{3,48})[ \t]*$",
    re.MULTILINE,
)


class Heading(NamedTuple):
    """A heading: where it begins and ends (characters, with its colon), and its words."""

    start: int
    end: int
    title: str


def find_headings(text: str) -> Iterator[Heading]:
    """Find what may be the heading of a section, from left to right."""
    for one in _HEADING.finditer(text):
        yield Heading(one.start(), one.end(), one[1] or one[2])
