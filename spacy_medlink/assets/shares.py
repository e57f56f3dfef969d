"""Shares: processes started by torchrun encode names together, each its share.

The processes write vectors into the store beside the assets. The first process finds them there
and encodes the missing ones itself. Several machines need a file system that they share.
"""

import os
from collections.abc import Callable
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ..kb import KnowledgeBase
from ..types import Progress
from ..util.progress import no_progress
from . import vectors
from .parts import torch_device

_PATIENCE = timedelta(hours=12)  # the last process may end an hour or more after the first


class Share(NamedTuple):
    """The share of a process: its rank, and how many processes there are."""

    rank: int = 0
    processes: int = 1

    @classmethod
    def of_process(cls) -> "Share":
        """Read the variables of torchrun; 0 of 1 if it did not start this process.

        RANK and WORLD_SIZE alone do not count, since schedulers of clusters set them too: a build
        would wait for processes that do not exist.
        """
        if "TORCHELASTIC_RUN_ID" not in os.environ:
            return cls()
        return cls(int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1")))

    @property
    def is_first(self) -> bool:
        """Whether this process builds; the others only encode."""
        return self.rank == 0


def encode_together(
    names: vectors.NameVectors,
    progress: Progress = no_progress,
    share: Share | None = None,
    wait: Callable[[], None] | None = None,
) -> None:
    """Encode the share of this process, keep the vectors, and wait for the other processes.

    A single process does nothing. share, wait: by default from torchrun.
    """
    share = share or Share.of_process()
    if share.processes == 1 or names.store is None:
        return
    chunks = islice(names.chunks(), share.rank, None, share.processes)
    for _ in progress(names.made(chunks), None, f"encoding one share of {share.processes}"):
        pass
    (wait or _wait_for_all)()
    names.store.open()


def encode_share(
    out: Path, kb: Path, encoder: str | Path, pooling: str | None = None, device: str = "cpu"
) -> None:
    """Do the work of a process that is not the first: encode its share of the names of a build.

    RAISES (MedlinkError): E101-E103 for the knowledge base, E205-E208 for the encoder, E508 for an
        unknown device.
    """
    from ..encoders.bi_encoder import BiEncoder

    knowledge = KnowledgeBase(kb)
    if knowledge.n_names < vectors.WORTH_KEEPING:  # the first process encodes alone, nobody waits
        return
    loaded = BiEncoder.load(str(encoder), pooling, device=torch_device(device))
    names = vectors.NameVectors(loaded, knowledge)
    names.store = vectors.store_beside(out, loaded)
    encode_together(names)


def _wait_for_all() -> None:
    """Wait until every process has reached this point."""
    import torch.distributed as dist

    dist.init_process_group("gloo", timeout=_PATIENCE)
    try:
        dist.barrier()
    finally:
        dist.destroy_process_group()
