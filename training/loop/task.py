"""Task: what a loop trains on what."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import NamedTuple

import torch

from spacy_medlink.objectives.protocol import Objective, Stateless

from .precision import Precision
from .ranks import Ranks


class Pulled(NamedTuple):
    """What a batch gave: its loss, on the device, pairs that were mined, texts that were read."""

    loss: torch.Tensor
    mined: int
    names: int


class Task(ABC):
    """What is trained on what; batches are counted from 0.

    module (Module): changed in place. objective (Objective | Stateless): what of the loss is
    learned or remembered. steps_per_epoch (int): batches in one pass.
    made_with (str): identifies data, recipe and base, so that a checkpoint is not misused.
    batches (Optional[int]): to train on, where that does not go by epochs.
    measured_first (bool): the module counts as it is before the training, too.
    """

    module: torch.nn.Module
    objective: Objective | Stateless
    steps_per_epoch: int
    made_with: str
    batches: int | None = None
    measured_first: bool = False

    @abstractmethod
    def parts(self) -> list[tuple[Iterable[torch.nn.Parameter], float]]:
        """List parts of the module, and how many times the learning rate each of them has."""

    @abstractmethod
    def pull(self, number: int, weight: float, precision: Precision, ranks: Ranks) -> Pulled:
        """Add the gradients of a batch's loss, times a weight.

        RAISES (MedlinkError): E509 out of memory.
        """

    @abstractmethod
    def describe(self, number: int) -> str:
        """Say what is in a batch, for a message."""

    @abstractmethod
    def validate(self) -> dict[str, float]:
        """Measure the module on dev, fast."""
