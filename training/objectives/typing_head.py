"""A classifier of semantic types over the vectors of names (CODER, its ablation)."""

import torch

from spacy_medlink.encoders.objectives.protocol import Batch
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.util.devices import moved

_NONE = -1


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
