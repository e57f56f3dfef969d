"""Lru: the most recently used values, bounded, for any number of threads."""

from collections import OrderedDict
from typing import Generic, TypeVar

from .locks import ForkSafeLock

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
        with self._lock:
            value = self._items.get(key)
            if value is not None:
                self._items.move_to_end(key)
            return value

    def put(self, key: Key, value: Value) -> None:
        """Keep a value."""
        with self._lock:
            self._items[key] = value
            self._items.move_to_end(key)
            if len(self._items) > self._size:
                self._items.popitem(last=False)

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._items.clear()
