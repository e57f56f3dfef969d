"""Dropout, for the time of a training step."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


def set_dropout(module: torch.nn.Module, rate: float) -> None:
    """Set the share of numbers that are left out in training, 0..1, in all parts of a module."""
    for part in module.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = rate
        if hasattr(part, "dropout_prob"):  # kept as a number by attention that is fused
            part.dropout_prob = rate  # type: ignore[assignment]  # torch expects tensors


@contextmanager
def dropping(module: torch.nn.Module, rate: float) -> Iterator[None]:
    """Run a module with dropout while the block lasts; it is pinned to evaluation otherwise."""
    if not rate:
        yield
        return
    set_dropout(module, rate)
    module.train()
    try:
        yield
    finally:
        module.eval()
