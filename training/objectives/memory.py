"""A loss over all names of the knowledge base, with vectors remembered from step to step."""

import torch

from spacy_medlink.encoders.objectives.mining import Indices
from spacy_medlink.encoders.objectives.protocol import Batch, Stateless, Weights
from spacy_medlink.types import Floats2d

from ..data.names import TrainingNames
from .name_memory import NameMemory


class MemoryObjective(Stateless):
    """A softmax loss over all names: each name of the batch should be nearest to its synonyms.

        loss = -log(sum over positives exp(s / t) / sum over all exp(s / t))

    with s the cosine to a vector of NameMemory, t the temperature. The sum over synonyms is from
    BioSyn, Sung et al. 2020.

    Twins (the same string in another concept) are ignored.

    names (TrainingNames): all names. vectors (Floats2d): their vectors by the base.
    RAISES (MedlinkError): E502 for more names than fit.
    """

    def __init__(
        self, names: TrainingNames, vectors: Floats2d, device: torch.device, *, temperature: float
    ) -> None:
        self._temperature = temperature
        self._memory = NameMemory(names, vectors, device)

    def __call__(self, vectors: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, int]:
        """Compute the loss of vectors, (n, dim), and count the positive pairs."""
        detached = vectors.detach().float()
        self._memory.note(batch.names, detached)
        rows, synonyms = self._memory.synonyms(batch.names)
        value, gradient = self._loss(detached, rows, synonyms, self._memory.ignored(batch.names))
        # A linear function with the loss's value and gradient: autograd would read and copy the
        # matrix of all similarities several times more.
        linear = (vectors.float() * gradient).sum()
        return linear - linear.detach() + value, len(rows)

    @torch.no_grad()
    def _loss(
        self, vectors: torch.Tensor, rows: torch.Tensor, synonyms: torch.Tensor, ignored: Indices
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Compute the loss and its gradient, (n, dim).

        rows, synonyms (Tensor): positive pairs, index into the batch and position in the memory.
        """
        logits = (vectors @ self._memory.vectors.T).div_(self._temperature)
        self._hide(logits, ignored)
        positive = logits[rows, synonyms]
        # In place, since this matrix is by far the largest array in memory.
        peak = logits.amax(dim=1, keepdim=True)
        weights = logits.sub_(peak).exp_()
        total = weights.sum(dim=1, keepdim=True)
        weights.div_(total)
        odds = positive - (total.log() + peak)[rows, 0]
        log_likelihood = logsumexp_by(odds, rows, len(vectors))
        # A name without a synonym has no positive, so it does not learn.
        learning = torch.unique(rows)
        count = max(1, len(learning))
        weights[rows, synonyms] -= (odds - log_likelihood[rows]).exp()
        slopes = weights[learning]
        gradient = self._gradient(vectors, learning, slopes) / (self._temperature * count)
        return -log_likelihood[learning].sum() / count, gradient

    def _gradient(
        self, vectors: torch.Tensor, learning: torch.Tensor, slopes: torch.Tensor
    ) -> torch.Tensor:
        """Compute the gradient with respect to the vectors, (n, dim), up to a factor.

        learning (Tensor): the rows that learn, (m,). slopes (Tensor): derivatives of the loss with
            respect to their cosines with the memory, (m, n_names).
        """
        gradient = torch.zeros_like(vectors)
        gradient[learning] = slopes @ self._memory.vectors
        return gradient

    def _hide(self, logits: torch.Tensor, ignored: Indices) -> None:
        """Mask the ignored names, in place."""
        logits[ignored] = -torch.inf

    def after_step(self) -> None:
        """Remember the batches."""
        self._memory.after_step()

    def state(self) -> Weights:
        """Get the memory."""
        return self._memory.state()

    def load_state(self, state: Weights) -> None:
        """Put the memory back."""
        self._memory.load_state(state)


def logsumexp_by(values: torch.Tensor, groups: torch.Tensor, count: int) -> torch.Tensor:
    """Compute log(sum(exp(values))) of each group: (count,); -inf of an empty one.

    values (Tensor): (n,). groups (Tensor): number of the group of each value, (n,).
    """
    peak = torch.full((count,), -torch.inf, device=values.device)
    peak = peak.scatter_reduce(0, groups, values, "amax")
    sums = torch.zeros_like(peak).index_add(0, groups, (values - peak[groups]).exp())
    return sums.log() + peak
