"""Losses over relations: TransE, and the similarity of term, relation and term."""

from collections.abc import Callable

import numpy as np
import torch
from pytorch_metric_learning.losses import MultiSimilarityLoss

from spacy_medlink.encoders.objectives.protocol import Batch
from spacy_medlink.util.devices import moved, sent

from ..data.relations import Triples

_SPREAD = 0.02  # of the relation vectors at the start, as of a BERT's weights


class _OfRelations(torch.nn.Module):
    """Names of triples and a vector for each relation; each direction counts.

    draw (Callable): gives the triples of a batch by its number; their names are in the batch.
    """

    def __init__(self, draw: Callable[[int], Triples], start: torch.Tensor) -> None:
        super().__init__()
        self._draw, self._relations = draw, torch.nn.Parameter(start)  # (n_relations, dim)

    def _drawn(self, batch: Batch, device: torch.device) -> tuple[list[torch.Tensor], torch.Tensor]:
        """Draw triples. RETURNS: places of heads, tails and wrong tails in the batch; vectors."""
        triples, names = self._draw(batch.number), batch.names.cpu().numpy()
        places = [sent(np.searchsorted(names, part), device) for part in triples[:3]]
        return places, self._relations[sent(triples.kinds, device)]


class TransE(_OfRelations):
    """The margin loss of CODER's task 2 (Bordes et al. 2013, with the tail alone corrupted).

        mean of max(0, m + |h + r - t| - |h + r - t'|)

    with the L2 norm; h, t, t' are vectors of names, of length 1, and r is learnt for each relation.

    kinds (int): number of relations. margin (float): m.
    """

    def __init__(
        self, draw: Callable[[int], Triples], kinds: int, dim: int, margin: float, seed: int,
        device: torch.device,
    ) -> None:  # fmt: skip
        generator = torch.Generator().manual_seed(seed)
        start = _SPREAD * torch.randn(kinds, dim, generator=generator)
        super().__init__(draw, moved(start, device))
        self._margin = margin

    def forward(self, vectors: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Compute the loss of vectors, (n, dim)."""
        places, relations = self._drawn(batch, vectors.device)
        heads, tails, wrong = (vectors[positions] for positions in places)
        arrived = heads + relations
        right = torch.linalg.vector_norm(arrived - tails, dim=1)
        astray = torch.linalg.vector_norm(arrived - wrong, dim=1)
        return torch.relu(self._margin + right - astray).mean()


class TermRelationTerm(_OfRelations):
    """CODER's later version: the multi-similarity loss of cos(h * r, t), with DistMult's product.

    Tails of the same concept are positives, all other tails of the batch negatives. A relation
    begins as a vector of ones, which changes nothing. draw, kinds, dim: as of TransE.
    """

    def __init__(
        self, draw: Callable[[int], Triples], kinds: int, dim: int, device: torch.device
    ) -> None:
        super().__init__(draw, moved(torch.ones(kinds, dim), device))
        self._loss = MultiSimilarityLoss(alpha=2, beta=50, base=0.5)

    def forward(self, vectors: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Compute the loss of vectors, (n, dim)."""
        (heads, tails, wrong), relations = self._drawn(batch, vectors.device)
        ends = torch.unique(torch.cat([tails, wrong]))
        loss: torch.Tensor = self._loss(
            vectors[heads] * relations, batch.labels[tails], ref_emb=vectors[ends],
            ref_labels=batch.labels[ends],
        )  # fmt: skip
        return loss
