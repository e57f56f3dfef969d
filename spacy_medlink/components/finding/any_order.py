"""WordsOfText: the words of a text, to look up runs of them and what they are read as."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from ...retrieval.exact import ExactIndex
from ...text.any_order import LINK_KEYS, any_order_key_of, is_link
from ...text.normalisation import hash_keys
from ...text.pieces import BRACKETS, Border, Pieces

_PARTING = BRACKETS | {"/"}
_RANGE = (1 << 64) - 1


class Run(NamedTuple):
    """Pieces with the words of a name. place (int): of these words in the dictionary."""

    start: int
    end: int
    place: int


class WordsOfText:
    """The words of the pieces of a text."""

    def __init__(self, pieces: Pieces, exact: ExactIndex) -> None:
        self.pieces, self._exact, self._form = pieces, exact, exact.forms.get
        words = [
            [] if not key or key in LINK_KEYS else key.split(" ") if " " in key else [key]
            for key in pieces.keys
        ]
        hashes = hash_keys(self._form(word, word) for own in words for word in own)
        # The hash of a run is a difference of two of these sums, which wrap round.
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(hashes, dtype=np.uint64)])
        self._sums = sums[np.cumsum([0, *map(len, words)])]
        self._own = np.diff(self._sums).tolist()

    def runs(self, longest: int) -> list[Run]:
        """Find the runs of two pieces or more with the words of names, in whatever order.

        longest (int): pieces of a run.
        """
        sums, lengths = self._sums, range(2, min(longest, len(self._own)) + 1)
        runs = [sums[length:] - sums[:-length] for length in lengths]
        if not runs:
            return []
        places = self._exact.find(np.concatenate(runs))
        firsts = list(accumulate(map(len, runs), initial=0))  # of the runs of each length
        found = []
        for number in np.flatnonzero(places >= 0).tolist():
            row = bisect_right(firsts, number) - 1
            start = number - firsts[row]
            found.append(Run(start, start + lengths[row], int(places[number])))
        return found

    def places(self, readings: Sequence[Sequence[int]]) -> list[int]:
        """Find the places of the words of pieces that are read together; -1 where there is none."""
        own = self._own
        sums = [sum([own[piece] for piece in reading]) & _RANGE for reading in readings]
        places: list[int] = self._exact.find(np.array(sums, dtype=np.uint64)).tolist()
        return places

    def is_clause(self, run: Run) -> bool:
        """Tell whether a run goes over no border, and begins and ends with a meaning."""
        says, borders, gaps = self.pieces.says, self.pieces.borders, self.pieces.gaps
        if not (says[run.start] and says[run.end - 1]):
            return False
        return all(
            borders[place] < Border.SIGN
            or (borders[place] == Border.SIGN and _PARTING.isdisjoint(gaps[place]))
            for place in range(run.start + 1, run.end)
        )

    def key(self, pieces: Iterable[int]) -> str:
        """Make the key of the words of pieces in any order."""
        keys, texts, form = self.pieces.keys, self.pieces.texts, self._form
        return any_order_key_of(
            [
                form(word, word)
                for piece in pieces
                if not is_link(texts[piece])
                for word in keys[piece].split()
            ]
        )
