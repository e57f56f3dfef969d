"""Prior: how often annotated text spoke of a concept, and of concepts with ids like its own."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

_SCHEME = re.compile(r"[^0-9]*")


class Prior:
    """What was linked before, concept by concept.

    votes (Iterable[Tuple[str, int]]): id of a concept, and mentions that were it; may recur.
    id_of (Callable[[int], str]): id of a concept, by its row.
    """

    def __init__(self, votes: Iterable[tuple[str, int]], id_of: Callable[[int], str]) -> None:
        self._counts: Counter[str] = Counter()
        self._schemes: Counter[str] = Counter()
        for id, count in votes:
            self._counts[id] += count
            self._schemes[_scheme(id)] += count
        self._total = self._schemes.total()
        self._id_of = id_of

    def of(self, row: int) -> "Frequency":
        """Tell how often a concept was meant."""
        id = self._id_of(row)
        count = self._counts[id]
        like = self._schemes[_scheme(id)]
        share = math.log((like + 1) / (self._total + len(self._schemes) + 1))
        return Frequency(float(count > 0), math.log1p(count), share)


class Frequency(NamedTuple):
    """seen (float): 1 where the concept was meant at all. often (float): log of 1 + mentions.

    scheme (float): log of the share of mentions whose concepts have such ids. A terminology that
    unites others ("D...", "C...", numbers) is rarely annotated with all of them alike.
    """

    seen: float
    often: float
    scheme: float


def _scheme(id: str) -> str:
    found = _SCHEME.match(id)
    return found.group() if found else ""
