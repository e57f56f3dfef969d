"""The loss over all names, for mentions: mentions are compared with names, never with mentions."""

from collections.abc import Callable

import numpy as np
import torch

from spacy_medlink.encoders.objectives.mining import Indices
from spacy_medlink.encoders.objectives.protocol import Batch, Weights
from spacy_medlink.types import Floats2d, Ints1d
from spacy_medlink.util.devices import sent

from ..data.mentions import NamesAndMentions
from .memory import MemoryObjective

Encode = Callable[[Ints1d], Floats2d]


class MentionMemoryObjective(MemoryObjective):
    """A softmax loss over all names: each mention of the batch should be nearest to its concept's.

    It is MemoryObjective with the synonym marginalisation of BioSyn (Sung et al. 2020, equation 5)
    over all names instead of 20 candidates. So candidates need not be retrieved each epoch: names
    that come near later are in the sum from the start.

    The names of the batch learn, too. Otherwise mentions would move away from a wrong name near
    them, but the name would never move away, and would follow them. A batch has few of the names,
    so their vectors would lag behind an encoder that learns much. Hence all names are encoded
    again from time to time.

    names (NamesAndMentions): names and mentions. vectors (Floats2d): the base's vectors of the
    names only, (n_names, dim). encode (Callable): vectors of positions, by the current encoder.
    renewal (float): names are encoded again after training on so many times their number; 0
    for never. At 0.5 that takes about a third of the time.
    """

    def __init__(
        self,
        names: NamesAndMentions,
        vectors: Floats2d,
        device: torch.device,
        encode: Encode,
        *,
        temperature: float,
        renewal: float,
    ) -> None:
        positions = np.flatnonzero(names.is_mention)
        memory = np.zeros((len(names), vectors.shape[1]), dtype=np.float32)
        memory[~names.is_mention] = vectors
        memory[positions] = encode(positions)
        super().__init__(names, memory, device, temperature=temperature)
        self._encode = encode
        self._kb_names = np.flatnonzero(~names.is_mention)
        self._mentions = sent(positions, device)
        self._after = renewal * len(self._kb_names)
        self._trained = 0
        self._batch = sent(np.empty(0, dtype=np.int64), device)

    def __call__(self, vectors: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, int]:
        """Compute the loss of vectors, (n, dim), and count the positive pairs."""
        if self._after and self._trained >= self._after:
            device = batch.names.device
            fresh = sent(self._encode(self._kb_names), device)
            self._memory[sent(self._kb_names, device)] = fresh
            self._trained = 0
        self._trained += len(vectors)
        self._batch = batch.names
        self._memory[batch.names] = vectors.detach().float()
        return super().__call__(vectors, batch)

    @torch.no_grad()
    def nearest_wrong(self, mentions: Ints1d, count: int) -> Ints1d:
        """Find the nearest wrong names of mentions, by remembered vectors.

        mentions (Ints1d): positions, (n,). RETURNS (Ints1d): positions, (n * count,).
        """
        rows = sent(mentions, self._memory.device)
        scores = self._memory[rows] @ self._memory.T
        self._hide(scores, self._ignored(rows))
        scores[self._synonyms(rows)] = -torch.inf
        nearest: Ints1d = scores.topk(count, dim=1).indices.cpu().numpy().ravel()
        return nearest

    def state(self) -> Weights:
        """Get the memory, and the number of names trained on since its renewal."""
        return {**super().state(), "trained": torch.tensor(self._trained)}

    def load_state(self, state: Weights) -> None:
        """Put back what `state` gave."""
        super().load_state(state)
        self._trained = int(state["trained"])

    def _hide(self, logits: torch.Tensor, ignored: Indices) -> None:
        super()._hide(logits, ignored)
        logits[:, self._mentions] = -torch.inf

    def _gradient(
        self, vectors: torch.Tensor, learning: torch.Tensor, slopes: torch.Tensor
    ) -> torch.Tensor:
        gradient = super()._gradient(vectors, learning, slopes)
        return gradient + slopes[:, self._batch].T @ vectors[learning]
