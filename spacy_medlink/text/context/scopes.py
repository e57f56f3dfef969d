"""The context of mentions by ConText: a cue reaches over its sentence until an end phrase.

Harkema et al. 2009, "ConText: an algorithm for determining negation, experiencer, and temporal
status from clinical reports". Sections are an addition of this package.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from ..headings import Heading, find_headings
from .cues import END, KINDS, Cue, Cues, Section, find_words, plain

# Sentences end at a full stop before a word in capitals or a number, semicolons, empty lines, and
# lines that begin a list, a heading or, after a line that is not full, a sentence.
_BORDER = re.compile(
    r"(?:[.!]|(?<=\w)\?)(?=\s+[^\sa-zß-öø-ÿ])|;|\n\s*\n|\n(?=\s*(?:[-*•+>]|\d+[.)]))"
    r"|(?<![^\n]{60})\n(?=\s*[^\sa-zß-öø-ÿ])|(?<=[.:])\s*\n"
)
# A full stop after these, or after a single letter, ends no sentence.
_SHORTENED = re.compile(
    r"\b(?:[^\W\d_]|dr|mr|mrs|ms|vs|st|hr|fr|sr|sra|prof|pat|ca|bzw|ggf|resp|approx|no|nr)$", re.I
)
_COMMAS = frozenset(",()")
_TEXT = re.compile(r"\S")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


class Said(NamedTuple):
    """The context of a mention.

    kinds (FrozenSet[str]): some of KINDS. section (str): the name of its section, "" for none.
    """

    kinds: frozenset[str] = frozenset()
    section: str = ""


class Part(NamedTuple):
    """A section of a document: its first and last character, and its kind."""

    start: int
    end: int
    section: Section


_Found = tuple[int, int, Cue]  # the first word of a cue, the word after the cue, and the cue


def find_sections(text: str, cues: Cues) -> list[Part]:
    """Find the sections of a document whose headings the cues know, in order.

    A section ends where the next one begins. A section ends after its first paragraph if its kinds
    apply to all its mentions, or if its heading shares a line with text: later mentions may not
    belong to it.
    """
    known: list[tuple[Heading, Section]] = []
    for heading in find_headings(text, titles=True):
        words = " ".join(plain(word[0]) for word in find_words(heading.title))
        if section := cues.sections.get(words):
            known.append((heading, section))
    parts = []
    for number, (heading, section) in enumerate(known):
        end = known[number + 1][0].start if number + 1 < len(known) else len(text)
        line = text[heading.end : end].partition("\n")[0]
        if line.strip() or section.said:
            first = _TEXT.search(text, heading.end, end)
            paragraph = _PARAGRAPH.search(text, first.start(), end) if first else None
            end = paragraph.start() if paragraph else end
        parts.append(Part(heading.start, end, section))
    return parts


def said_of(
    text: str, mentions: Sequence[tuple[int, int]], cues: Cues, parts: Sequence[Part] = ()
) -> list[Said]:
    """Find the context of each mention of a document.

    mentions (Sequence[Tuple[int, int]]): first and last character + 1 of each mention.
    parts (Sequence[Part]): the result of `find_sections`.
    RETURNS (List[Said]): in the order of the mentions.
    """
    borders = sentence_starts(text) if mentions else []
    sentences: dict[int, list[int]] = {}
    for number, (start, _) in enumerate(mentions):
        sentences.setdefault(bisect_right(borders, start), []).append(number)
    starts = [part.start for part in parts]
    said = [Said()] * len(mentions)
    for place, numbers in sentences.items():
        begin = borders[place - 1] if place else 0
        stop = borders[place] if place < len(borders) else len(text)
        sentence = _Sentence(text, begin, stop, [mentions[one] for one in numbers], cues)
        for number in numbers:
            start, end = mentions[number]
            part = parts[bisect_right(starts, start) - 1] if parts else None
            if part is None or not part.start <= start < part.end:
                said[number] = Said(sentence.said_of(start, end))
            else:
                section = part.section
                implied = sentence.implied(section.said, start)
                said[number] = Said(sentence.said_of(start, end) | implied, section.name)
    return said


class _Sentence:
    """The words of a sentence, the cues among them, and the reach of the cues."""

    def __init__(
        self, text: str, begin: int, stop: int, mentions: Sequence[tuple[int, int]], cues: Cues
    ) -> None:
        matches = list(find_words(text, begin, stop))
        self._starts = [word.start() for word in matches]
        taken = {place for one in mentions for place in range(*self._words(*one))}
        words = ["" if place in taken else plain(one[0]) for place, one in enumerate(matches)]
        self._found = _find_cues([*words, "."], cues)
        commas = [place for place, word in enumerate(words) if word in _COMMAS]
        self._reaches = {
            kind: reach
            for kind in KINDS
            if (reach := _reaches(kind, self._found, len(words), commas))
        }

    def said_of(self, start: int, end: int) -> frozenset[str]:
        """Return the kinds of the cues that reach a mention."""
        first, last = self._words(start, end)
        kinds = []
        for kind, (begins, furthest) in self._reaches.items():
            place = bisect_right(begins, first) - 1
            if place >= 0 and furthest[place] >= last:
                kinds.append(kind)
        return frozenset(kinds)

    def implied(self, kinds: frozenset[str], start: int) -> frozenset[str]:
        """Return the section's kinds without those that an end phrase before the mention stops."""
        first, _ = self._words(start, start + 1)
        ended = {kind for _, end, cue in self._found if end <= first for kind in cue.ends}
        return kinds - ended

    def _words(self, start: int, end: int) -> tuple[int, int]:
        """Find the first word of a mention and the word after it."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        return first, max(bisect_left(self._starts, end), first + 1)


def sentence_starts(text: str) -> list[int]:
    """Find the starts of all sentences but the first."""
    borders = []
    for one in _BORDER.finditer(text):
        if one[0] == "." and _SHORTENED.search(text, max(0, one.start() - 8), one.start()):
            continue
        borders.append(one.end())
    return borders


def _find_cues(words: list[str], cues: Cues) -> list[_Found]:
    """Find cues from left to right, the longest at each place; cues do not overlap."""
    found: list[_Found] = []
    place = 0
    while place < len(words):
        length = 0
        for phrase in cues.phrases.get(words[place], ()):
            if len(phrase.places) < length:
                break
            if phrase.is_at(words, place):
                length = len(phrase.places)
                found.append((place, place + length, phrase.cue))
        place += max(length, 1)
    return found


def _reaches(
    kind: str, found: Sequence[_Found], count: int, commas: Sequence[int]
) -> tuple[list[int], list[int]] | None:
    """Tell which words the cues of a kind reach.

    commas (Sequence[int]): places of commas, where cues with a limit end.
    RETURNS (Optional[Tuple[List[int], List[int]]]): the starts of the reaches, in order, and for
        each the farthest end of the reaches up to it; None without any.
    """
    cues = [one for one in found if one[2].kind == kind]
    if not cues:
        return None
    ends = [one for one in found if one[2].kind == END and kind in one[2].ends]
    starts_of_ends, ends_of_ends = [one[0] for one in ends], [one[1] for one in ends]
    reaches = []
    for start, stop, cue in cues:
        if cue.forward:
            limits = [_next(starts_of_ends, stop, count)]
            if cue.reach:
                limits += [_next(commas, stop, count), stop + cue.reach]
            reaches.append((stop, min(limits)))
        if cue.backward:
            limits = [_last(ends_of_ends, start)]
            if cue.reach:
                limits += [_last(commas, start - 1), start - cue.reach]
            reaches.append((max(limits), start))
    reaches.sort()
    return [one[0] for one in reaches], list(accumulate((one[1] for one in reaches), max))


def _next(places: Sequence[int], start: int, count: int) -> int:
    """Find the first of some places at or after a word, else the end of the sentence."""
    number = bisect_left(places, start)
    return places[number] if number < len(places) else count


def _last(places: Sequence[int], start: int) -> int:
    """Find the last of some places up to a word, else the beginning of the sentence."""
    number = bisect_right(places, start) - 1
    return places[number] if number >= 0 else 0
