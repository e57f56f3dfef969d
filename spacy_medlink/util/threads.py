"""Threads: the number that one call of the linker may use, and a cap on it."""

import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import parent_process
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Part = TypeVar("Part")

_here = threading.local()  # `cap`: as OpenMP does, the number is kept for each calling thread
# OpenMP's threads do not survive a fork: a forked child has only one thread.
_forked = threading.Event()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked.set)


def threads() -> int:
    """Return the number of threads for a call from this thread: OpenMP's number, or the cap.

    RETURNS (int): 1 in a child process, so that children do not crowd each other out.
    """
    if _forked.is_set() or parent_process() is not None:
        return 1
    return min(_all(), getattr(_here, "cap", sys.maxsize))


def cap_threads(most: int) -> None:
    """Cap the threads of torch, OpenMP (faiss too) and BLAS, for calls from this thread.

    The cap is only ever lowered. In a forked child it is 1, because the parent's threads do not
    exist there and waiting for them would never end.
    """
    _here.cap = min(most, getattr(_here, "cap", most))
    torch = sys.modules.get("torch")  # only what the tiers have loaded
    if torch is not None and torch.get_num_threads() > most:
        torch.set_num_threads(most)
    for library in ThreadpoolController().lib_controllers:
        if library.num_threads > most:
            library.set_num_threads(most)


def side_by_side(
    run: Callable[[Part], None], parts: Sequence[Part], workers: int, each: int = 1
) -> None:
    """Run a function over parts in several threads, where torch computes with `each` threads.

    Torch's own threads wait for each other after every operation. Where other processes keep one
    core busy, all the others wait for it: encoding took seven times the processor time.

    run (Callable): must be safe to call from threads. workers (int): most threads; with one, or a
        single part, everything runs in the calling thread as it is.
    """
    workers = min(workers, len(parts))
    if workers < 2:
        list(map(run, parts))
        return
    with ThreadPoolExecutor(workers, initializer=_use, initargs=(each,)) as pool:
        list(pool.map(run, parts))
    if torch := sys.modules.get("torch"):
        # Threads that start later take the number that was set last, in whatever thread.
        torch.set_num_threads(torch.get_num_threads())


def _use(count: int) -> None:
    if torch := sys.modules.get("torch"):
        torch.get_num_threads()  # the first call in a thread sets the number of all threads
        torch.set_num_threads(count)


def _all() -> int:
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdigit() and int(given):
        return int(given)
    # Not every system tells which processors a process may use.
    processors = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    return len(processors) or os.cpu_count() or 1
