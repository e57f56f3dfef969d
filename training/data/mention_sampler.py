"""Batches of mentions, with some names among them so that the encoder does not forget the names."""

import numpy as np

from spacy_medlink.types import Ints1d

from .mentions import NamesAndMentions
from .sampler import NameSampler, Shuffle


class MentionSampler:
    """Random mentions, each once an epoch, and random names beside them.

    batch_mentions (int): mentions a batch; the last batch of an epoch may be smaller.
    batch_names (int): names a batch, drawn from those that have a synonym; 0 for none.
    """

    def __init__(
        self, names: NamesAndMentions, batch_mentions: int, batch_names: int, seed: int
    ) -> None:
        self._mentions = np.flatnonzero(names.is_mention)
        self._shuffle = Shuffle(len(self._mentions), batch_mentions, seed)
        self._names = NameSampler(names, batch_names, seed) if batch_names else None

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches in one pass over the mentions."""
        return self._shuffle.steps_per_epoch

    def batch(self, step: int) -> Ints1d:
        """Get the mentions and names of a step: positions, ascending."""
        mentions = self._mentions[self._shuffle.part(step)]
        if self._names is None:
            return np.sort(mentions)
        return np.sort(np.concatenate([mentions, self._names.batch(step)]))
