"""NameTexts: names of a dictionary that is saved without its knowledge base, in mapped arrays.

name_row.npy                   rows of the names, ascending, uint32
name_start.npy, name_text.npy  where each name begins, uint64, in the UTF-8 bytes of all names
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..types import Array
from .arrays import check, check_offsets, has_array, load_arrays

TextsOf = Callable[[Sequence[int]], Sequence[str]]
"""Gives the texts of name rows."""

_TYPES: dict[str, DTypeLike] = {
    "name_row": np.uint32,
    "name_start": np.uint64,
    "name_text": np.uint8,
}
FIRST_ARRAY = "name_row"
_CHUNK = 16_384
_ERRORS = "surrogatepass"


class NameTexts:
    """Texts of names, by row.

    rows (NDArray[uint32]): (n,), ascending. start (NDArray[uint64]): (n + 1,), where each name
        begins in `text` (NDArray[uint8]).
    """

    def __init__(
        self, rows: NDArray[np.uint32], start: NDArray[np.uint64], text: NDArray[np.uint8]
    ) -> None:
        self._rows, self._start, self._text = rows, start, text

    @classmethod
    def of(cls, rows: NDArray[np.uint32], texts: TextsOf) -> "NameTexts":
        """Read the names of rows; a row may occur several times."""
        rows = np.unique(rows)
        encoded, lengths = bytearray(), [np.zeros(1, dtype=np.uint64)]
        for chunk in _chunks(rows):
            chunk_texts = [text.encode("utf-8", _ERRORS) for text in texts(chunk)]
            encoded += b"".join(chunk_texts)
            lengths.append(np.fromiter(map(len, chunk_texts), dtype=np.uint64))
        start = np.cumsum(np.concatenate(lengths), dtype=np.uint64)
        return cls(rows, start, np.frombuffer(encoded, dtype=np.uint8))

    @classmethod
    def load(cls, directory: Path) -> "NameTexts | None":
        """Map the arrays of a directory; None where there are none.

        RAISES (MedlinkError): E202 when they are damaged.
        """
        if not has_array(directory, FIRST_ARRAY):
            return None
        rows, start, text = load_arrays(directory, **_TYPES)
        check_offsets(directory, "name_start", start, len(text))
        check(directory, "name_start", len(start) == len(rows) + 1, "not as many as names")
        return cls(rows, start, text)

    @property
    def arrays(self) -> dict[str, Array]:
        """The arrays, by their names."""
        return dict(zip(_TYPES, (self._rows, self._start, self._text), strict=True))

    def __call__(self, rows: Sequence[int]) -> list[str]:
        """Get the texts of rows; "", which is no name, for rows without a text."""
        wanted = np.asarray(rows, dtype=np.int64)
        if not len(self._rows):
            return [""] * len(wanted)
        # Of another type, they would make numpy copy all rows. What overflows is not known below.
        own_type = wanted.astype(self._rows.dtype)
        places = np.minimum(np.searchsorted(self._rows, own_type), len(self._rows) - 1)
        has_text = self._rows[places] == wanted
        return [self._one(at) if is_known else "" for at, is_known in zip(
            places.tolist(), has_text.tolist(), strict=True
        )]  # fmt: skip

    def _one(self, at: int) -> str:
        begin, end = int(self._start[at]), int(self._start[at + 1])
        return self._text[begin:end].tobytes().decode("utf-8", _ERRORS)


def _chunks(rows: NDArray[np.uint32]) -> Iterator[list[int]]:
    for start in range(0, len(rows), _CHUNK):
        yield rows[start : start + _CHUNK].tolist()
