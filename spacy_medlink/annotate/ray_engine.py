"""The engine over Ray Data: the same parts, linked by the actors of a cluster.

One task reads the input as a stream. Each part is one row, which an actor links and writes into the
directory of parts. On several machines, input, output and assets must lie on a shared file system.
"""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import Errors, MedlinkError
from ..util.extras import missing
from .documents import Document, Done, Part
from .inputs import PartStream
from .worker import Job, PartWorker, check


def run_ray(job: Job, parts: PartStream, n_process: int = 1) -> Iterator[Done]:
    """Link parts on a Ray cluster (that of RAY_ADDRESS, else one on this machine).

    n_process (int): actors, one core each, or one GPU each if the cluster has GPUs and the job
        is not for the CPU.
    RAISES (MedlinkError): E614 without ray; what PartWorker raises.
    """
    check(replace(job, device=None))  # the machine of the caller may have no GPU
    # Do not contact a network unless the user asks for it, and show no errors of a good run.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise missing(error, "`--engine ray`") from error
    from .ray_source import PartSource

    if not ray.is_initialized():
        # The output of workers could quote a note.
        with _silent():
            ray.init(log_to_driver=False, include_dashboard=False, logging_level=logging.ERROR)
    for handler in logging.getLogger("ray.data").handlers:
        if isinstance(handler, logging.StreamHandler):  # its file has everything
            handler.setLevel(logging.CRITICAL)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.target_max_block_size = 1  # one part a block, else small inputs go to a single actor
    gpus: float = ray.cluster_resources().get("GPU", 0)
    job, on_gpu = for_actors(job, gpus)
    # The reader takes no core: the actors may take all cores, and it would wait forever.
    rows = ray.data.read_datasource(PartSource(parts), override_num_blocks=1, num_cpus=0)
    linked = rows.map_batches(
        _Linking,
        fn_constructor_kwargs={"job": job},
        batch_size=1,
        num_cpus=None if on_gpu else 1,
        num_gpus=1 if on_gpu else None,
        compute=ray.data.ActorPoolStrategy(size=n_process),
    )
    try:
        for row in linked.iter_rows():
            yield Done(*(int(row[name]) for name in Done._fields))
    except ray.exceptions.RayError as error:
        raise _own(error) or Errors.process_died(work="linked documents") from error


@contextmanager
def _silent() -> Iterator[None]:
    """Show nothing of what Ray's core writes to the standard error while it starts.

    It tells there, whatever its level, from where it has its level.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as nothing:
            os.dup2(nothing.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def for_actors(job: Job, gpus: float) -> tuple[Job, bool]:
    """Choose the device of actors in a cluster with so many GPUs; tell whether each reserves a GPU.

    An actor sees only the GPU that it reserves, as its first GPU.
    """
    on_gpu = gpus > 0 and job.device != "cpu"
    return replace(job, device="cuda" if on_gpu else "cpu"), on_gpu


class _Linking:
    """The function of an actor: a PartWorker for rows that each hold a part."""

    def __init__(self, job: Job) -> None:
        self._worker = PartWorker(job)

    def __call__(self, rows: dict[str, Any]) -> dict[str, list[int]]:
        import json

        done = [
            self._worker(Part(int(number), [Document(*values) for values in json.loads(documents)]))
            for number, documents in zip(rows["number"], rows["documents"], strict=True)
        ]
        return {name: [getattr(one, name) for one in done] for name in Done._fields}


def _own(error: BaseException | None) -> MedlinkError | None:
    """Find our own error inside Ray's wrappers."""
    while error is not None:
        if isinstance(error, MedlinkError):
            return error
        error = getattr(error, "cause", None) or error.__cause__
    return None
