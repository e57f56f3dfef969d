"""A loss over all names of the knowledge base, with vectors remembered from step to step."""

import numpy as np
import torch

from spacy_medlink.encoders.objectives.mining import Indices
from spacy_medlink.encoders.objectives.protocol import Batch, Stateless, Weights
from spacy_medlink.errors import Errors
from spacy_medlink.types import Floats2d, Ints1d, Ints2d
from spacy_medlink.util.devices import sent

from ..data.names import TrainingNames

_MOST = 2_000_000


class MemoryObjective(Stateless):
    """A softmax loss over all names: each name of the batch should be nearest to its synonyms.

        loss = -log(sum over positives exp(s / t) / sum over all exp(s / t))

    with s the cosine to a remembered vector, t the temperature. The sum over synonyms is from
    BioSyn, Sung et al. 2020. Twins (the same string in another concept) are ignored.

    A batch has a few hundred names, and hardly any are confusable with a given name; the memory
    has all names. It starts with the base's vectors, and each step replaces the vectors of its
    names (Wu et al. 2018, "Unsupervised feature learning via non-parametric instance
    discrimination"; Wang et al. 2020, "Cross-batch memory for embedding learning"). Vectors that
    were not replaced for long lag behind, which also ties the encoder to its base.

    names (TrainingNames): all names. vectors (Floats2d): their vectors by the base, (n, dim).
    RAISES (MedlinkError): E502 for more names than fit.
    """

    def __init__(
        self, names: TrainingNames, vectors: Floats2d, device: torch.device, *, temperature: float
    ) -> None:
        if len(names) > _MOST:
            rule = f"it remembers all names, at most {_MOST:,}; there are {len(names):,}"
            raise Errors.bad_value(key="objective", value="memory of names", rule=rule)
        self._names, self._temperature = names, temperature
        self._memory = sent(vectors.copy(), device)
        self._by_string = np.argsort(names.strings, kind="stable")
        self._sorted_strings = names.strings[self._by_string]
        self._waiting: list[tuple[torch.Tensor, torch.Tensor]] = []

    def __call__(self, vectors: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, int]:
        """Compute the loss of vectors, (n, dim), and count the positive pairs."""
        detached = vectors.detach().float()
        # The backward passes of the step need the old vectors.
        self._waiting.append((batch.names, detached))
        rows, synonyms = self._synonyms(batch.names)
        value, gradient = self._loss(detached, rows, synonyms, self._ignored(batch.names))
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
        logits = (vectors @ self._memory.T).div_(self._temperature)
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
        gradient[learning] = slopes @ self._memory
        return gradient

    def _hide(self, logits: torch.Tensor, ignored: Indices) -> None:
        """Mask the ignored names, in place."""
        logits[ignored] = -torch.inf

    def _synonyms(self, names: torch.Tensor) -> Indices:
        """Pair each of some names, positions (n,), with the other trainable names of its concept.

        RETURNS: index into the names, and position of the synonym.
        """
        batch = names.cpu().numpy()
        row, other = _places(self._names.concepts, self._names.concepts[batch])
        kept = self._names.trainable[other] & (other != batch[row])
        return self._indices([row[kept], other[kept]])

    def _ignored(self, names: torch.Tensor) -> Indices:
        """Pair each of some names, positions (n,), with those neither positive nor negative.

        These are the name itself, the same string in other concepts, and the names of its concept
        that are not trainable. RETURNS: index into the names, and position of the ignored name.
        """
        batch = names.cpu().numpy()
        row, other = _places(self._names.concepts, self._names.concepts[batch])
        kept = ~self._names.trainable[other]
        twin_of, twin = _places(self._sorted_strings, self._names.strings[batch])
        pairs = ([row[kept], twin_of], [other[kept], self._by_string[twin]])
        return self._indices(list(map(np.concatenate, pairs)))

    def _indices(self, pairs: list[Ints1d]) -> Indices:
        return tuple(sent(part, self._memory.device) for part in pairs)

    def after_step(self) -> None:
        """Write the vectors of the step's batches to the memory."""
        for names, vectors in self._waiting:
            self._memory[names] = vectors
        self._waiting.clear()

    def state(self) -> Weights:
        """Get the memory."""
        return {"memory": self._memory}

    def load_state(self, state: Weights) -> None:
        """Put the memory back."""
        self._memory.copy_(state["memory"])


def logsumexp_by(values: torch.Tensor, groups: torch.Tensor, count: int) -> torch.Tensor:
    """Compute log(sum(exp(values))) of each group: (count,); -inf of an empty one.

    values (Tensor): (n,). groups (Tensor): number of the group of each value, (n,).
    """
    peak = torch.full((count,), -torch.inf, device=values.device)
    peak = peak.scatter_reduce(0, groups, values, "amax")
    sums = torch.zeros_like(peak).index_add(0, groups, (values - peak[groups]).exp())
    return sums.log() + peak


def _places(ascending: np.ndarray, wanted: np.ndarray) -> Ints2d:
    """Find all places of values: (2, total), number of the value and place of it."""
    first, last = (np.searchsorted(ascending, wanted, side=side) for side in ("left", "right"))
    counts = last - first
    owner = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.stack([owner, first[owner] + within])
