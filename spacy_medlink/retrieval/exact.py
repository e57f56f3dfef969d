"""ExactIndex: the names whose key equals the mention's, by binary search in mapped arrays."""

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..text import hash_key, key, surface_check
from ..types import Floats2d, Hashes1d, Hits
from .arrays import load_arrays, save_arrays

SAME_STRING = 1.0
SAME_KEY = 0.95
_CASED = np.uint32(1 << 31)
_MAX_ROWS = 64


class ExactIndex:
    """Names by key hash (`text.key`): case, accents, punctuation and plural endings do not count.

    Short upper-case names match only a mention that is cased the same. Arrays, all memory-mapped:
    `hash` (n_keys,) uint64 ascending; `start` (n_keys + 1,) uint32 into the other two; `row`
    (n_names,) uint32 name rows; `check` (n_names,) uint32 (`text.surface_check`).
    """

    def __init__(
        self,
        hash: Hashes1d,
        start: NDArray[np.uint32],
        row: NDArray[np.uint32],
        check: NDArray[np.uint32],
    ) -> None:
        self._hash, self._start, self._row, self._check = hash, start, row, check

    @classmethod
    def build(cls, lookup: Iterable[tuple[int, int]], names: Iterable[str]) -> "ExactIndex":
        """Build from a knowledge base.

        lookup (Iterable): (signed hash, name row), sorted by signed hash (`kb.lookup_table()`).
        names (Iterable[str]): the text of every name, in the order of rows.
        """
        pairs = np.fromiter(lookup, dtype=[("hash", np.int64), ("row", np.int64)])
        check = np.fromiter(map(surface_check, names), dtype=np.uint32)
        rows = pairs["row"]
        # Signed order puts the upper half of the unsigned range first: turn it round once.
        hashes = pairs["hash"].astype(np.uint64)
        turn = int(np.searchsorted(pairs["hash"], 0))
        hashes, rows = np.roll(hashes, -turn), np.roll(rows, -turn)
        distinct, start = np.unique(hashes, return_index=True)
        bounds = np.append(start, len(hashes)).astype(np.uint32)
        return cls(distinct, bounds, rows.astype(np.uint32), check[rows])

    def save(self, directory: Path) -> None:
        """Write the arrays into a directory."""
        arrays: dict[str, NDArray[Any]] = {
            "hash": self._hash,
            "start": self._start,
            "row": self._row,
            "check": self._check,
        }
        save_arrays(directory, arrays)

    @classmethod
    def load(cls, directory: Path) -> "ExactIndex":
        """Map the arrays of a directory.

        RAISES (MedlinkError): E202 when one is missing or damaged.
        """
        return cls(*load_arrays(directory, "hash", "start", "row", "check"))

    def to_bytes(self) -> bytes:
        """Pack the arrays into bytes (an .npz)."""
        buffer = io.BytesIO()
        np.savez(buffer, hash=self._hash, start=self._start, row=self._row, check=self._check)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> "ExactIndex":
        """Unpack what `to_bytes` wrote."""
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return cls(arrays["hash"], arrays["start"], arrays["row"], arrays["check"])

    def find(self, hashes: Hashes1d) -> NDArray[np.int64]:
        """Find keys by hash. RETURNS (n,): position of the key, -1 where there is none."""
        if not len(self._hash):
            return np.full(len(hashes), -1)
        position = np.searchsorted(self._hash, hashes)
        clipped = np.minimum(position, len(self._hash) - 1)
        return np.where(self._hash[clipped] == hashes, clipped, -1)

    def rows_of(self, position: int, text: str) -> list[tuple[int, float]]:
        """List (name row, score) of a key, for the mention as it is written."""
        begin, end = int(self._start[position]), int(self._start[position + 1])
        own = surface_check(text) & ~int(_CASED)
        found = []
        for row, check in zip(
            self._row[begin:end].tolist(), self._check[begin:end].tolist(), strict=True
        ):
            same = (check & ~int(_CASED)) == own
            if same or not check & int(_CASED):
                found.append((row, SAME_STRING if same else SAME_KEY))
        return found

    def search(self, texts: Sequence[str], k: int = _MAX_ROWS) -> Hits:
        """Find the names with the same key: score 1.0 for the same string, else 0.95.

        texts (Sequence[str]): mentions. k (int): at most so many names each.
        RETURNS (Hits): (n_texts, widest), best first, then by row; padded with -1 and -inf.
        """
        hashes = np.fromiter((hash_key(key(text)) for text in texts), dtype=np.uint64)
        found: list[list[tuple[int, float]]] = []
        for text, position in zip(texts, self.find(hashes).tolist(), strict=True):
            rows = self.rows_of(position, text) if position >= 0 else []
            found.append(sorted(rows, key=lambda item: (-item[1], item[0]))[:k])
        width = max(map(len, found), default=0)
        rows_out = np.full((len(found), width), -1, dtype=np.int64)
        scores: Floats2d = np.full((len(found), width), -np.inf, dtype=np.float32)
        for index, items in enumerate(found):
            if items:
                rows_out[index, : len(items)], scores[index, : len(items)] = zip(
                    *items, strict=True
                )
        return Hits(rows_out, scores)
