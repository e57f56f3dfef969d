"""Batches with an equal share of every language, however many names it has."""

import numpy as np
from numpy.typing import NDArray

from spacy_medlink.types import Ints1d

from .pairs import Pairs
from .sampler import Shuffle


class LanguageSampler:
    """A sampler of random pairs, every language equally often; an epoch draws `len(pairs)` pairs.

    Pairs of a rare language come several times an epoch; some pairs of a frequent one do not come.

    pairs (Pairs): (n_pairs, 2) positions of training names. languages (NDArray): number of the
    language of every training name; a pair has the rarer language of its two names.
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
            Shuffle(len(part), len(part), seed + (kind << 32))  # another order for each pass
            for kind, part in enumerate(self._parts)
        ]

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches in an epoch."""
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
    """Return the language of every pair, (n,): the rarer language of its two names."""
    numbers = languages + 1  # -1 is unknown
    counts = np.bincount(numbers)
    first, second = numbers[pairs[:, 0]], numbers[pairs[:, 1]]
    return np.where(counts[first] < counts[second], first, second)


def _at(order: Shuffle, places: Ints1d, count: int) -> Ints1d:
    """Look up places of an endless order: passes over n things, each shuffled anew."""
    passes, place = np.divmod(places, count)
    found = np.empty(len(places), dtype=np.int64)
    for number in np.unique(passes).tolist():
        here = passes == number
        found[here] = order.part(number)[place[here]]
    return found
