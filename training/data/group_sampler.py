"""Batches with several names of each concept (CODER, task 1: up to eight)."""

import numpy as np

from spacy_medlink.types import Ints1d

from .names import TrainingNames


class GroupSampler:
    """A sampler of groups of names of one concept, so that a batch has several names of a concept.

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
