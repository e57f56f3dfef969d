"""The local engine: parts are linked in this process, or in several processes of this machine."""

import os
import threading
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import get_context, parent_process

from ..errors import Errors
from .documents import Done, Part
from .worker import Job, PartWorker, check

_AHEAD = 2  # parts read in advance for each process

_worker: PartWorker | None = None  # of this process, when it is one of a pool


def run_local(job: Job, parts: Iterable[Part], n_process: int = 1) -> Iterator[Done]:
    """Link parts and yield each when it is written.

    n_process (int): processes; each opens the pipeline by path, so that they share its memory.
    RAISES (MedlinkError): what PartWorker raises, E155 when a process dies.
    """
    if n_process == 1:
        yield from map(PartWorker(job).link, parts)
        return
    # One thread a process, since n processes of n threads each would slow each other down.
    check(job)
    job = replace(job, settings={"n_threads": 1, **job.settings})
    pool = ProcessPoolExecutor(
        n_process, mp_context=get_context("spawn"), initializer=_start, initargs=(job,)
    )
    try:
        yield from _in_pool(pool, parts, n_process * _AHEAD)
    except BrokenProcessPool as error:
        PartWorker(job)  # raises the reason, if the pipeline is at fault
        raise Errors.process_died(work="linked documents") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _in_pool(pool: ProcessPoolExecutor, parts: Iterable[Part], ahead: int) -> Iterator[Done]:
    running: set[Future[Done]] = set()
    for part in parts:
        if len(running) >= ahead:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
        running.add(pool.submit(_link, part))
    while running:
        done, running = wait(running, return_when=FIRST_COMPLETED)
        yield from (future.result() for future in done)


def _start(job: Job) -> None:
    global _worker
    threading.Thread(target=_end_with_parent, daemon=True).start()
    warnings.filterwarnings("ignore", message=r"\[W\d+\]")  # the parent has shown them
    _worker = PartWorker(job)


def _end_with_parent() -> None:
    """Exit when the parent is killed; else a worker of a pool would wait for work forever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _link(part: Part) -> Done:
    assert _worker is not None
    return _worker.link(part)
