"""Mask: a set of name rows, one bit each; MaskedParts: the parts of an index for some masks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..util.locks import ForkSafeLock

Part = TypeVar("Part")


@dataclass(frozen=True, eq=False)
class Mask:
    """The names that may be answers.

    bits (NDArray[uint8]): bit i % 8 of byte i // 8 is set if name row i may be an answer, the
        layout of faiss. size (int): number of names.
    """

    bits: NDArray[np.uint8]
    size: int

    @classmethod
    def of(cls, allowed: NDArray[np.bool_]) -> "Mask":
        """Pack truth values, (n_names,)."""
        return cls(np.packbits(allowed, bitorder="little"), len(allowed))

    @classmethod
    def without(cls, rows: Sequence[int], size: int) -> "Mask":
        """Allow all names but those of some rows."""
        allowed = np.ones(size, dtype=np.bool_)
        allowed[list(rows)] = False
        return cls.of(allowed)

    @classmethod
    def all_of(cls, masks: Sequence["Mask"]) -> "Mask":
        """Intersect masks: a name must pass every one."""
        return cls(np.bitwise_and.reduce([mask.bits for mask in masks]), masks[0].size)

    @cached_property
    def count(self) -> int:
        """Number of names that may be answers."""
        return int(np.bitwise_count(self.bits).sum())

    def rows(self) -> NDArray[np.int64]:
        """List the rows of these names, ascending."""
        return np.flatnonzero(np.unpackbits(self.bits, count=self.size, bitorder="little"))

    def __contains__(self, row: int) -> bool:
        """Tell whether one row may be an answer, without making an array."""
        return bool(self._bytes[row >> 3] >> (row & 7) & 1)

    @cached_property
    def _bytes(self) -> memoryview:
        return self.bits.data

    def passes(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which rows may be answers; -1 is none. RETURNS (NDArray): shape of `rows`."""
        if not self.size:
            return np.zeros(rows.shape, dtype=np.bool_)
        safe = np.maximum(rows, 0)
        bits = self.bits[safe >> 3] >> (safe & 7).astype(np.uint8) & 1
        passing: NDArray[np.bool_] = bits.astype(np.bool_) & (rows >= 0)
        return passing


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
            kept = next((entry for entry in self._parts if entry[0] is mask), None)
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
