"""Assigns the identifiers of a document to its mentions.

An identifier stands after its mention, or begins a line or an item of a list before it. In "Fabry
disease (FD; OMIM 301500)" it belongs to both mentions, in "recessive dysplasia (EDM4, OMIM 226900)"
only to EDM4, and in "Fabry disease (FD) is an X-linked disorder (OMIM 301500)" also to the subject.
The linker decides by the candidates whether an identifier fits its mention.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

from .found import Identifier

_OPENS, _CLOSES = "([{", ")]}"
_REACH = 200  # characters from an identifier back to the bracket around it, or to a subject
_BEHIND = 9  # characters from an identifier on to the mention that it stands before
_SIGNS = ":=|\u2013\u2014-"
# From a mention to an identifier behind it, also out of its own brackets: "... (A-T) (MIM 208900)".
_AFTER = re.compile(rf"[)\]]?[ \t,{_SIGNS}]{{0,5}}")
# The same within brackets, where commas separate several statements.
_RIGHT_AFTER = re.compile(r"[ \t:=]{0,3}")
_TO_NEXT = re.compile(rf"[)\]]?[ \t{_SIGNS}]{{0,5}}")  # from an identifier to a mention behind it
_IN_LIST = re.compile(r"[ \t,;|/]{0,5}")  # from a mention to the next item
_BLANK = re.compile(r"\s*")
_ITEM = re.compile(r"[ \t]*(?:(?:\d{1,3}[.)]+|[-*\u2022\u2013])[ \t]+)?")
_HEADING = re.compile(r"[ \t]*(?:[^\W\d_][\w /-]{0,30}:[ \t]*)")
_COPULA = re.compile(
    r"[)\]]?\s*(?:is|are|was|were)\s(?:also\s)?(?:an?|the)\s"
    r"(?:(?!(?:of|for|in|to|with|by|from|on|after)\s)[\w-]+\s){0,4}"
)


class _Spot(NamedTuple):
    """A mention: first character, last character + 1, number among those given, meaning."""

    start: int
    end: int
    number: int
    meaning: str


_Spots = frozenset[_Spot]
_NONE: _Spots = frozenset()


def identifiers_of(
    text: str,
    identifiers: Sequence[Identifier],
    places: Sequence[tuple[int, int]],
    meanings: Sequence[str],
) -> list[tuple[str, ...]]:
    """List the identifiers that a document writes for each of its mentions.

    The identifiers of a mention also hold for mentions of the same meaning, unless these have their
    own. Two identifiers of one vocabulary are ambiguous, so neither counts.

    identifiers (Sequence[Identifier]): the identifiers of the text.
    places (Sequence[Tuple[int, int]]): first character and last character + 1 of each mention.
    meanings (Sequence[str]): the key of each mention, with abbreviations written out.
    RETURNS (List[Tuple[str, ...]]): such as ("OMIM:301500",), () for most.
    """
    mentions = [(*span, meaning) for span, meaning in zip(places, meanings, strict=True)]
    # Groups of spans may have the same mention many times, and each is compared with those near it.
    distinct = list(dict.fromkeys(mentions))
    written = dict(zip(distinct, _identifiers_of(text, identifiers, distinct), strict=True))
    return [written[mention] for mention in mentions]


def _identifiers_of(
    text: str, identifiers: Sequence[Identifier], mentions: Sequence[tuple[int, int, str]]
) -> list[tuple[str, ...]]:
    """List the identifiers of mentions that are all different: (start, end, meaning)."""
    spots = sorted(
        _Spot(start, end, index, meaning) for index, (start, end, meaning) in enumerate(mentions)
    )
    starts = [spot.start for spot in spots]
    written: list[dict[Identifier, None]] = [{} for _ in mentions]
    named: set[_Spot] = set()  # mentions whose identifier stands before them
    last = 0
    for identifier in identifiers:
        begin = bisect_left(starts, identifier.start - 2 * _REACH)
        near = spots[begin : bisect_left(starts, identifier.end + _BEHIND)]
        behind = _mention_behind(text, identifier, near, named)
        named |= behind
        for spot in behind or _meant(text, identifier, last, near, named):
            written[spot.number][identifier] = None
        last = identifier.end
    meanings = [meaning for _, _, meaning in mentions]
    return _shared([_written(its) for its in written], list(map(bool, written)), meanings)


def _written(identifiers: Iterable[Identifier]) -> tuple[str, ...]:
    codes = list(
        dict.fromkeys((identifier.vocabulary, identifier.code) for identifier in identifiers)
    )
    count = Counter(vocabulary for vocabulary, _ in codes)
    return tuple(f"{name}:{code}" for name, code in codes if count[name] == 1)


def _shared(
    written: Sequence[tuple[str, ...]], has_own: Sequence[bool], meanings: Sequence[str]
) -> list[tuple[str, ...]]:
    """Copy the identifiers of a mention to all mentions of the same meaning, if unambiguous.

    has_own (Sequence[bool]): whether a mention has identifiers of its own, even ambiguous ones.
    """
    by_meaning: dict[str, set[tuple[str, ...]]] = {}
    for meaning, its in zip(meanings, written, strict=True):
        if its and meaning:
            by_meaning.setdefault(meaning, set()).add(its)
    shared = {meaning: next(iter(its)) for meaning, its in by_meaning.items() if len(its) == 1}
    return [
        its if has_written else shared.get(meaning, ())
        for its, has_written, meaning in zip(written, has_own, meanings, strict=True)
    ]


def _mention_behind(
    text: str, identifier: Identifier, near: Sequence[_Spot], named: Set[_Spot]
) -> _Spots:
    """Find the mention after an identifier at the beginning of a line or an item."""
    next_ones = frozenset(
        spot
        for spot in near
        if spot.start >= identifier.end and _fits(_TO_NEXT, text, identifier.end, spot.start)
    )
    if not next_ones:
        return _NONE
    start = identifier.start
    if start and text[start - 1] in _OPENS:
        if not text.startswith(tuple(_CLOSES), identifier.end):
            return next_ones  # the first thing in brackets
        start -= 1
    if _ends_before(text, start, near, _IN_LIST) & named or _begins(_ITEM, text, start):
        return next_ones
    of_before = _ends_before(text, start, near, _AFTER)
    return next_ones if not of_before and _begins(_HEADING, text, start) else _NONE


def _meant(
    text: str, identifier: Identifier, last: int, near: Sequence[_Spot], named: Set[_Spot]
) -> _Spots:
    """List the mentions before an identifier that it belongs to.

    last (int): end of the previous identifier. named: mentions that already have an identifier.
    """
    if around := frozenset(
        spot for spot in near if spot.start <= identifier.start and identifier.end <= spot.end
    ):
        return around
    opened = _opened(text, identifier.start)
    if opened < 0:
        of_before = _ends_before(text, identifier.start, near, _AFTER) - named
        return _with_heads(text, of_before, near) | _subject(
            text, identifier.start, of_before, near
        )
    within = [spot for spot in near if opened < spot.start and spot.end <= identifier.start]
    if right_before := _ends_before(text, identifier.start, within, _RIGHT_AFTER) - named:
        return _with_heads(text, right_before, near)
    if within:
        items = frozenset(spot for spot in within if spot.start >= last) - named
        return _with_heads(text, items, near)
    of_before = _ends_before(text, opened, near, _BLANK) | _ends_before(text, opened, near, _AFTER)
    of_before -= named
    return _with_heads(text, of_before, near) | _subject(text, opened, of_before, near)


def _fits(pattern: re.Pattern[str], text: str, start: int, end: int) -> bool:
    return pattern.fullmatch(text, start, end) is not None


def _begins(pattern: re.Pattern[str], text: str, end: int) -> bool:
    """Tell whether the text between the start of a line and a place matches a pattern.

    Only _REACH characters are read, because a document may be one long line.
    """
    nearest = max(0, end - _REACH)
    begin = text.rfind("\n", nearest, end) + 1
    return (begin > 0 or nearest == 0) and _fits(pattern, text, begin, end)


def _ends_before(text: str, end: int, spots: Iterable[_Spot], gap: re.Pattern[str]) -> _Spots:
    """Find the mentions that only a gap separates from a place."""
    return frozenset(spot for spot in spots if spot.end <= end and _fits(gap, text, spot.end, end))


def _opened(text: str, end: int) -> int:
    """Find the bracket that is open at a place, -1 if none is."""
    for at in range(end - 1, max(-1, end - _REACH), -1):
        if text[at] in _CLOSES:
            return -1
        if text[at] in _OPENS:
            return at
    return -1


def _with_heads(text: str, spots: _Spots, near: Sequence[_Spot]) -> _Spots:
    """Add the mentions of the same meaning before the brackets around mentions.

    Before an abbreviation, further words may precede: "hereditary Fabry disease (FD)".
    """
    heads: _Spots = _NONE
    for spot in spots:
        opened = _opened(text, spot.start)
        if opened >= 0 and spot.meaning:
            before = _ends_before(text, opened, near, _BLANK)
            ending = f" {spot.meaning}" if _is_abbreviation(spot) else None
            heads |= frozenset(
                head
                for head in before
                if head.meaning == spot.meaning or (ending and head.meaning.endswith(ending))
            )
    return spots | heads


def _is_abbreviation(spot: _Spot) -> bool:
    return len(spot.meaning) > spot.end - spot.start


def _subject(text: str, end: int, right_before: _Spots, near: Sequence[_Spot]) -> _Spots:
    """Find the subject that a sentence defines: "Fabry disease is a rare disorder (OMIM ...)".

    right_before: the mentions right before the identifier; () if only words stand there.
    """
    begin = min((spot.start for spot in right_before), default=end)
    earlier = [spot for spot in near if begin - _REACH <= spot.end <= begin]
    if not earlier:
        return _NONE
    last = max(earlier, key=lambda spot: (spot.end, -spot.start))
    if not _fits(_COPULA, text, last.end, begin):
        return _NONE
    return _with_heads(text, frozenset([last]), near)
