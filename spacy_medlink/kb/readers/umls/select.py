"""Selections of rows, from the bytes of a block before it is split, or row by row."""

from collections.abc import Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

_WIDTH = 16  # bytes: longer than a CUI, shorter than any row
Row = list[str]
Bytes1d = NDArray[np.uint8]
Bars = NDArray[np.int64]
"""Positions of the bars of a block: (n_rows, n_columns)."""


class Select(Protocol):
    """A selection of rows."""

    def block(self, data: Bytes1d, bars: Bars) -> NDArray[np.bool_]:
        """Mark the rows of a block that may be wanted: (n_rows,); may mark more than `row`."""

    def row(self, row: Row) -> bool:
        """Tell whether a row is wanted."""


class AnyOf:
    """The rows that have at least one of some values.

    values (Dict[int, str]): columns (never the first) to values.
    """

    def __init__(self, values: dict[int, str]) -> None:
        self._values = values

    def block(self, data: Bytes1d, bars: Bars) -> NDArray[np.bool_]:
        """Tell which rows of a block are wanted."""
        wanted = np.zeros(len(bars), dtype=np.bool_)
        for column, text in self._values.items():
            starts = bars[:, column - 1] + 1
            rows = np.flatnonzero(bars[:, column] - starts == len(text))
            texts = data[starts[rows][:, None] + np.arange(len(text))]
            wanted[rows] |= (texts == np.frombuffer(text.encode(), np.uint8)).all(axis=1)
        return wanted

    def row(self, row: Row) -> bool:
        """Tell whether a row is wanted."""
        return any(row[column] == text for column, text in self._values.items())


class NoneOf:
    """The rows that have none of some values; arguments as for `AnyOf`."""

    def __init__(self, values: dict[int, str]) -> None:
        self._any = AnyOf(values)

    def block(self, data: Bytes1d, bars: Bars) -> NDArray[np.bool_]:
        """Tell which rows of a block are wanted."""
        return ~self._any.block(data, bars)

    def row(self, row: Row) -> bool:
        """Tell whether a row is wanted."""
        return not self._any.row(row)


class Ids:
    """Rows whose first column is one of some ids (at least one)."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._ids = frozenset(ids)
        raw = [id.encode() for id in self._ids]
        width = min(_WIDTH, *(len(id) for id in raw))
        self._starts = np.unique(np.array([id[:width] for id in raw], dtype=f"S{width}"))

    def block(self, data: Bytes1d, bars: Bars) -> NDArray[np.bool_]:
        """Mark the rows that begin like one of the ids."""
        offsets = row_starts(bars)[:, None] + np.arange(self._starts.itemsize)
        starts = data[np.minimum(offsets, len(data) - 1)].view(self._starts.dtype)[:, 0]
        places = np.minimum(np.searchsorted(self._starts, starts), len(self._starts) - 1)
        chosen: NDArray[np.bool_] = self._starts[places] == starts
        return chosen

    def row(self, row: Row) -> bool:
        """Tell whether a row has one of the ids."""
        return row[0] in self._ids


def row_starts(bars: Bars) -> NDArray[np.int64]:
    """Locate the first bytes of rows: (n_rows,)."""
    return np.concatenate(([0], bars[:-1, -1] + 2))
