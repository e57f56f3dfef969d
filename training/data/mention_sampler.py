"""Batches of mentions, with names so that the encoder does not forget the names."""

from collections.abc import Callable

import numpy as np

from spacy_medlink.types import Ints1d

from .mentions import NamesAndMentions
from .pairs import Pairs

NearestWrong = Callable[[Ints1d, int], Ints1d]


def by_frequency(names: NamesAndMentions, counts: Ints1d) -> Ints1d:
    """List mentions, each as often as the square root of its frequency: positions, (n,).

    So frequent mentions count more, and rare ones are learned too.

    counts (Ints1d): how often each mention occurs, by its number.
    """
    positions = np.flatnonzero(names.is_mention)
    times = np.sqrt(counts[-1 - names.rows[positions]]).round().astype(np.int64)
    return np.repeat(positions, times)


class NearNames:
    """Finds a synonym and near wrong names of each mention of a batch.

    nearest_wrong (Callable): finds the nearest wrong names of mentions, by remembered vectors.
    near (int): wrong names a mention.
    """

    def __init__(
        self, names: NamesAndMentions, nearest_wrong: NearestWrong, near: int, seed: int
    ) -> None:
        self._nearest, self._near, self._seed = nearest_wrong, near, seed
        self._concepts, self._is_mention = names.concepts, names.is_mention
        self._possible = np.flatnonzero(names.trainable)

    def __call__(self, step: int, batch: Ints1d) -> Ints1d:
        """Find those of a step: positions."""
        mentions = batch[self._is_mention[batch]]
        near = self._nearest(mentions, self._near)
        return np.concatenate([self._synonyms(mentions, step), near])

    def _synonyms(self, mentions: Ints1d, step: int) -> Ints1d:
        """Draw a name of the concept of each mention, where it has one to train on."""
        wanted = self._concepts[mentions]
        concepts = self._concepts[self._possible]
        first = np.searchsorted(concepts, wanted, side="left")
        counts = np.searchsorted(concepts, wanted, side="right") - first
        drawn = np.random.default_rng((self._seed, step)).random(len(mentions)) * counts
        return self._possible[(first + drawn.astype(np.int64))[counts > 0]]


def mention_pairs(names: NamesAndMentions, most: int, seed: int) -> Pairs:
    """Pair every mention with each name of its concept, at most so many, drawn at random.

    RETURNS (NDArray[np.int32]): (n_pairs, 2), position of the mention and of the name.
    """
    rng = np.random.default_rng(seed)
    possible = np.flatnonzero(names.trainable)
    concepts = names.concepts[possible]
    mentions = np.flatnonzero(names.is_mention)
    first = np.searchsorted(concepts, names.concepts[mentions], side="left")
    last = np.searchsorted(concepts, names.concepts[mentions], side="right")
    blocks = [np.empty((0, 2), dtype=np.int32)]
    for mention, begin, end in zip(mentions.tolist(), first.tolist(), last.tolist(), strict=True):
        names_of_concept = possible[begin:end]
        if len(names_of_concept) > most:
            names_of_concept = np.sort(rng.choice(names_of_concept, size=most, replace=False))
        anchors = np.full(len(names_of_concept), mention)
        blocks.append(np.stack([anchors, names_of_concept], axis=1).astype(np.int32))
    return np.concatenate(blocks)
