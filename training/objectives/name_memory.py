"""NameMemory: a vector of every name, renewed when a name is trained on."""

import numpy as np
import torch

from spacy_medlink.encoders.objectives.mining import Indices
from spacy_medlink.encoders.objectives.protocol import Weights
from spacy_medlink.errors import Errors
from spacy_medlink.types import Floats2d, Ints1d, Ints2d
from spacy_medlink.util.devices import sent

from ..data.names import TrainingNames

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
        self._by_string = np.argsort(names.strings, kind="stable")
        self._sorted_strings = names.strings[self._by_string]
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
        batch = names.cpu().numpy()
        row, other = _places(self._names.concepts, self._names.concepts[batch])
        kept = self._names.trainable[other] & (other != batch[row])
        return self._indices([row[kept], other[kept]])

    def ignored(self, names: torch.Tensor) -> Indices:
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

    def state(self) -> Weights:
        """Get the vectors."""
        return {"memory": self.vectors}

    def load_state(self, state: Weights) -> None:
        """Put the vectors back."""
        self.vectors.copy_(state["memory"])

    def _indices(self, pairs: list[Ints1d]) -> Indices:
        return tuple(sent(part, self.vectors.device) for part in pairs)


def _places(ascending: np.ndarray, wanted: np.ndarray) -> Ints2d:
    """Find all places of values: (2, total), number of the value and place of it."""
    first, last = (np.searchsorted(ascending, wanted, side=side) for side in ("left", "right"))
    counts = last - first
    owner = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.stack([owner, first[owner] + within])
