"""The local engine: parts are linked in this process, or in several processes of this machine."""

import os
import threading
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import chain, count, islice
from multiprocessing import get_context, parent_process
from typing import TYPE_CHECKING

from ..errors import Errors
from .documents import Done, Part
from .worker import Job, PartWorker, check

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

_AHEAD = 2  # parts read in advance for each process

_LOOK = 0.2  # seconds between two looks at how many documents are linked

# Of this process, when it is one of a pool: its linker, and the documents that the pool has linked.
_worker: PartWorker | None = None
_linked: "Synchronized[int] | None" = None


def run_local(job: Job, parts: Iterable[Part], n_process: int = 1) -> Iterator[Done | int]:
    """Link parts and yield each when it is written, and meanwhile how many documents are linked.

    n_process (int): processes; each opens the pipeline by path, so that they share its memory.
    RAISES (MedlinkError): what PartWorker raises, E155 when a process dies.
    """
    if n_process == 1:
        steps = chain.from_iterable(map(PartWorker(job).steps, parts))
        number = count(1)
        yield from (next(number) if step is None else step for step in steps)
        return
    # One thread a process, since n processes of n threads each would slow each other down.
    check(job)
    job = replace(job, settings={"n_threads": 1, **job.settings})
    context = get_context("spawn")
    linked = context.Value("q", 0)
    pool = ProcessPoolExecutor(
        n_process, mp_context=context, initializer=_start, initargs=(job, linked)
    )
    try:
        yield from _in_pool(pool, parts, n_process * _AHEAD, linked)
    except BrokenProcessPool as error:
        PartWorker(job)  # raises the reason, if the pipeline is at fault
        raise Errors.process_died(work="linked documents") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _in_pool(
    pool: ProcessPoolExecutor, parts: Iterable[Part], ahead: int, linked: "Synchronized[int]"
) -> Iterator[Done | int]:
    running, parts = set[Future[Done]](), iter(parts)
    while True:
        running |= {pool.submit(_link, part) for part in islice(parts, ahead - len(running))}
        if not running:
            return
        done, running = wait(running, timeout=_LOOK, return_when=FIRST_COMPLETED)
        yield linked.value
        yield from (future.result() for future in done)


def _start(job: Job, linked: "Synchronized[int]") -> None:
    global _worker, _linked
    _linked = linked
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
    assert _worker is not None and _linked is not None
    steps = _worker.steps(part)
    while (done := next(steps)) is None:
        with _linked.get_lock():
            _linked.value += 1
    return done
