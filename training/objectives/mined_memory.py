"""A miner and a loss over a batch and the confusable names of a memory."""

from typing import Any

import torch
from pytorch_metric_learning.utils import loss_and_miner_utils as tuples

from spacy_medlink.encoders.objectives.batch import count_mined
from spacy_medlink.encoders.objectives.mining import Indices, without_own, without_twins
from spacy_medlink.encoders.objectives.protocol import Batch, Weights

from .name_memory import NameMemory


class MinedMemoryObjective:
    """A miner and a loss over a batch and the confusable ones among all names.

    Miner and loss are those of BatchObjective. But few names in a batch of some hundred are
    confusable, so each name is also compared with its nearest wrong names in a NameMemory, and
    with its synonyms there. Gradients reach only the names of the batch.

    neighbours (int): nearest wrong names of each name.
    """

    def __init__(self, miner: Any, loss: Any, memory: NameMemory, neighbours: int) -> None:
        self._miner, self._loss = miner, loss
        self._memory, self._neighbours = memory, neighbours

    def __call__(self, vectors: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, int]:
        """Compute the loss of vectors, (n, dim), and count the pairs or triplets mined."""
        self._memory.note(batch.names, vectors)
        others = self._memory.references(vectors, batch, self._neighbours)
        mined: Indices = (
            tuples.get_all_pairs_indices(batch.labels, others.labels)
            if self._miner is None
            else self._miner(vectors, batch.labels, others.vectors, others.labels)
        )
        mined = without_twins(without_own(mined), others.strings)
        loss: torch.Tensor = self._loss(
            vectors.float(), batch.labels, mined, others.vectors, others.labels
        )
        return loss, count_mined(mined)

    def parameters(self) -> list[torch.nn.Parameter]:
        """Return an empty list: the loss has no weights."""
        return []

    def after_step(self) -> None:
        """Remember the vectors of the batch."""
        self._memory.after_step()

    def state(self) -> Weights:
        """Get the memory."""
        return self._memory.state()

    def load_state(self, state: Weights) -> None:
        """Put the memory back."""
        self._memory.load_state(state)
