"""Readings of coordinations: "palmar and plantar pits" says "palmar pits".

`linking.composite` takes a given mention apart; here the mention is still to be found. Elements of
a coordination share an end or a beginning. A reading joins an element to the shared words and
leaves out the words between. The dictionary decides whether a reading is a name.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ...assets.dictionary import is_link
from .words import Tokens

_CONJUNCTIONS = frozenset("and or and/or und oder y e et ou & /".split())
_WORDS = 4  # most words that elements share at their end or beginning
_OWN = 3  # most tokens of an element that are not shared
_LONGEST = 16  # tokens from beginning to end
_BESIDE = 3  # least tokens of a reading outside of the gap between its two elements


class Reading(NamedTuple):
    """One way to read a coordination.

    tokens (Tuple[int, ...]): places of its tokens, in order; the tokens between are left out.
    is_whole (bool): whether no content word follows, so that it does not end within a name.
    """

    tokens: tuple[int, ...]
    is_whole: bool


class _Element(NamedTuple):
    start: int
    end: int
    is_listed: bool  # after a comma or a conjunction, not at the beginning of the clause
    is_last: bool  # after a conjunction


def coordinations(tokens: Tokens) -> Iterator[Reading]:
    """List the readings of the coordinations of a Doc."""
    if _CONJUNCTIONS.isdisjoint(tokens.lower):
        return
    for start, end in _clauses(tokens):
        elements = _elements(tokens.lower[start:end], start)
        for number, last in enumerate(elements):
            if last.is_last:
                for first in _partners(tokens, elements, number, shortest=True):
                    yield from _sharing_the_end(tokens, first, last)
                for first in _partners(tokens, elements, number, shortest=False):
                    yield from _sharing_the_beginning(tokens, first, last)


def _clauses(tokens: Tokens) -> Iterator[tuple[int, int]]:
    """List the clauses with a conjunction."""
    borders = [
        place
        for place, is_end in enumerate(tokens.clause_ends)
        if is_end and tokens.texts[place] != "," and tokens.texts[place] not in _CONJUNCTIONS
    ]
    for before, after in pairwise([-1, *borders, len(tokens)]):
        if not _CONJUNCTIONS.isdisjoint(tokens.lower[before + 1 : after]):
            yield before + 1, after


def _elements(clause: Sequence[str], start: int) -> list[_Element]:
    """Cut a clause, the lower-case texts of tokens from `start` on, at commas and conjunctions."""
    elements, begin, joint = [], start, ""
    for place, word in enumerate([*clause, ","], start):
        if word != "," and word not in _CONJUNCTIONS:
            continue
        if place > begin:
            elements.append(_Element(begin, place, bool(joint), joint in _CONJUNCTIONS))
            joint = ""
        joint = word if word != "," else joint or word
        begin = place + 1
    return elements


def _partners(
    tokens: Tokens, elements: list[_Element], last: int, shortest: bool
) -> Iterator[_Element]:
    """List the elements that may share words with the last; elements between must be short."""
    for number in range(last - 1, -1, -1):
        if elements[last].start - elements[number].end + _BESIDE > _LONGEST:
            return  # every reading would be too long: without this, long lists take quadratic time
        if number < last - 1:
            between = elements[number + 1]
            if between.end - between.start > _OWN:
                return
            if shortest and any(tokens.is_stop[between.start : between.end]):
                return
        yield elements[number]
        if not elements[number].is_listed:
            return


def _sharing_the_end(tokens: Tokens, first: _Element, last: _Element) -> Iterator[Reading]:
    """Share the end of the last element: "palmar and plantar pits"."""
    is_stop, says = tokens.is_stop, tokens.says
    if not says[first.end - 1]:
        return
    for begin in range(first.end - 1, max(first.start, first.end - _WORDS) - 1, -1):
        if is_stop[begin]:
            return
        for start in range(last.start + 1, min(last.end, last.start + _OWN + 1)):
            if is_stop[start - 1]:
                break
            for end in _ends(tokens, start, last.end):
                if says[begin] and says[start] and end - begin <= _LONGEST:
                    places = (*range(begin, first.end), *range(start, end))
                    yield Reading(places, end == len(tokens) or not says[end])


def _sharing_the_beginning(tokens: Tokens, first: _Element, last: _Element) -> Iterator[Reading]:
    """Share the beginning of the first element: "hypoplasia of the thumb and radius"."""
    links = [place for place in range(first.start, first.end) if is_link(tokens.lower[place])]
    while links and links[-1] - 1 in links:
        links.pop()  # "of the": the words before "of" are shared
    if not links:
        return
    link = links[-1]
    for begin in range(link - 1, max(first.start, link - _WORDS) - 1, -1):
        if tokens.is_stop[begin]:
            return
        for end in _ends(tokens, last.start, last.end):
            if tokens.says[begin] and end - begin <= _LONGEST:
                yield Reading((*range(begin, link + 1), *range(last.start, end)), True)


def _ends(tokens: Tokens, start: int, border: int) -> Iterator[int]:
    """List where a run of words from `start` may end, links such as "of" within it."""
    for last in range(start, min(border, start + _WORDS)):
        if tokens.is_stop[last] and not is_link(tokens.lower[last]):
            return
        if tokens.says[last]:
            yield last + 1
