"""The engine over Ray: the same parts, linked by the actors of a cluster.

This process reads the input as a stream. Each part goes to an actor, which links it and writes it
into the directory of parts. On several machines, output and assets must lie on a shared disk.
"""

import logging
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ..errors import Errors, MedlinkError
from ..util.extras import missing
from .documents import Done, Part
from .worker import Job, PartWorker, check


def run_ray(job: Job, parts: Iterable[Part], n_process: int = 1) -> Iterator[Done]:
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
        from ray.util import ActorPool
    except ImportError as error:
        raise missing(error, "`--engine ray`") from error

    if not ray.is_initialized():
        # The output of workers could quote a note.
        with _silent():
            ray.init(log_to_driver=False, include_dashboard=False, logging_level=logging.ERROR)
    job, on_gpu = for_actors(job, ray.cluster_resources().get("GPU", 0))
    actor = ray.remote(num_cpus=0 if on_gpu else 1, num_gpus=int(on_gpu))(PartWorker)
    pool = ActorPool([actor.remote(job) for _ in range(n_process)])
    try:
        for part in parts:
            if not pool.has_free():
                yield pool.get_next_unordered()
            pool.submit(lambda worker, part: worker.link.remote(part), part)
        while pool.has_next():
            yield pool.get_next_unordered()
    except ray.exceptions.RayError as error:
        raise _medlink_error(error) or Errors.process_died(work="linked documents") from error


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


def _medlink_error(error: BaseException | None) -> MedlinkError | None:
    """Find our own error inside Ray's wrappers."""
    while error is not None:
        if isinstance(error, MedlinkError):
            return error
        error = getattr(error, "cause", None) or error.__cause__
    return None
