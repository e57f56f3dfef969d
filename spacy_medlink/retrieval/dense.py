"""DenseIndex: names by the cosine of their vectors, in a faiss index."""

import os
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import faiss
import numpy as np

from ..errors import Errors
from ..types import Floats2d, Hits, Ints1d, Ints2d
from .index_file import read_index, row_not_there
from .mask import Mask
from .subset import search_rows
from .tuning import SearchSettings, finding_lists_fast, prepare, restricted, train, tune

if TYPE_CHECKING:  # without a GPU, torch is not needed to search
    import torch

    from .flat import FlatVectors

TRAINING_SAMPLE = 262_144  # vectors
# A filtered search compares up to so many names one by one: that is exact, and faster than a filter
# inside faiss.
_FEW = 65_536
_AROUND = 2  # times as many names as should lie within a filter are asked for
_BLOCK = 65_536  # vectors

# The threads of OpenMP do not survive a fork: with more than one, a child hangs at its first
# search, even for a single vector, once the parent has searched.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=partial(faiss.omp_set_num_threads, 1))


class DenseIndex:
    """A faiss index over the vectors of all names; its ids are the names' rows.

    index (faiss.Index): metric inner product over vectors of length 1, so scores are cosines.
    """

    weight: ClassVar[float] = 1.0
    asks_vectors: ClassVar[bool] = True

    def __init__(self, index: faiss.Index) -> None:
        self._index = index
        self._moved: FlatVectors | None = None

    @classmethod
    def build(
        cls,
        chunks: Iterable[Floats2d],
        n_names: int,
        dim: int,
        spec: str,
        like: Path | None = None,
        training_sample: int = TRAINING_SAMPLE,
    ) -> "DenseIndex":
        """Build from the names' vectors, given in the order of rows.

        chunks (Iterable[Floats2d]): blocks of (n, dim) vectors of length 1.
        spec (str): a faiss factory string ("Flat", "HNSW32,SQ8", "IVF4096,PQ48").
        like (Optional[Path]): a saved index of the same string; its training is reused.
        training_sample (int): the number of first vectors that train the index, if it needs it.
        RAISES (MedlinkError): E208 for vectors that are not finite, E209 when faiss refuses the
            string or the number of names.
        """
        waiting = _checked(chunks)
        sample: list[Floats2d] = []
        refused = Errors.bad_index_spec
        try:
            index = faiss.index_factory(dim, spec, faiss.METRIC_INNER_PRODUCT)
        except RuntimeError as error:
            raise refused(spec=spec, names=n_names, dim=dim, reason=error) from error
        prepare(index)
        if like is not None and not index.is_trained:
            index = read_index(like)
            index.reset()
        if not index.is_trained:
            sample = _take(waiting, min(n_names, training_sample))
            try:
                train(index, np.concatenate(sample))
            except RuntimeError as error:
                raise refused(spec=spec, names=n_names, dim=dim, reason=error) from error
        with finding_lists_fast(index):
            for chunk in chain(sample, waiting):
                index.add(chunk)
        tune(index, SearchSettings())
        return cls(index)

    def __len__(self) -> int:
        return int(self._index.ntotal)

    @property
    def dim(self) -> int:
        """Number of dimensions."""
        return int(self._index.d)

    @property
    def settings(self) -> SearchSettings:
        """The settings of the search, where the kind of index has any."""
        return SearchSettings.of(self._index)

    def move(self, device: "torch.device") -> "DenseIndex":
        """Search on a device from now on, if it finds as much and has enough memory.

        Only an exhaustive index of whole vectors moves to a GPU, which compares all of them; every
        other index stays with faiss on the processor. RETURNS itself.
        """
        from ..util.devices import fits, free_memory, is_out_of_memory

        self._moved = None
        if self.is_flat and fits(4 * len(self) * self.dim, device):
            try:
                self._move(device)
            except RuntimeError as error:  # another process took the memory meanwhile
                if not is_out_of_memory(error):
                    raise
                free_memory()
        return self

    @property
    def is_flat(self) -> bool:
        """Whether the index stores whole vectors and compares queries with all, or all codes."""
        index = faiss.downcast_index(self._index)
        if isinstance(index, faiss.IndexRefineFlat):
            return isinstance(faiss.downcast_index(index.base_index), faiss.IndexPQFastScan)
        return type(index).__name__ in ("IndexFlat", "IndexFlatIP")

    @property
    def place(self) -> str:
        """Name the device that searches."""
        return "cpu" if self._moved is None else str(self._moved.device)

    def _move(self, device: "torch.device") -> None:
        from .flat import FlatVectors

        self._moved = FlatVectors(self.blocks(), len(self), self.dim, device)

    def blocks(self) -> Iterator[Floats2d]:
        """Stream all vectors, as the index keeps them, in blocks of (n, dim)."""
        for start in range(0, len(self), _BLOCK):
            yield self._index.reconstruct_n(start, min(_BLOCK, len(self) - start))

    def tune(self, settings: SearchSettings) -> None:
        """Change the search settings; 0 leaves a setting as it is."""
        tune(self._index, settings, keep=True)

    def save(self, path: Path) -> None:
        """Write the index to a file.

        RAISES (OSError): when the disk is full.
        """
        try:
            faiss.write_index(self._index, str(path))
        except RuntimeError as error:  # faiss raises it for a full disk
            raise OSError(str(error)) from error

    @classmethod
    def load(cls, file: Path) -> "DenseIndex":
        """Read an index, memory-mapped.

        RAISES (MedlinkError): E202 when it is missing or damaged.
        """
        return cls(read_index(file, faiss.IO_FLAG_MMAP_IFC))

    def vectors(self, rows: Ints1d) -> Floats2d:
        """Get the vectors of names: (n, dim), as the index keeps them (compressed or not)."""
        vectors: Floats2d = self._index.reconstruct_batch(np.asarray(rows, dtype=np.int64))
        return vectors

    def weigh(self, vectors: Floats2d) -> None:
        """Prepare vectors: there is nothing to do."""

    def search(
        self,
        vectors: Floats2d,
        k: int,
        mask: Mask | None = None,
        same: Ints1d | None = None,
        weighed: None = None,
    ) -> Hits:
        """Find the k names nearest to each vector.

        mask (Optional[Mask]): the names that may be answers; None for all. The others are those of
            every tier, and not needed here.
        RETURNS (Hits): (n, k), cosine, best first; padded with -1 and -inf.
        RAISES (MedlinkError): E208 for vectors that are not finite.
        """
        check_finite(vectors)
        vectors = np.ascontiguousarray(vectors)
        if self._moved is not None:
            return self._moved.search(vectors, k, mask)
        if mask is None:
            scores, rows = self._index.search(vectors, k)
            self._check_rows(rows)
            return Hits(rows, np.where(rows >= 0, scores, -np.inf).astype(np.float32))
        if mask.count <= _FEW:
            return search_rows(self.vectors, mask.rows(), vectors, k)
        return self._search_within(vectors, k, mask)

    def _search_within(self, vectors: Floats2d, k: int, mask: Mask) -> Hits:
        """Search with a filter inside faiss; compare one by one where that finds too few."""
        wanted = min(k, mask.count)
        within = restricted(self._index, mask)
        if within is None:
            rows, scores = self._search_around(vectors, k, mask)
        else:
            scores, rows = self._index.search(vectors, k, params=within)
            self._check_rows(rows)
        scores = np.where(rows >= 0, scores, -np.inf).astype(np.float32)
        short = np.flatnonzero((rows >= 0).sum(axis=1) < wanted)
        if len(short):
            exhaustive = search_rows(self.vectors, mask.rows(), vectors[short], k)
            rows[short], scores[short] = exhaustive
        return Hits(rows, scores)

    def _search_around(self, vectors: Floats2d, k: int, mask: Mask) -> Hits:
        """Search without the filter for more names, and keep those within: (n, k)."""
        more = min(len(self), _AROUND * k * len(self) // mask.count)
        nearest = self.search(vectors, more)
        is_within = mask.passes(nearest.rows)
        order = np.argsort(~is_within, axis=1, kind="stable")[:, :k]
        kept = np.take_along_axis(is_within, order, axis=1)
        rows = np.where(kept, np.take_along_axis(nearest.rows, order, axis=1), -1)
        scores = np.take_along_axis(nearest.scores, order, axis=1)
        missing = max(0, k - more)
        return Hits(
            np.pad(rows, ((0, 0), (0, missing)), constant_values=-1),
            np.pad(scores, ((0, 0), (0, missing)), constant_values=-np.inf),
        )

    def _check_rows(self, rows: Ints2d) -> None:
        if int(rows.max(initial=-1)) >= len(self):
            raise row_not_there(int(rows.max()), len(self))

    def score(self, vectors: Floats2d, rows: Ints2d, weighed: None = None) -> Floats2d:
        """Score names (n, m) for each vector; -1 rows score 0.

        RETURNS (Floats2d): (n, m), cosine (of the compressed vectors where the index compresses).
        """
        if not rows.size:
            return np.zeros(rows.shape, dtype=np.float32)
        stored = self.vectors(np.maximum(rows, 0).ravel()).reshape(*rows.shape, -1)
        scores: Floats2d = np.einsum("nd,nmd->nm", vectors, stored, optimize=True)
        return np.where(rows >= 0, scores, np.float32(0))


def check_finite(vectors: Floats2d) -> None:
    """Refuse vectors with NaN or infinity, which would rank at random.

    RAISES (MedlinkError): E208.
    """
    if not np.isfinite(vectors).all():
        bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        raise Errors.vectors_not_finite(count=len(bad), first=int(bad[0]) + 1)


def _checked(chunks: Iterable[Floats2d]) -> Iterable[Floats2d]:
    for chunk in chunks:
        check_finite(chunk)
        yield chunk


def _take(chunks: Iterable[Floats2d], wanted: int) -> list[Floats2d]:
    taken: list[Floats2d] = []
    for chunk in chunks:
        taken.append(chunk)
        if sum(map(len, taken)) >= wanted:
            break
    return taken
