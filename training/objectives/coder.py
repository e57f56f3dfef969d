"""The losses of CODER beside the one over synonyms: relations, semantic types, and their sum."""

from collections.abc import Callable, Mapping

import numpy as np
import torch
from pytorch_metric_learning.losses import MultiSimilarityLoss

from spacy_medlink.encoders.objectives.protocol import Batch, Objective, Weights
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.util.devices import moved, sent

from ..data.relations import Triples

_SPREAD = 0.02  # of the relation vectors at the start, as of a BERT's weights
_NONE = -1  # the number of no type


class JointObjective:
    """A main objective and weighted parts over the same batch (CODER, L = L_MS + mu L_TransE).

    parts (Mapping[str, Module]): compute losses of vectors, (n, dim), and their batch, by the names
        of their weights in a checkpoint. weights (Mapping[str, float]): of these losses.
    """

    def __init__(
        self, main: Objective, parts: Mapping[str, torch.nn.Module], weights: Mapping[str, float]
    ) -> None:
        self._main, self._parts, self._weights = main, torch.nn.ModuleDict(parts), weights

    def __call__(self, vectors: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, int]:
        """Compute the sum of the losses, and count the pairs of the main loss."""
        loss, mined = self._main(vectors, batch)
        for name, part in self._parts.items():
            loss = loss + self._weights[name] * part(vectors.float(), batch)
        return loss, mined

    def parameters(self) -> list[torch.nn.Parameter]:
        """List the trainable weights of all parts."""
        return [*self._main.parameters(), *self._parts.parameters()]

    def after_step(self) -> None:
        """Tell the main objective."""
        self._main.after_step()

    def state(self) -> Weights:
        """Get the memory of the main objective and the weights of the parts."""
        return {**self._main.state(), **self._parts.state_dict()}

    def load_state(self, state: Weights) -> None:
        """Put back what `state` gave."""
        self._main.load_state(state)
        self._parts.load_state_dict({name: state[name] for name in self._parts.state_dict()})


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


class TypeHead(torch.nn.Module):
    """The cross-entropy of a linear classifier of a name's semantic type, its concept's first.

    types (Tensor): number of the type of every concept row, -1 for none.
    """

    def __init__(self, types: torch.Tensor, dim: int, seed: int, device: torch.device) -> None:
        super().__init__()
        self._types = moved(types, device)
        generator = torch.Generator().manual_seed(seed)
        start = torch.randn(int(types.max()) + 1, dim, generator=generator) / dim**0.5
        self._weight = torch.nn.Parameter(moved(start, device))
        self._bias = torch.nn.Parameter(torch.zeros(len(start), device=self._weight.device))

    def forward(self, vectors: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Compute the loss of vectors, (n, dim); names without a type do not count."""
        in_kb = batch.labels < len(self._types)  # not the pseudo-concepts of a bitext
        types = self._types[batch.labels.where(in_kb, 0)].where(in_kb, _NONE)
        logits = vectors @ self._weight.T + self._bias
        loss = torch.nn.functional.cross_entropy(logits, types, ignore_index=_NONE, reduction="sum")
        return loss / (types != _NONE).sum().clamp(min=1)


def concept_types(kb: KnowledgeBase) -> torch.Tensor:
    """Return the number of every concept's first type: (n_concepts,), -1 for none."""
    numbers: dict[str, int] = {}
    firsts = (types[0] if types else None for types in kb.iter_types())
    return torch.tensor(
        [_NONE if type is None else numbers.setdefault(type, len(numbers)) for type in firsts]
    )
