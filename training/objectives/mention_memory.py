"""The loss over all names, for mentions: they are told apart from names, never from each other."""

import numpy as np
import torch

from spacy_medlink.types import Floats2d

from ..data.mentions import NamesAndMentions
from .memory import MemoryObjective
from .mining import Indices


class MentionMemoryObjective(MemoryObjective):
    """Softmax over all names; each mention of the batch should be nearest to those of its concept.

    As MemoryObjective, and the synonym marginalisation of BioSyn (Sung et al. 2020, equation 5)
    over all names instead of 20 candidates, so that candidates need not be retrieved anew each
    epoch: names that come near later are in the sum from the start.

    names (NamesAndMentions): mentions among names. vectors (Floats2d): the base's vectors of the
    names alone, (n_names, dim).
    """

    def __init__(
        self,
        names: NamesAndMentions,
        vectors: Floats2d,
        device: torch.device,
        *,
        temperature: float,
    ) -> None:
        memory = np.zeros((len(names), vectors.shape[1]), dtype=np.float32)
        memory[~names.is_mention] = vectors
        super().__init__(names, memory, device, temperature=temperature)
        self._mentions = torch.from_numpy(np.flatnonzero(names.is_mention)).to(device)

    def _hide(self, logits: torch.Tensor, ignored: Indices) -> None:
        super()._hide(logits, ignored)
        logits[:, self._mentions] = -torch.inf
