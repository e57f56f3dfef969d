"""The protocol of objectives: the loss of a batch of vectors, named in a recipe."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import torch

Weights = dict[str, torch.Tensor]
Settings = Mapping[str, float]
Needs = Literal["pairs", "memory", "candidates"]
"""What an objective learns from: the synonyms of a batch; all names, whose vectors it remembers;
the candidates of each mention."""


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

    def parameters(self) -> list[torch.nn.Parameter]:
        """List what the objective learns itself, beside the encoder."""

    def after_step(self) -> None:
        """React to a change of the weights."""

    def state(self) -> Weights:
        """Return the state for a checkpoint."""

    def load_state(self, state: Weights) -> None:
        """Restore the state that `state` returned."""


class Stateless:
    """Base class of objectives without a state or weights of their own."""

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
    """A choice that a recipe names: how to make it, its settings, and its requirements."""

    make: Callable[..., Any]
    settings: Settings
    needs: Needs = "pairs"

    def with_settings(self, settings: Settings, *arguments: object) -> Any:
        """Make the object; settings that are not given have their defaults."""
        return self.make(*arguments, **{**self.settings, **settings})
