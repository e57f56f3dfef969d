"""SynonymTable: the synonyms of a batch's names, and the names that its loss ignores."""

import numpy as np
from numpy.typing import NDArray

from spacy_medlink.types import Ints1d, Ints2d

from .names import TrainingNames


class SynonymTable:
    """A look-up of names by concept and by string, for many names at once.

    names (TrainingNames): all names, ordered by concept.
    """

    def __init__(self, names: TrainingNames) -> None:
        self._concepts, self._trainable = names.concepts, names.trainable
        self._strings = names.strings
        self._by_string = np.argsort(names.strings, kind="stable")
        self._sorted_strings = names.strings[self._by_string]

    def synonyms(self, batch: Ints1d) -> Ints2d:
        """Pair each name of a batch with the other trainable names of its concept.

        batch (Ints1d): positions of training names, (n,).
        RETURNS (Ints2d): (2, n_pairs), index into the batch and position of the synonym.
        """
        pairs = self._same_concept(batch)
        return pairs[:, self._trainable[pairs[1]] & (pairs[1] != batch[pairs[0]])]

    def ignored(self, batch: Ints1d) -> Ints2d:
        """Pair each name of a batch with the names that are neither positive nor negative.

        These are the name itself, the same string in other concepts, and the names of its concept
        that are not trainable.
        RETURNS (Ints2d): (2, n_pairs), index into the batch and position of the other.
        """
        same_concept = self._same_concept(batch)
        wanted = self._strings[batch]
        first = np.searchsorted(self._sorted_strings, wanted, side="left")
        last = np.searchsorted(self._sorted_strings, wanted, side="right")
        twins = _ranges(first, last)
        twins[1] = self._by_string[twins[1]]
        return np.concatenate([same_concept[:, ~self._trainable[same_concept[1]]], twins], axis=1)

    def _same_concept(self, batch: Ints1d) -> Ints2d:
        wanted = self._concepts[batch]
        first = np.searchsorted(self._concepts, wanted, side="left")
        return _ranges(first, np.searchsorted(self._concepts, wanted, side="right"))


def _ranges(first: NDArray[np.int64], last: NDArray[np.int64]) -> Ints2d:
    """List the numbers of n ranges: (2, total), number of the range and number in it."""
    counts = last - first
    owner = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.stack([owner, first[owner] + within])
