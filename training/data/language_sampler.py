"""Batches in which every language has its share, however many names it has."""

import numpy as np
from numpy.typing import NDArray

from spacy_medlink.types import Ints1d

from .pairs import Pairs
from .sampler import Shuffle


class LanguageSampler:
    """Random pairs, every language equally often; an epoch draws as many pairs as there are.

    Pairs of a rare language come several times an epoch, those of a frequent one not all.

    pairs (Pairs): (n_pairs, 2) positions of training names. languages (NDArray): number of the
    language of every training name; a pair is of the language that fewer names have.
    """

    def __init__(
        self, pairs: Pairs, languages: NDArray[np.int16], batch_pairs: int, seed: int
    ) -> None:
        self._pairs, self._size = pairs, batch_pairs
        kinds = pair_languages(pairs, languages)
        order = np.argsort(kinds, kind="stable")
        bounds = np.flatnonzero(np.diff(kinds[order])) + 1
        self._parts = np.split(order, bounds)
        self._orders = [
            Shuffle(len(part), len(part), seed + (kind << 32))  # an order a pass
            for kind, part in enumerate(self._parts)
        ]

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches in which as many pairs are drawn as there are."""
        return -(-len(self._pairs) // self._size)

    def batch(self, step: int) -> Ints1d:
        """Get the names of the pairs of a step."""
        drawn = np.arange(step * self._size, (step + 1) * self._size)
        turn, kinds = np.divmod(drawn, len(self._parts))
        chosen = [
            part[_at(order, turn[kinds == kind], len(part))]
            for kind, (part, order) in enumerate(zip(self._parts, self._orders, strict=True))
        ]
        return np.unique(self._pairs[np.concatenate(chosen)]).astype(np.int64)


def pair_languages(pairs: Pairs, languages: NDArray[np.int16]) -> NDArray[np.int16]:
    """Tell the language of every pair: of its two names the one that fewer names have, (n,)."""
    numbers = languages + 1  # -1 is unknown
    counts = np.bincount(numbers)
    first, second = numbers[pairs[:, 0]], numbers[pairs[:, 1]]
    return np.where(counts[first] < counts[second], first, second)


def _at(order: Shuffle, places: Ints1d, count: int) -> Ints1d:
    """Look up places of an endless order: pass after pass over n things, each shuffled anew."""
    passes, place = np.divmod(places, count)
    found = np.empty(len(places), dtype=np.int64)
    for number in np.unique(passes).tolist():
        here = passes == number
        found[here] = order.part(number)[place[here]]
    return found
