"""A loss over all names of the knowledge base, whose vectors are remembered from step to step."""

import numpy as np
import torch

from spacy_medlink.errors import Errors
from spacy_medlink.types import Floats2d

from .names import TrainingNames
from .objectives import Batch, Choice
from .weights import Weights

_MOST = 2_000_000


class MemoryObjective:
    """Softmax over all names: each name of the batch should be nearest to those of its concept.

        loss = -log(sum over positives exp(s / t) / sum over all exp(s / t))

    with s the cosine to a remembered vector, t the temperature. A batch shows a name a few hundred
    others, hardly one of them confusable; the memory shows it every name that it must be told
    apart from. It starts with the base's vectors; what is encoded for a step replaces its part of
    it (Wu et al. 2018, "Unsupervised feature learning via non-parametric instance discrimination";
    the sum over synonyms is that of BioSyn, Sung et al. 2020). What was not encoded for long lags
    behind, which also ties the encoder to its base.

    Twins (the same string in another concept) count neither for nor against.

    names (TrainingNames): all names. vectors (Floats2d): the base's vectors of them.
    RAISES (MedlinkError): E502 for more names than fit.
    """

    def __init__(
        self, names: TrainingNames, vectors: Floats2d, device: torch.device, *, temperature: float
    ) -> None:
        if len(names) > _MOST:
            rule = f"it remembers all names, at most {_MOST:,}; there are {len(names):,}"
            raise Errors.bad_value(key="objective.loss", value="all_names", rule=rule)
        self._temperature = temperature
        self._memory = torch.tensor(vectors, device=device)
        self._labels = torch.from_numpy(names.concepts).to(device)
        self._strings = torch.from_numpy(names.strings.view(np.int64)).to(device)
        self._trainable = torch.from_numpy(names.trainable).to(device)
        self._waiting: tuple[torch.Tensor, torch.Tensor] | None = None

    def __call__(self, vectors: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, int]:
        """Compute the loss of vectors, (n, dim), and count the positive pairs."""
        similarity = vectors.float() @ self._memory.T / self._temperature
        same = batch.labels[:, None] == self._labels
        twin = batch.strings[:, None] == self._strings
        positive = same & ~twin & self._trainable
        similarity = similarity.masked_fill(twin | (same & ~positive), -torch.inf)
        learns = positive.any(dim=1)
        everything = torch.logsumexp(similarity[learns], dim=1)
        wanted = torch.logsumexp(similarity.masked_fill(~positive, -torch.inf)[learns], dim=1)
        self._waiting = (batch.names, vectors.detach().float())
        return (everything - wanted).sum() / max(1, int(learns.sum())), int(positive.sum())

    def after_step(self) -> None:
        """Remember the batch; not before, as the backward pass needs the old vectors."""
        if self._waiting is not None:
            names, vectors = self._waiting
            self._memory[names] = vectors
            self._waiting = None

    def state(self) -> Weights:
        """Get the memory."""
        return {"memory": self._memory}

    def load_state(self, state: Weights) -> None:
        """Put the memory back."""
        self._memory.copy_(state["memory"])


MEMORY_LOSSES: dict[str, Choice] = {"all_names": Choice(MemoryObjective, {"temperature": 0.05})}
