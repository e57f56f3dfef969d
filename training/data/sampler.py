"""Batches of names, shuffled by seed and epoch; step n always gives the same batch."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from spacy_medlink.types import Ints1d

from .names import TrainingNames
from .pairs import Pairs


class Sampler(Protocol):
    """A source of batches, so many in one pass: the names to train on at each step."""

    steps_per_epoch: int

    def batch(self, step: int) -> Ints1d:
        """Get the names of a step, counted from 0 over all epochs: positions, each once, sorted."""


class ShuffledSampler:
    """A sampler of random items, each once an epoch; the last batch of an epoch may be smaller.

    items (NDArray): positions of training names, (n,), or pairs of them, (n, 2), so that a batch
        has two names of each concept. A name that is drawn twice for a batch is in it once.
    size (int): items a batch.
    """

    def __init__(self, items: Ints1d | Pairs, size: int, seed: int) -> None:
        self._items, self._shuffle = items, Shuffle(len(items), size, seed)
        self.steps_per_epoch = self._shuffle.steps_per_epoch

    def batch(self, step: int) -> Ints1d:
        """Get the names of a step."""
        return np.unique(self._items[self._shuffle.part(step)]).astype(np.int64)


class AddingSampler:
    """A sampler that adds names to each batch of another sampler.

    more (Callable): gives positions for a step and its batch. It is asked once a step, since what
        it gives may change with the weights, and a step must always give the same batch.
    """

    def __init__(self, sampler: Sampler, more: Callable[[int, Ints1d], Ints1d]) -> None:
        self._sampler, self._more = sampler, more
        self.steps_per_epoch = sampler.steps_per_epoch
        self._drawn: tuple[int, Ints1d] = (-1, np.empty(0, dtype=np.int64))

    def batch(self, step: int) -> Ints1d:
        """Get the names of a step."""
        if self._drawn[0] != step:
            batch = self._sampler.batch(step)
            self._drawn = (step, np.union1d(batch, self._more(step, batch)))
        return self._drawn[1]


class Shuffle:
    """An order of n items, drawn anew each epoch and cut into batches.

    Memory holds the order of one epoch, eight bytes an item.
    """

    def __init__(self, count: int, size: int, seed: int) -> None:
        self._count, self._size, self._seed = count, size, seed
        self.steps_per_epoch = -(-count // size)
        self._epoch, self._order = -1, np.empty(0, dtype=np.int64)

    def part(self, step: int) -> Ints1d:
        """Get the items of a step."""
        epoch, part = divmod(step, self.steps_per_epoch)
        if epoch != self._epoch:
            rng = np.random.default_rng((self._seed, epoch))
            self._epoch, self._order = epoch, rng.permutation(self._count)
        return self._order[part * self._size : (part + 1) * self._size]


def with_synonym(names: TrainingNames) -> Ints1d:
    """List the names that have another trainable name in their concept: positions, (n,)."""
    positions = np.flatnonzero(names.trainable)
    concepts = names.concepts[positions]
    _, concept, counts = np.unique(concepts, return_inverse=True, return_counts=True)
    return positions[counts[concept] > 1]
