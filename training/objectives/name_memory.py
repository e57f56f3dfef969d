"""NameMemory: a vector of every name, renewed when a name is trained on."""

import numpy as np
import torch

from spacy_medlink.encoders.objectives.mining import Indices
from spacy_medlink.encoders.objectives.protocol import Weights
from spacy_medlink.errors import Errors
from spacy_medlink.types import Floats2d
from spacy_medlink.util.devices import sent

from ..data.names import TrainingNames
from ..data.synonyms import SynonymTable

_MOST = 2_000_000


class NameMemory:
    """A memory of the vectors of all names, from step to step.

    A batch has a few hundred names, and hardly any are confusable with a given name; the memory
    has all names. It starts with the base's vectors, and each step replaces the vectors of its
    names (Wu et al. 2018, "Unsupervised feature learning via non-parametric instance
    discrimination"; Wang et al. 2020, "Cross-batch memory for embedding learning"). Vectors that
    were not replaced for long lag behind, which also ties the encoder to its base.

    names (TrainingNames): all names. vectors (Floats2d): their vectors by the base, (n, dim).
    RAISES (MedlinkError): E502 for more names than fit.
    """

    def __init__(self, names: TrainingNames, vectors: Floats2d, device: torch.device) -> None:
        if len(names) > _MOST:
            rule = f"it remembers all names, at most {_MOST:,}; there are {len(names):,}"
            raise Errors.bad_value(key="objective", value="memory of names", rule=rule)
        self.vectors = sent(vectors.copy(), device)
        self._names = names
        self._table = SynonymTable(names)
        self._waiting: list[tuple[torch.Tensor, torch.Tensor]] = []

    def note(self, names: torch.Tensor, vectors: torch.Tensor) -> None:
        """Keep the vectors of a batch until `after_step`: the backward pass needs the old ones."""
        self._waiting.append((names, vectors.detach().float()))

    def after_step(self) -> None:
        """Write the noted vectors to the memory."""
        for names, vectors in self._waiting:
            self.vectors[names] = vectors
        self._waiting.clear()

    def synonyms(self, names: torch.Tensor) -> Indices:
        """Pair each of some names, positions (n,), with the other trainable names of its concept.

        RETURNS: index into the names, and position of the synonym.
        """
        return self._indices(self._table.synonyms(names.cpu().numpy()))

    def ignored(self, names: torch.Tensor) -> Indices:
        """Pair each of some names, positions (n,), with the names that its loss ignores.

        RETURNS: index into the names, and position of the ignored name; see SynonymTable.
        """
        return self._indices(self._table.ignored(names.cpu().numpy()))

    def state(self) -> Weights:
        """Get the vectors."""
        return {"memory": self.vectors}

    def load_state(self, state: Weights) -> None:
        """Put the vectors back."""
        self.vectors.copy_(state["memory"])

    def _indices(self, pairs: np.ndarray) -> Indices:
        return tuple(self._tensor(row) for row in pairs)

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return sent(values, self.vectors.device)
