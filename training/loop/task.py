"""Tasks: a module to train, with its data and loss; that of an encoder learns from names."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.objectives.protocol import Batch, Objective, Stateless
from spacy_medlink.errors import Errors
from spacy_medlink.types import Ints1d
from spacy_medlink.util.devices import is_out_of_memory, sent

from ..data.names import TrainingNames
from ..data.sampler import Sampler
from ..recipe.settings import TrainingSettings
from .encoding import encode_batch
from .precision import Precision, backward
from .ranks import Ranks

Validate = Callable[[BiEncoder], dict[str, float]]


class Pulled(NamedTuple):
    """The result of a batch: its loss (on the device), mined pairs, encoded texts."""

    loss: torch.Tensor
    mined: int
    names: int


class Task(ABC):
    """A module to train, with its data and loss; batches are counted from 0.

    module (Module): changed in place. objective (Objective | Stateless): the learned or
    remembered parts of the loss. steps_per_epoch (int): batches in one pass.
    made_with (str): identifies data, recipe and base, to match a checkpoint.
    """

    module: torch.nn.Module
    objective: Objective | Stateless
    steps_per_epoch: int
    made_with: str

    def head(self) -> list[torch.nn.Parameter]:
        """List the weights of the module that start from nothing, and learn as the objective's."""
        return []

    @abstractmethod
    def pull(self, batch_number: int, weight: float, precision: Precision, ranks: Ranks) -> Pulled:
        """Add the gradients of a batch's loss, times a weight.

        RAISES (MedlinkError): E509 out of memory.
        """

    @abstractmethod
    def describe(self, batch_number: int) -> str:
        """Describe a batch, for a message."""

    @abstractmethod
    def validate(self) -> dict[str, float]:
        """Measure the module on dev, fast."""


class NameTask(Task):
    """An encoder, the names that it learns from, and the objective.

    names (TrainingNames): batches are positions in them. settings (TrainingSettings): how a batch
    is divided. validate (Callable): measures an encoder on dev, fast. For the rest see `Task`.
    """

    def __init__(
        self,
        encoder: BiEncoder,
        names: TrainingNames,
        sampler: Sampler,
        objective: Objective,
        settings: TrainingSettings,
        validate: Validate,
        made_with: str,
    ) -> None:
        self.encoder, self.names, self.sampler = encoder, names, sampler
        self.module, self.steps_per_epoch = encoder.module, sampler.steps_per_epoch
        self.objective: Objective = objective
        self.made_with = made_with
        self._settings, self._validate = settings, validate

    def pull(self, batch_number: int, weight: float, precision: Precision, ranks: Ranks) -> Pulled:
        """Add the gradients of a batch's loss, times a weight.

        ranks (Ranks): share the batch. RAISES (MedlinkError): E509 out of memory.
        """
        names = self.sampler.batch(batch_number)
        try:
            vectors = self._encode(names, precision, ranks)
            loss, mined = self.objective(vectors, self._batch(names, batch_number))
            return Pulled(backward(loss * weight), mined, len(names))
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            half = max(1, len(names) // 4)  # pairs
            raise Errors.out_of_memory(names=len(names), fewer=half) from error

    def describe(self, batch_number: int) -> str:
        """Describe the names of a batch."""
        rows = self.names.rows[self.sampler.batch(batch_number)[:5]]
        return f"the name rows {', '.join(map(str, rows))} ..."

    def validate(self) -> dict[str, float]:
        """Measure the encoder on dev, fast."""
        return self._validate(self.encoder)

    def _encode(self, names: Ints1d, precision: Precision, ranks: Ranks) -> torch.Tensor:
        pieces = self.encoder.tokenize(self.names.texts_at(names))
        return encode_batch(self.encoder, pieces, self._settings, precision, ranks)

    def _batch(self, names: Ints1d, batch_number: int) -> Batch:
        names_of = self.names
        columns = (names, names_of.concepts[names], names_of.strings[names].view(np.int64))
        positions, labels, strings = sent(np.stack(columns), self.encoder.device)
        return Batch(positions, labels, strings, batch_number)
