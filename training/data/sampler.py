"""Batches of names, shuffled by seed and epoch; step n always gives the same batch."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spacy_medlink.types import Ints1d

from .names import TrainingNames
from .pairs import Pairs


class Sampler(Protocol):
    """A source of batches: the names to train on at each step."""

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches in one pass."""

    def batch(self, step: int) -> Ints1d:
        """Get the names of a step, counted from 0 over all epochs: positions, each once, sorted."""


class Shuffled:
    """A sampler that goes through one shuffled order."""

    _shuffle: "Shuffle"

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches in one pass."""
        return self._shuffle.steps_per_epoch


class Around:
    """A sampler that adds to the batches of another sampler."""

    _sampler: Sampler

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches in one pass of the other sampler."""
        return self._sampler.steps_per_epoch


class PairSampler(Shuffled):
    """A sampler of random pairs, each once an epoch, so that a batch has two names of each concept.

    pairs (Pairs): (n_pairs, 2) positions of training names.
    batch_pairs (int): pairs a batch; the last batch of an epoch may be smaller.
    """

    def __init__(self, pairs: Pairs, batch_pairs: int, seed: int) -> None:
        self._pairs = pairs
        self._shuffle = Shuffle(len(pairs), batch_pairs, seed)

    def batch(self, step: int) -> Ints1d:
        """Get the names of the pairs of a step; a name in several pairs is encoded once."""
        return np.unique(self._pairs[self._shuffle.part(step)]).astype(np.int64)


class NameSampler(Shuffled):
    """A sampler of random names, each once an epoch, for a loss that finds the positives elsewhere.

    names (TrainingNames): names with another trainable name in their concept are drawn.
    batch_names (int): names a batch.
    """

    def __init__(self, names: TrainingNames, batch_names: int, seed: int) -> None:
        self._names = _with_synonym(names.concepts, names.trainable)
        self._shuffle = Shuffle(len(self._names), batch_names, seed)

    def batch(self, step: int) -> Ints1d:
        """Get the names of a step."""
        return np.sort(self._names[self._shuffle.part(step)])


class TextSampler(Shuffled):
    """A sampler of random texts, each once an epoch, for a loss that needs no positives.

    count (int): texts. batch_texts (int): texts a batch.
    """

    def __init__(self, count: int, batch_texts: int, seed: int) -> None:
        self._shuffle = Shuffle(count, batch_texts, seed)

    def batch(self, step: int) -> Ints1d:
        """Get the texts of a step."""
        return np.sort(self._shuffle.part(step))


class SequenceSampler:
    """A sampler that runs stages in order: some batches of the first sampler, then of the next.

    stages (Sequence[Tuple[Sampler, int]]): samplers and their batches; the last has no end.
    """

    def __init__(self, stages: Sequence[tuple[Sampler, int]]) -> None:
        self._stages = list(stages)

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches in one pass of the first stage."""
        return self._stages[0][0].steps_per_epoch

    def batch(self, step: int) -> Ints1d:
        """Get the names of a step."""
        for sampler, batches in self._stages[:-1]:
            if step < batches:
                return sampler.batch(step)
            step -= batches
        return self._stages[-1][0].batch(step)


class Shuffle:
    """An order of n items, drawn anew each epoch and cut into batches.

    Memory holds the order of one epoch, eight bytes an item.
    """

    def __init__(self, count: int, size: int, seed: int) -> None:
        self._count, self._size, self._seed = count, size, seed
        self._epoch, self._order = -1, np.empty(0, dtype=np.int64)

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches in one pass."""
        return -(-self._count // self._size)

    def part(self, step: int) -> Ints1d:
        """Get the items of a step."""
        epoch, part = divmod(step, self.steps_per_epoch)
        if epoch != self._epoch:
            rng = np.random.default_rng((self._seed, epoch))
            self._epoch, self._order = epoch, rng.permutation(self._count)
        return self._order[part * self._size : (part + 1) * self._size]


def _with_synonym(concepts: Ints1d, trainable: NDArray[np.bool_]) -> Ints1d:
    positions = np.flatnonzero(trainable)
    _, concept, counts = np.unique(concepts[positions], return_inverse=True, return_counts=True)
    return positions[counts[concept] > 1]
