"""TransE: the head's vector plus the relation's vector should equal the tail's vector."""

from collections.abc import Callable

import numpy as np
import torch

from spacy_medlink.encoders.objectives.protocol import Batch
from spacy_medlink.util.devices import moved, sent

from ..data.relations import Triples

_SPREAD = 0.02  # of the relation vectors at the start, as of a BERT's weights


class TransE:
    """The margin loss of CODER's task 2 (Bordes et al. 2013, with the tail alone corrupted).

        mean of max(0, m + |h + r - t| - |h + r - t'|)

    with the L2 norm; h, t, t' are vectors of names, of length 1, and r is learnt for each relation.

    draw (Callable): gives the triples of a batch by its number; their names are in the batch.
    kinds (int): number of relations; each direction counts. margin (float): m.
    """

    def __init__(
        self, draw: Callable[[int], Triples], kinds: int, dim: int, margin: float, seed: int,
        device: torch.device,
    ) -> None:  # fmt: skip
        self._draw, self._margin = draw, margin
        generator = torch.Generator().manual_seed(seed)
        start = _SPREAD * torch.randn(kinds, dim, generator=generator)
        self._relations = torch.nn.Parameter(moved(start, device))

    def __call__(self, vectors: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Compute the loss of vectors, (n, dim)."""
        triples = self._draw(batch.number)
        names = batch.names.cpu().numpy()
        heads, tails, wrong = (
            vectors[sent(np.searchsorted(names, part), vectors.device)] for part in triples[:3]
        )
        kinds = sent(triples.kinds, vectors.device)
        arrived = heads + self._relations[kinds]
        right = torch.linalg.vector_norm(arrived - tails, dim=1)
        astray = torch.linalg.vector_norm(arrived - wrong, dim=1)
        return torch.relu(self._margin + right - astray).mean()

    def parameters(self) -> list[torch.nn.Parameter]:
        """List the relation vectors, (n_relations, dim)."""
        return [self._relations]
