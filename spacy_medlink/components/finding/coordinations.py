"""Readings of coordinations: "palmar and plantar pits" says "palmar pits".

`linking.composite` takes a given mention apart; here the mention is still to be found. Elements of
a coordination share an end or a beginning. A reading joins an element to the shared words and
leaves out the words between. The dictionary decides whether a reading is a name.
"""

from bisect import bisect_right
from collections.abc import Container, Iterator
from typing import NamedTuple

from ...text.any_order import is_link
from ...text.pieces import BRACKETS, Border, Pieces

_CONJUNCTIONS = frozenset("and or und oder y e et ou".split())
_SIGNS = frozenset("&/")  # that stand for a conjunction
_WORDS = 4  # most words that elements share at their end or beginning
_OWN = 3  # most pieces of an element that are not shared
_LONGEST = 16  # pieces from beginning to end
_BESIDE = 3  # least pieces of a reading outside of the gap between its two elements


class Coordination(NamedTuple):
    """One way to read a coordination.

    pieces (Tuple[int, ...]): places of its pieces, in order; the pieces between are left out.
    is_whole (bool): whether no content word follows, so that it does not end within a name.
    """

    pieces: tuple[int, ...]
    is_whole: bool


class _Element(NamedTuple):
    start: int
    end: int
    is_listed: bool  # after a comma or a conjunction, not at the beginning of the clause
    is_last: bool  # after a conjunction


def coordinations(pieces: Pieces) -> Iterator[Coordination]:
    """List the readings of the coordinations of a text."""
    joints = [
        index
        for index, (word, gap) in enumerate(zip(pieces.lower, pieces.gaps, strict=False))
        if word in _CONJUNCTIONS or (gap != " " and not _SIGNS.isdisjoint(gap))
    ]
    if not joints:
        return
    borders, end = _clause_borders(pieces), 0
    for joint in joints:
        if joint < end:
            continue  # in the clause of a joint before
        behind = bisect_right(borders, joint)
        start, end = borders[behind - 1], borders[behind]
        elements = _elements(pieces, set(joints), start, end)
        for row, last in enumerate(elements):
            if last.is_last:
                for first in _partners(pieces, elements, row, shortest=True):
                    yield from _sharing_the_end(pieces, first, last)
                for first in _partners(pieces, elements, row, shortest=False):
                    yield from _sharing_the_beginning(pieces, first, last)


def _clause_borders(pieces: Pieces) -> list[int]:
    """List the places where a clause ends before a piece, and another begins."""
    inside = [
        index
        for index, gap in enumerate(pieces.gaps[1:-1], 1)
        if gap != " "
        and (
            (pieces.borders[index] > Border.COMMA and gap.strip() not in _SIGNS)
            or not BRACKETS.isdisjoint(gap)
        )
    ]
    return [0, *inside, len(pieces.keys)]


def _elements(pieces: Pieces, joints: Container[int], start: int, end: int) -> list[_Element]:
    """Cut a clause at commas and conjunctions."""
    elements, begin, is_listed, is_last = list[_Element](), start, False, False
    for index in range(start, end + 1):
        is_word = index < end and pieces.lower[index] in _CONJUNCTIONS
        is_sign = start < index < end and index in joints and not is_word
        is_comma = start < index < end and pieces.borders[index] == Border.COMMA
        if not (is_word or is_sign or is_comma or index == end):
            continue
        if index > begin:
            elements.append(_Element(begin, index, is_listed, is_last))
            is_listed = is_last = False
        is_listed, is_last = True, is_last or is_word or is_sign
        begin = index + 1 if is_word else index
    return elements


def _partners(
    pieces: Pieces, elements: list[_Element], last: int, shortest: bool
) -> list[_Element]:
    """List the elements that may share words with the last; elements between must be short."""
    partners = list[_Element]()
    for row in range(last - 1, -1, -1):
        if elements[last].start - elements[row].end + _BESIDE > _LONGEST:
            break  # every reading would be too long: without this, long lists take quadratic time
        if row < last - 1:
            between = elements[row + 1]
            if between.end - between.start > _OWN:
                break
            if shortest and any(pieces.is_stop[between.start : between.end]):
                break
        partners.append(elements[row])
        if not elements[row].is_listed:
            break
    return partners


def _sharing_the_end(pieces: Pieces, first: _Element, last: _Element) -> Iterator[Coordination]:
    """Share the end of the last element: "palmar and plantar pits"."""
    is_stop, says = pieces.is_stop, pieces.says
    if not says[first.end - 1]:
        return
    for begin in range(first.end - 1, max(first.start, first.end - _WORDS) - 1, -1):
        if is_stop[begin]:
            return
        for start in range(last.start + 1, min(last.end, last.start + _OWN + 1)):
            if is_stop[start - 1]:
                break
            for end in _ends(pieces, start, last.end):
                if says[begin] and says[start] and end - begin <= _LONGEST:
                    places = (*range(begin, first.end), *range(start, end))
                    is_whole = pieces.borders[end] >= Border.COMMA or not says[end]
                    yield Coordination(places, is_whole)


def _sharing_the_beginning(
    pieces: Pieces, first: _Element, last: _Element
) -> Iterator[Coordination]:
    """Share the beginning of the first element: "hypoplasia of the thumb and radius"."""
    links = [index for index in range(first.start, first.end) if is_link(pieces.lower[index])]
    while links and links[-1] - 1 in links:
        links.pop()  # "of the": the words before "of" are shared
    if not links:
        return
    link = links[-1]
    for begin in range(link - 1, max(first.start, link - _WORDS) - 1, -1):
        if pieces.is_stop[begin]:
            return
        for end in _ends(pieces, last.start, last.end):
            if pieces.says[begin] and end - begin <= _LONGEST:
                yield Coordination((*range(begin, link + 1), *range(last.start, end)), True)


def _ends(pieces: Pieces, start: int, border: int) -> Iterator[int]:
    """List where a run of words from `start` may end, links such as "of" within it."""
    for last in range(start, min(border, start + _WORDS)):
        if pieces.is_stop[last] and not is_link(pieces.lower[last]):
            return
        if pieces.says[last]:
            yield last + 1
