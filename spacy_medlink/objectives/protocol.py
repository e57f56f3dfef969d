"""What an objective is: the loss of a batch of vectors, made by the name that a recipe gives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import torch

Weights = dict[str, torch.Tensor]
Settings = Mapping[str, float]
Needs = Literal["pairs", "neighbours", "memory", "candidates"]
"""What an objective learns from: the synonyms of a batch; these and their neighbours among all
names; all names, whose vectors it remembers; the candidates of each mention."""


class Batch(NamedTuple):
    """The names of a batch, as tensors of (n,).

    names: positions of training names, ascending. labels: concept rows. strings: equal where names
    are the same string, letter case aside. number (int): of the batch, as the sampler counts them.
    """

    names: torch.Tensor
    labels: torch.Tensor
    strings: torch.Tensor
    number: int = 0


class Objective(Protocol):
    """The loss of a batch of vectors, and what it has to remember from step to step."""

    def __call__(self, vectors: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, int]:
        """Compute the loss of vectors, (n, dim), and count the pairs that it looked at."""
        ...

    def parameters(self) -> list[torch.nn.Parameter]:
        """List what the objective learns itself, beside the encoder."""
        ...

    def after_step(self) -> None:
        """Take note that the weights were changed."""
        ...

    def state(self) -> Weights:
        """Get what a checkpoint must hold."""
        ...

    def load_state(self, state: Weights) -> None:
        """Put back what `state` gave."""
        ...


class Stateless:
    """What an objective that remembers and learns nothing says of itself; to be inherited."""

    def parameters(self) -> list[torch.nn.Parameter]:
        """List nothing."""
        return []

    def after_step(self) -> None:
        """Do nothing: a batch knows nothing of the others."""

    def state(self) -> Weights:
        """Get nothing."""
        return {}

    def load_state(self, state: Weights) -> None:
        """Put nothing back."""


@dataclass(frozen=True)
class Choice:
    """Something that a recipe names: how it is made, its settings, and what it needs."""

    make: Callable[..., Any]
    settings: Settings
    needs: Needs = "pairs"

    def with_settings(self, settings: Settings, *arguments: Any) -> Any:
        """Make it; what is not set has its default."""
        return self.make(*arguments, **{**self.settings, **settings})
