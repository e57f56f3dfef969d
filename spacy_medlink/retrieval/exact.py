"""ExactIndex: the names whose key equals the mention's, found by its hash in mapped arrays."""

import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..hashes import positions
from ..text import hash_keys, key, surface_check
from ..types import Hashes1d, Hits
from .arrays import load_arrays, save_arrays
from .mask import Mask

SAME_STRING = 1.0
SAME_KEY = 0.95
_CASED = np.uint32(1 << 31)
_MAX_ROWS = 64
_PROBES = 100
_PAIR = np.dtype([("hash", np.int64), ("row", np.uint32)])


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
        """Build from a knowledge base, with 40 bytes a name at most.

        lookup (Iterable): (signed hash, name row), sorted by signed hash (`kb.lookup_table()`).
        names (Iterable[str]): the text of every name, in the order of rows.
        """
        pairs = np.fromiter(lookup, dtype=_PAIR)
        # Signed order puts the upper half of the unsigned range first: turn it round once.
        turn = int(np.searchsorted(pairs["hash"], 0))
        hashes = np.roll(pairs["hash"], -turn).view(np.uint64)
        rows = np.roll(pairs["row"], -turn)
        del pairs
        is_new = np.ones(len(hashes), dtype=np.bool_)
        np.not_equal(hashes[1:], hashes[:-1], out=is_new[1:])
        start = np.append(np.flatnonzero(is_new), len(hashes)).astype(np.uint32)
        hashes = hashes[is_new]
        check = np.fromiter(map(surface_check, names), dtype=np.uint32)
        return cls(hashes, start, rows, check[rows])

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
        return positions(self._hash, hashes)

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

    def names_at(self, position: int) -> list[int]:
        """List the rows of the names with a key, however the mention is cased."""
        own: list[int] = self._row[
            int(self._start[position]) : int(self._start[position + 1])
        ].tolist()
        return own

    @property
    def rows(self) -> NDArray[np.uint32]:
        """Rows of the names that it has, one or more times each."""
        return self._row

    def is_of(self, text_at: Callable[[int], str], n_names: int) -> bool:
        """Tell whether these are the names that it was built from, by a few of them.

        text_at (Callable[[int], str]): the text of a name by its row. n_names (int): of the names.
        """
        step = max(1, len(self._row) // _PROBES)
        probes = zip(self._row[::step].tolist(), self._check[::step].tolist(), strict=True)
        return all(row < n_names and surface_check(text_at(row)) == check for row, check in probes)

    def search(self, texts: Sequence[str], k: int = _MAX_ROWS, mask: Mask | None = None) -> Hits:
        """Find the names with the same key: score 1.0 for the same string, else 0.95.

        texts (Sequence[str]): mentions. k (int): at most so many names each.
        mask (Optional[Mask]): the names that may be answers; None for all.
        RETURNS (Hits): (n_texts, widest), best first, then by row; padded with -1 and -inf.
        """
        position = self.find(hash_keys(map(key, texts)))
        begin = np.where(position >= 0, self._start[position], 0).astype(np.int64)
        count = np.where(position >= 0, self._start[position + 1], 0) - begin
        # One entry for each name of each text: `text` is the number of the text it belongs to.
        text = np.repeat(np.arange(len(texts)), count)
        entry = np.arange(len(text)) + np.repeat(begin - (np.cumsum(count) - count), count)
        row, check = self._row[entry].astype(np.int64), self._check[entry]
        own = np.fromiter(map(surface_check, texts), dtype=np.uint32, count=len(texts))
        same = (check | _CASED) == (own[text] | _CASED)
        order = np.lexsort((row, ~same, text))
        allowed = same | (check < _CASED)
        if mask is not None:
            allowed &= mask.passes(row)
        order = order[allowed[order]]
        return _padded(text[order], row[order], same[order], len(texts), k)


def _padded(
    text: NDArray[np.int64], row: NDArray[np.int64], same: NDArray[np.bool_], n_texts: int, k: int
) -> Hits:
    """Lay out what was found, sorted by text, in a rectangle of at most k columns."""
    count = np.bincount(text, minlength=n_texts)
    column = np.arange(len(text)) - np.repeat(np.cumsum(count) - count, count)
    kept = column < k
    text, column = text[kept], column[kept]
    shape = (n_texts, int(column.max(initial=-1)) + 1)
    rows = np.full(shape, -1, dtype=np.int64)
    scores = np.full(shape, -np.inf, dtype=np.float32)
    rows[text, column] = row[kept]
    scores[text, column] = np.where(same[kept], SAME_STRING, SAME_KEY)
    return Hits(rows, scores)
