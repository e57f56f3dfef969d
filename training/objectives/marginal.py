"""Synonym marginalisation over retrieved candidates (BioSyn)."""

import numpy as np
import torch

from spacy_medlink.encoders.objectives.protocol import Batch, Weights
from spacy_medlink.util.devices import moved, sent

from ..data.candidates import Candidates
from ..data.mentions import NamesAndMentions


class MarginalObjective:
    """The loss over the joint probability of the synonyms among a mention's candidates.

        loss = -log(sum over synonyms softmax(dense / t + w sparse / t))

    over the k candidates of a mention, with w learned (Sung et al. 2020, equations 3 to 5; the
    paper has t = 1 over vectors of any length, ours have length 1). Mentions without a right
    candidate do not count.

    candidates (Candidates): the same object as in the sampler.
    temperature (float): t. sparse_weight (float): w at the start.
    """

    def __init__(
        self,
        names: NamesAndMentions,
        candidates: Candidates,
        device: torch.device,
        *,
        temperature: float,
        sparse_weight: float,
    ) -> None:
        self._concepts, self._is_mention = names.concepts, names.is_mention
        self._candidates, self._temperature = candidates, temperature
        self._weight = torch.nn.Parameter(moved(torch.tensor(sparse_weight), device))

    def __call__(self, vectors: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, int]:
        """Compute the loss of vectors, (n, dim), and count the right candidates."""
        positions = batch.names.cpu().numpy()
        queries = np.flatnonzero(self._is_mention[positions])
        candidates, spelling = self._candidates.of(positions[queries])
        in_batch = sent(np.searchsorted(positions, candidates), vectors.device)
        rights = self._concepts[candidates] == self._concepts[positions[queries], None]
        right = sent(rights, vectors.device)
        sparse = sent(spelling, vectors.device)
        mentions = vectors[sent(queries, vectors.device)]
        dense = torch.einsum("nd,nkd->nk", mentions.float(), vectors[in_batch].float())
        scores = (dense + self._weight * sparse) / self._temperature
        likelihood = torch.log_softmax(scores, dim=1).masked_fill(~right, -torch.inf)
        learning = right.any(dim=1)
        if not learning.any():
            return (vectors * 0).sum() + 0 * self._weight, 0
        return -likelihood[learning].logsumexp(dim=1).mean(), int(right.sum())

    @property
    def sparse_weight(self) -> float:
        """The weight of the spelling score beside the cosine, at least 0."""
        return max(0.0, float(self._weight.detach()))

    def parameters(self) -> list[torch.nn.Parameter]:
        """List the weight of the sparse score."""
        return [self._weight]

    def after_step(self) -> None:
        """Do nothing: candidates are renewed once an epoch."""

    def state(self) -> Weights:
        """Get the weight and the candidates."""
        return {"sparse_weight": self._weight.detach(), **self._candidates.state()}

    def load_state(self, state: Weights) -> None:
        """Put back what `state` gave."""
        with torch.no_grad():
            self._weight.copy_(state["sparse_weight"])
        self._candidates.load_state(state)
