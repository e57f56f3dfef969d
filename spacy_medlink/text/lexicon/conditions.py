"""Conditions: evidence in the text around a short form for one of its meanings.

Example of such a field: `near: mitral, valv*; before: on; section: medications; mixed`.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from ..headings import find_headings

_WINDOW = 64  # characters on each side of a short form
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,]\d+)?|[%+]")
# The borders of the text beside a short form: sentences, paragraphs, items of a list, headings.
_BORDER = re.compile(r"[.!?]\s+(?=[A-Z])|\n\s*\n|\n(?=[ \t]*(?:[-*•]|\d+[.)]|[A-Z][\w /&]{0,40}:))")
_LABEL, _MIXED, _HEADED = "label", "mixed", "heading"
# The weight of each word or phrase, by its kind.
_WEIGHTS: Mapping[str, int] = {"near": 1, "before": 2, "after": 2, "section": 1, _LABEL: 2}
_FLAGS = (_MIXED, _HEADED)
KINDS = (*_WEIGHTS, *_FLAGS)


class Surroundings:
    """The document around short forms, or the known part of it.

    text (str): the document; "" where a mention has none.
    """

    def __init__(self, text: str = "") -> None:
        self.text = text
        self._spelled: dict[str, bool] = {}

    def at(self, start: int, end: int, label: str = "") -> "Place":
        """Return the place of a short form, by its characters and its entity label."""
        return Place(self, start, end, label)

    def spells_out(self, phrase: str) -> bool:
        """Tell whether the document has a phrase somewhere, in upper or lower case."""
        if phrase not in self._spelled:
            self._spelled[phrase] = phrase.lower() in self._lowered
        return self._spelled[phrase]

    def heading(self, position: int) -> str:
        """Get the words of the last heading before a position: " discharge medications "."""
        index = bisect_left(self._headings, (position, "")) - 1
        return self._headings[index][1] if index >= 0 else ""

    @cached_property
    def _lowered(self) -> str:
        return self.text.lower()

    @cached_property
    def _headings(self) -> list[tuple[int, str]]:
        return [(heading.end, _words(heading.title)) for heading in find_headings(self.text)]


class Place:
    """The place of a short form: the words on each side, up to the border of its sentence.

    Words are those of `_words`: lower case, " " at both ends, numbers as "#".
    """

    def __init__(self, around: Surroundings, start: int, end: int, label: str) -> None:
        self._around, self._start, self._end, self.label = around, start, end, label

    @cached_property
    def left(self) -> str:
        """The words before."""
        return _words(self._left)

    @cached_property
    def right(self) -> str:
        """The words after."""
        return _words(self._right)

    @cached_property
    def section(self) -> str:
        """The words of the heading above."""
        return self._around.heading(self._start)

    def spells_out(self, phrases: Iterable[str]) -> bool:
        """Tell whether the document has one of some phrases."""
        return any(map(self._around.spells_out, phrases))

    @property
    def is_heading(self) -> bool:
        """Whether the short form begins a line and a colon follows."""
        text, begin = self._around.text, max(0, self._start - _WINDOW)
        *above, line = text[begin : self._start].split("\n")
        at_start = not line.strip() and (begin == 0 or bool(above))
        return at_start and text[self._end : self._end + 2].lstrip().startswith(":")

    @property
    def is_mixed(self) -> bool:
        """Whether lower-case letters stand beside the short form, or no letters at all."""
        beside = self._left + self._right
        return beside.upper() == beside.lower() or any(map(str.islower, beside))

    @cached_property
    def _left(self) -> str:
        begin = max(0, self._start - _WINDOW)
        before = self._around.text[begin : self._start]
        if begin and not self._around.text[begin - 1].isspace():
            before = before.partition(" ")[2]  # the first word may be cut in two
        borders = [border.end() for border in _BORDER.finditer(before)]
        return before[borders[-1] :] if borders else before

    @cached_property
    def _right(self) -> str:
        # The sign before a border may be the short form's own: "A. fib. Then ..."
        behind = self._around.text[self._end : self._end + _WINDOW]
        border = _BORDER.search(behind)
        return behind[: border.start()] if border else behind


class Conditions(NamedTuple):
    """The conditions of one meaning; one is enough, and each further one adds evidence.

    parts (Tuple[Tuple[str, Tuple[str, ...]], ...]): kind and phrases, none for `mixed` and
        `heading`. patterns (Tuple[Tuple[str, ...], ...]): the patterns of each part's phrases.
    """

    parts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    patterns: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Conditions":
        """Read a field of a lexicon.

        RAISES (ValueError): for an unknown kind, or a kind without its phrases.
        """
        parts = tuple(_part(part) for part in text.split(";") if part.strip())
        return cls(parts, tuple(tuple(map(_pattern, phrases)) for _, phrases in parts))

    def dump(self) -> str:
        """Write them as `parse` reads them."""
        return "; ".join(
            f"{condition}: {', '.join(phrases)}" if phrases else condition
            for condition, phrases in self.parts
        )

    def weigh(self, around: Place) -> int:
        """Return the weight of the evidence at a place; 0 where no condition is met."""
        weight = 0
        for (condition, phrases), patterns in zip(self.parts, self.patterns, strict=True):
            weight += _weight(condition, phrases, patterns, around)
        return weight


def _part(text: str) -> tuple[str, tuple[str, ...]]:
    condition, _, rest = (phrase.strip() for phrase in text.partition(":"))
    phrases = tuple(phrase.strip() for phrase in rest.split(",") if phrase.strip())
    is_known = condition in KINDS and (condition in _FLAGS) != bool(phrases)
    if not is_known or (condition == "before" and "*" in rest):
        raise ValueError(f"{text.strip()!r} is no condition")
    return condition, phrases


def _weight(
    condition: str, phrases: tuple[str, ...], patterns: tuple[str, ...], around: Place
) -> int:
    if condition == _MIXED:
        return int(around.is_mixed)
    if condition == _HEADED:
        return int(around.is_heading) * 3  # against a word or two below the heading
    if condition == _LABEL:
        return _WEIGHTS[condition] * (around.label.lower() in map(str.lower, phrases))
    met = 0
    for pattern in patterns:
        if condition == "near":
            met += pattern in around.left or pattern in around.right
        elif condition == "before":
            met += around.left.endswith(pattern)
        elif condition == "after":
            met += around.right.startswith(pattern)
        else:
            met += pattern in around.section
    return _WEIGHTS[condition] * met


def _pattern(phrase: str) -> str:
    """Make the pattern of a phrase: whole words, or with a final "*" words with this beginning."""
    words = _words(phrase.rstrip("*").replace("#", " 0 "))
    return words[:-1] if phrase.endswith("*") else words


def _words(text: str) -> str:
    words = ("#" if word[0].isdigit() else word.lower() for word in _WORD.findall(text))
    return f" {' '.join(words)} "
