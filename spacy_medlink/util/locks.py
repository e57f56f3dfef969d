"""A lock on which a forked child never waits forever."""

import os
import threading
from weakref import WeakSet


class ForkSafeLock:
    """A reentrant lock that is free in a forked child, unless the thread that forked holds it.

    Only the thread that forked continues in the child. A lock that another thread held at that
    moment would never be released there, so the child gets a new lock. The guarded data must be
    consistent at every moment, for example by being set in one step.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _all.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Put a new lock in the place of one that another thread holds."""
        if self._lock.acquire(blocking=False):
            self._lock.release()
        else:
            self._lock = threading.RLock()


_all: WeakSet[ForkSafeLock] = WeakSet()


def _renew_all() -> None:
    for lock in list(_all):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
