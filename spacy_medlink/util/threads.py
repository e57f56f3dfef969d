"""Threads: the number that one call of the linker may use, and a cap on it."""

import os
import sys
import threading
from multiprocessing import parent_process

from threadpoolctl import ThreadpoolController

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


def cap_threads(number: int) -> None:
    """Cap the threads of torch, OpenMP (faiss too) and BLAS, for calls from this thread.

    The cap is only ever lowered. In a forked child it is 1, because the parent's threads do not
    exist there and waiting for them would never end.
    """
    _here.cap = min(number, getattr(_here, "cap", number))
    torch = sys.modules.get("torch")  # only what the tiers have loaded
    if torch is not None and torch.get_num_threads() > number:
        torch.set_num_threads(number)
    for library in ThreadpoolController().lib_controllers:
        if library.num_threads > number:
            library.set_num_threads(number)


def _all() -> int:
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdigit() and int(given):
        return int(given)
    # Not every system tells which processors a process may use.
    own = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    return len(own) or os.cpu_count() or 1
