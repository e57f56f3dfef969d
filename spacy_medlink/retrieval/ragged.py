"""Ragged: lists of different lengths, stored end to end in one array."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..types import Array, Floats1d, Ints1d
from .arrays import check, check_below, check_offsets, load_arrays, save_arrays

_LONG = 128  # items of a run that is copied by itself


class Ragged(NamedTuple):
    """n lists of whole numbers.

    offsets (NDArray): (n + 1,), where each list begins and ends. items (NDArray[int32]): the items
    of all lists. weights (Optional[Floats1d]): one for each item.
    """

    offsets: Array
    items: NDArray[np.int32]
    weights: Floats1d | None = None

    def __len__(self) -> int:
        """Count the lists."""
        return len(self.offsets) - 1

    def lengths(self, lists: Array) -> Ints1d:
        """Count the items of some lists, (len(lists),)."""
        lengths: Ints1d = (self.offsets[lists + 1] - self.offsets[lists]).astype(np.int64)
        return lengths

    def places(self, lists: Array) -> tuple[Ints1d, Ints1d]:
        """Find the items of some lists: their positions, list by list, and the lists' lengths."""
        lengths = self.lengths(lists)
        return spread(self.offsets[lists], lengths), lengths

    def transposed(self, width: int) -> "Ragged":
        """List for each item the lists that hold it, ascending; all items are below `width`."""
        from scipy import sparse

        weights = np.ones(len(self.items), np.int8) if self.weights is None else self.weights
        matrix = sparse.csr_matrix((len(self), width), dtype=weights.dtype)
        # Assigned, because the constructor would check and copy the arrays.
        matrix.data, matrix.indices, matrix.indptr = weights, self.items, self.offsets
        turned = matrix.tocsc()
        return Ragged(turned.indptr, turned.indices, None if self.weights is None else turned.data)

    def taken(self, lists: Array, chunk: int) -> "Ragged":
        """Take some lists in order, without weights; `chunk` lists at once to spare memory."""
        lengths = self.lengths(lists)
        offsets = offsets_of(lengths)
        items = np.empty(int(offsets[-1]), dtype=np.int32)
        for first in range(0, len(lists), chunk):
            places, _ = self.places(lists[first : first + chunk])
            items[offsets[first] : offsets[first] + len(places)] = self.items[places]
        return Ragged(offsets, items)

    def save(self, directory: Path, name: str) -> None:
        """Write the arrays into a directory."""
        parts = {part: array for part, array in self._asdict().items() if array is not None}
        save_arrays(directory, {f"{name}_{part}": array for part, array in parts.items()})

    @classmethod
    def load(
        cls, directory: Path, name: str, n_lists: int, width: int, weighted: bool = False
    ) -> "Ragged":
        """Map the arrays of a directory.

        RAISES (MedlinkError): E202 when one is missing or damaged, there are not `n_lists` lists,
            or an item is not below `width`.
        """
        offsets_file, items_file = f"{name}_offsets", f"{name}_items"
        offsets, items = load_arrays(directory, **{offsets_file: object, items_file: np.int32})
        is_right = offsets.dtype in (np.dtype(np.int32), np.dtype(np.int64))
        check(directory, offsets_file, is_right, f"{offsets.dtype}, expected int32 or int64")
        check(directory, offsets_file, len(offsets) == n_lists + 1, f"not {n_lists} lists")
        check_offsets(directory, offsets_file, offsets, len(items))
        check_below(directory, items_file, items, width)
        if not weighted:
            return cls(offsets, items)
        (weights,) = load_arrays(directory, **{f"{name}_weights": np.float32})
        check(directory, f"{name}_weights", len(weights) == len(items), "not as many as items")
        is_right = bool(np.isfinite(weights).all()) and bool((weights >= 0).all())
        check(directory, f"{name}_weights", is_right, "a weight is not finite, or below 0")
        return cls(offsets, items, weights)


def spread(starts: Array, lengths: Ints1d) -> Ints1d:
    """List the places of runs that begin at `starts`, run after run."""
    ends = np.cumsum(lengths)
    count = int(ends[-1]) if len(ends) else 0
    places: Ints1d = np.arange(count) + np.repeat(starts - (ends - lengths), lengths)
    return places


def taken(items: Array, starts: Array, lengths: Ints1d) -> Array:
    """Take runs of items that begin at `starts`, run after run."""
    is_long = lengths > _LONG
    result: Array = np.empty(int(lengths.sum()), dtype=items.dtype)
    begins = np.cumsum(lengths) - lengths
    # Short runs are taken together; a long one is faster copied by itself.
    for start, length, begin in zip(
        starts[is_long].tolist(), lengths[is_long].tolist(), begins[is_long].tolist(), strict=True
    ):
        result[begin : begin + length] = items[start : start + length]
    short = lengths[~is_long]
    result[spread(begins[~is_long], short)] = items[spread(starts[~is_long], short)]
    return result


def sums(values: Array, lengths: Ints1d, dtype: DTypeLike = np.float64) -> Array:
    """Add up runs of values that lie end to end: (len(lengths),); 0 for an empty run."""
    ends = np.cumsum(lengths)
    # The last one stands before the first.
    totals = np.append(np.cumsum(values, dtype=dtype), np.zeros(1, dtype=dtype))
    sums_of: Array = totals[ends - 1] - totals[ends - lengths - 1]
    return sums_of


def offsets_of(lengths: Array) -> Array:
    """Make the offsets of lists from their lengths, in 32 bits where these suffice."""
    offsets = np.append(0, np.cumsum(lengths, dtype=np.int64))
    return offsets.astype(np.int32) if offsets[-1] < 2**31 else offsets
