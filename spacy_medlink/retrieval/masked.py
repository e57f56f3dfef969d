"""MaskedParts: the parts of an index for the most recently used masks."""

from collections.abc import Callable
from typing import Generic, TypeVar

from ..util.locks import ForkSafeLock
from .mask import Mask

Part = TypeVar("Part")


class MaskedParts(Generic[Part]):
    """Parts of an index by mask; the most recently used are kept.

    room (int): the total size of the kept parts; a single part may be larger.
    size_of (Callable): the size of a part.
    """

    def __init__(self, room: int, size_of: Callable[[Part], int]) -> None:
        self._room, self._size_of = room, size_of
        self._parts: list[tuple[Mask, Part]] = []  # the most recently used last
        self._lock = ForkSafeLock()

    def get(self, mask: Mask, make: Callable[[Mask], Part]) -> Part:
        """Get the part of a mask; make it if it is not kept."""
        with self._lock:
            kept = next((one for one in self._parts if one[0] is mask), None)
            if kept is None:
                kept = mask, make(mask)
            else:
                self._parts.remove(kept)
            self._parts.append(kept)
            while len(self._parts) > 1 and sum(map(self._size, self._parts)) > self._room:
                del self._parts[0]
        return kept[1]

    def _size(self, kept: tuple[Mask, Part]) -> int:
        return self._size_of(kept[1])
