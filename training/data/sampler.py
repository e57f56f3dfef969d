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


class GroupSampler:
    """A sampler of groups of names of one concept, at most so many (CODER, task 1: eight).

    Each epoch, the names of a concept are dealt anew into groups of about the same size. Names
    beyond the cap are left out at random. A batch never cuts a group.

    names (TrainingNames): drawn are the trainable names of concepts with two or more of them.
    group (int): names in a group, at most; one more where a name would be left alone. A batch may
    have two groups of a concept by chance.
    batch_names (int): names a batch, about: a group that begins in a batch is in it as a whole.
    most (int): names of a concept in an epoch, at most.
    """

    def __init__(
        self, names: TrainingNames, group: int, batch_names: int, most: int, seed: int
    ) -> None:
        positions = np.flatnonzero(names.trainable)
        concepts = names.concepts[positions]
        starts = np.flatnonzero(np.r_[True, concepts[1:] != concepts[:-1]])
        counts = np.diff(np.r_[starts, len(concepts)])
        several = counts > 1
        self._positions = positions[np.repeat(several, counts)]
        self._counts = counts[several]
        self._group, self._batch, self._most, self._seed = group, batch_names, most, seed
        total = int(np.minimum(self._counts, most).sum())
        self.steps_per_epoch = max(1, total // batch_names)
        self._epoch, self._names, self._cuts = -1, self._positions, np.zeros(1, dtype=np.int64)

    def batch(self, step: int) -> Ints1d:
        """Get the names of a step."""
        epoch, batch = divmod(step, self.steps_per_epoch)
        if epoch != self._epoch:
            self._deal(epoch)
        return np.sort(self._names[self._cuts[batch] : self._cuts[batch + 1]])

    def _deal(self, epoch: int) -> None:
        """Draw the groups of an epoch, their order, and the starts of batches."""
        rng = np.random.default_rng((self._seed, epoch))
        owner = np.repeat(np.arange(len(self._counts)), self._counts)
        names = self._positions[np.lexsort((rng.random(len(owner)), owner))]
        begins = np.cumsum(self._counts) - self._counts
        within = np.arange(len(owner)) - np.repeat(begins, self._counts)
        kept = within < self._most
        names, owner, within = names[kept], owner[kept], within[kept]
        counts = np.minimum(self._counts, self._most)
        groups = np.minimum(-(-counts // self._group), counts // 2)  # of each concept
        first = np.cumsum(groups) - groups
        group = first[owner] + within % groups[owner]
        rank = rng.permutation(int(groups.sum()))  # place of each group in the epoch
        names = names[np.argsort(rank[group], kind="stable")]
        sizes = np.bincount(rank[group])
        ends = np.cumsum(sizes)
        # A batch begins with the first group that begins at or after a multiple of the size.
        wanted = self._batch * np.arange(self.steps_per_epoch)
        cuts = (ends - sizes)[np.searchsorted(ends - sizes, wanted)]
        self._epoch, self._names, self._cuts = epoch, names, np.r_[cuts, len(names)]


def with_synonym(names: TrainingNames) -> Ints1d:
    """List the names that have another trainable name in their concept: positions, (n,)."""
    positions = np.flatnonzero(names.trainable)
    concepts = names.concepts[positions]
    _, concept, counts = np.unique(concepts, return_inverse=True, return_counts=True)
    return positions[counts[concept] > 1]
