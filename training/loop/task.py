"""Task: a module to train, with its data and loss."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch

from spacy_medlink.encoders.objectives.protocol import Objective, Stateless

from .precision import Precision
from .ranks import Ranks


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
