"""A lock on which a forked child never waits forever, and a bounded cache that uses it."""

import os
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar
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


Key = TypeVar("Key")
Value = TypeVar("Value")


class Lru(Generic[Key, Value]):
    """A mapping that drops the least recently used value when it is full.

    size (int): the number of values that are kept.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._items: OrderedDict[Key, Value] = OrderedDict()
        self._lock = ForkSafeLock()

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: Key) -> Value | None:
        """Get a value, None where it is not kept."""
        return self.get_all([key])[0]

    def get_all(self, keys: Sequence[Key]) -> list[Value | None]:
        """Get values, None for each that is not kept."""
        values = []
        with self._lock:
            for key in keys:
                values.append(value := self._items.get(key))
                if value is not None:
                    self._items.move_to_end(key)
        return values

    def put(self, key: Key, value: Value) -> None:
        """Keep a value."""
        self.put_all({key: value})

    def put_all(self, values: Mapping[Key, Value]) -> None:
        """Keep values."""
        with self._lock:
            for key, value in values.items():
                self._items[key] = value
                self._items.move_to_end(key)
                if len(self._items) > self._size:
                    self._items.popitem(last=False)

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            self._items.clear()
