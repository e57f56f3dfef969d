"""Matches: mentions that were found, and which of those that share words stay."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

_Worth = tuple[int, int, int]  # words, mentions (negative, since few are better), length
AreRelated = Callable[[Sequence[int], Sequence[int]], bool]


class Match(NamedTuple):
    """A mention that was found.

    start, end (int): its pieces, as in `pieces.between(start, end)`.
    words (FrozenSet[int]): the pieces that carry its meaning; not all, if others lie between.
    rows (Tuple[int, ...]): rows of the names that it may be.
    reading (str): its meaning, where the text differs: "palmar pits" for "palmar and plantar pits",
        "preauricular pit" for "pre-auricular pit", "kidney cyst" for "renal cysts"; else "".
    is_name (bool): whether the text itself is a name, no reading.
    is_joined (bool): whether signs lie within that may also part two mentions: another mention of
        the same words is preferred.
    is_short (bool): whether the text is a short form, by the document or a lexicon.
    """

    start: int
    end: int
    words: frozenset[int]
    rows: tuple[int, ...]
    reading: str = ""
    is_name: bool = True
    is_joined: bool = False
    is_short: bool = False


def settled(matches: Sequence[Match]) -> list[Match]:
    """Leave out matches over a sign where others read the same words without it.

    In "breast cancer/lung cancer" no "cancer/lung" is meant. A joined match stays where it says
    more than the others: a word of it lies in none, and none goes on beyond it.
    """
    if not [match for match in matches if match.is_joined]:
        return list(matches)
    near = by_word(match for match in matches if not match.is_joined)
    return [match for match in matches if not match.is_joined or _says_more(match, near)]


def _says_more(match: Match, near: dict[int, list[Match]]) -> bool:
    others = {other for word in match.words for other in near.get(word, ())}
    covered = {word for other in others for word in other.words}
    return covered <= match.words and covered != match.words


def without_nested(matches: Sequence[Match], are_related: AreRelated | None = None) -> list[Match]:
    """Leave out matches that say only a part of what another match says.

    "plantar pits" stays within "palmar and plantar pits", which says "palmar pits". A name also
    stays within a less certain match (a reading).

    are_related (Optional[AreRelated]): tells whether concepts of two lists of names belong
        together. If given, a name stays within the longer name of a related concept: "carcinoma"
        in "basal cell carcinoma", but not "fever" in "hay fever".
    """

    def takes_in(other: Match, match: Match) -> bool:
        if not match.words < other.words or not (other.is_name or not match.is_name):
            return False
        return are_related is None or not (match.is_name and are_related(other.rows, match.rows))

    near = by_word(matches)
    return [
        match
        for match in matches
        if not any(takes_in(other, match) for word in match.words for other in near[word])
    ]


def by_word(matches: Iterable[Match]) -> dict[int, list[Match]]:
    """List for each word the matches that contain it."""
    matches_of: dict[int, list[Match]] = defaultdict(list)
    for match in matches:
        for word in match.words:
            matches_of[word].append(match)
    return matches_of


def apart(matches: Iterable[Match], taken: Iterable[int] = ()) -> list[Match]:
    """Choose matches that share no piece: those that say most words together, in few mentions.

    Readings of coordinations come last, since they overlap with the names that share their words.

    taken (Iterable[int]): pieces that may not be used.
    """
    used, names, coordinated = set(taken), list[Match](), list[Match]()
    for match in matches:
        (coordinated if match.reading and not match.is_name else names).append(match)
    chosen = list[Match]()
    for group in (names, coordinated):
        free = [match for match in group if used.isdisjoint(range(match.start, match.end))]
        for match in _best_apart(free) if free else ():
            chosen.append(match)
            used.update(range(match.start, match.end))
    return sorted(chosen, key=attrgetter("start"))


def _best_apart(matches: Iterable[Match]) -> list[Match]:
    """Choose the matches with the most words together (weighted interval scheduling).

    Of equal choices the one with fewer mentions is taken, then the longer one.
    """
    ordered = sorted(matches, key=attrgetter("end", "start"))
    ends = [match.end for match in ordered]
    # Up to each match: how good a choice is, its last match, and where to go on from there.
    best: list[tuple[_Worth, Match | None, int]] = [((0, 0, 0), None, 0)]
    for row, match in enumerate(ordered):
        before = bisect_right(ends, match.start, 0, row)
        words, mentions, length = best[before][0]
        # "All of us" is made of stop words alone, and counts as a word.
        words_said = max(len(match.words), 1)
        worth = (words + words_said, mentions - 1, length + match.end - match.start)
        is_better = worth > best[row][0]
        best.append((worth, match, before) if is_better else (best[row][0], None, row))
    chosen, row = list[Match](), len(ordered)
    while row:
        _, last, before = best[row]
        if last is not None:
            chosen.append(last)
        row = before
    return chosen[::-1]
