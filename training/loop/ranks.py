"""Ranks: the processes that train an encoder together, started by torchrun, one for each device.

Each rank encodes its share of a batch, and computes the loss of the whole batch from the vectors
of all ranks. So loss and summed gradients equal those of one process with the joint batch, and a
recipe gives the same training on any number of devices.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

import numpy as np
import torch
import torch.distributed as dist

from spacy_medlink.types import Ints1d
from spacy_medlink.util.devices import CPU, sent

Value = TypeVar("Value")
# The other ranks wait while the first one encodes a large knowledge base to measure.
_PATIENCE = timedelta(hours=12)


class Ranks:
    """The ranks of a training, as seen from one rank.

    rank (int): number of this rank. count (int): number of all ranks. device (torch.device): of
    this rank; exchanged tensors must be on it.
    """

    def __init__(self, rank: int, count: int, device: torch.device) -> None:
        self.rank, self.count, self._device = rank, count, device

    @property
    def is_first(self) -> bool:
        """Whether this rank writes files and speaks to the user."""
        return self.rank == 0

    def shares(self, lengths: Sequence[int]) -> list[Ints1d]:
        """Divide a batch among the ranks, with about equal numbers of short and long names.

        lengths (Sequence[int]): word pieces of each name. RETURNS positions for every rank.
        """
        order = np.argsort(lengths, kind="stable")
        return [order[rank :: self.count] for rank in range(self.count)]

    def joined(self, of_rank: torch.Tensor, shares: Sequence[Ints1d]) -> torch.Tensor:
        """Gather the vectors of all ranks; gradients flow to the vectors of this rank.

        of_rank (Tensor): vectors of this rank's share, (n_own, dim).
        RETURNS (Tensor): vectors of the batch, (n, dim).
        """
        if self.count == 1:
            raise ValueError("one rank has nothing to join")
        most = max(map(len, shares))
        padded = of_rank.new_zeros((most, of_rank.shape[1]))
        padded[: len(of_rank)] = of_rank.detach()
        received = [torch.empty_like(padded) for _ in shares]
        dist.all_gather(received, padded)
        received[self.rank] = of_rank
        parts = [part[: len(share)] for part, share in zip(received, shares, strict=True)]
        back = sent(np.argsort(np.concatenate(shares), kind="stable"), of_rank.device)
        return torch.cat(parts)[back]

    def add_gradients(self, parameters: Sequence[torch.nn.Parameter]) -> None:
        """Replace gradients by their sum over the ranks: the gradient of the joint batch."""
        self._reduce(parameters, 1.0)

    def average_gradients(self, parameters: Sequence[torch.nn.Parameter]) -> None:
        """Replace gradients that each rank computed in full by their mean, to keep ranks equal."""
        self._reduce(parameters, 1.0 / self.count)

    def agree(self, asked: bool, seconds: float) -> tuple[bool, float]:
        """Tell whether any rank was asked to stop, and how long training took on the first."""
        if self.count == 1:
            return asked, seconds
        values = sent(np.array([float(asked), seconds if self.is_first else 0.0]), self._device)
        dist.all_reduce(values)
        return bool(values[0] > 0), float(values[1])

    def from_first(self, make: Callable[[], Value]) -> Value:
        """Compute a value on the first rank, and send it to all."""
        if self.count == 1:
            return make()
        box: list[Any] = [make() if self.is_first else None]
        dist.broadcast_object_list(box, src=0, device=self._device)
        value: Value = box[0]
        return value

    def wait(self) -> None:
        """Wait until all ranks have come this far."""
        if self.count > 1:
            dist.barrier()

    def _reduce(self, parameters: Sequence[torch.nn.Parameter], factor: float) -> None:
        if self.count == 1 or not parameters:
            return
        gradients = [
            torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            for parameter in parameters
        ]
        # One message, not one for each of hundreds of parameters.
        flat = torch.cat([gradient.reshape(-1) for gradient in gradients])
        dist.all_reduce(flat)
        flat *= factor
        start = 0
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = flat[start : start + gradient.numel()].view_as(gradient)
            start += gradient.numel()


ALONE = Ranks(0, 1, CPU)


@contextmanager
def all_ranks(device: torch.device) -> Iterator[Ranks]:
    """Join the other ranks if torchrun started this process; otherwise use a single rank."""
    if int(os.environ.get("WORLD_SIZE", "1")) < 2:
        yield ALONE
        return
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=_PATIENCE)
    try:
        yield Ranks(dist.get_rank(), dist.get_world_size(), device)
    finally:
        dist.destroy_process_group()
