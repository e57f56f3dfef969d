"""Choosing among matches: without those inside others, and one entity for each word."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from .words import Match

IsKind = Callable[[Sequence[int], Sequence[int]], bool]


def without_nested(matches: Sequence[Match], is_kind: IsKind | None = None) -> list[Match]:
    """Leave out matches that say only a part of what another match says.

    "plantar pits" stays within "palmar and plantar pits", which says "palmar pits". A name also
    stays within a less certain match (a reading or a proposal).

    is_kind (Optional[IsKind]): tells whether some names are of kinds of the concepts of others. If
        given, a name stays where it ends a longer name of its kind.
    """

    def takes_in(other: Match, match: Match) -> bool:
        if not match.words < other.words or not (other.is_name or not match.is_name):
            return False
        ends = is_kind is not None and match.is_name and match.end == other.end
        return not (ends and is_kind is not None and is_kind(other.rows, match.rows))

    near = by_word(matches)
    return [
        match
        for match in matches
        if not any(takes_in(other, match) for word in match.words for other in near[word])
    ]


def by_word(matches: Iterable[Match]) -> dict[int, list[Match]]:
    """List for each word the matches that contain it."""
    found: dict[int, list[Match]] = defaultdict(list)
    for match in matches:
        for word in match.words:
            found[word].append(match)
    return found


def apart(matches: Iterable[Match], taken: Iterable[int] = ()) -> list[Match]:
    """Choose matches that share no token: the longest first, then the first.

    Readings of coordinations come last, since they overlap with the names that share their words.
    taken (Iterable[int]): tokens that may not be used.
    """
    used = set(taken)
    chosen = []
    for match in sorted(matches, key=_rank):
        own = range(match.start, match.end)
        if used.isdisjoint(own):
            used.update(own)
            chosen.append(match)
    return sorted(chosen, key=lambda one: one.start)


def _rank(match: Match) -> tuple[bool, int, int]:
    is_coordinated = bool(match.reading) and not match.is_name
    return is_coordinated, match.start - match.end, match.start
