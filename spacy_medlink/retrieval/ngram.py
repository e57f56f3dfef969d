"""NgramIndex: names by the TF-IDF similarity of their character trigrams.

Trigrams are taken within words (each padded by a space), so that the order of words does not
count; weights are tf x (ln((1 + n) / (1 + df)) + 1), scaled to length 1.
"""

import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..text.normalisation import normalise
from ..text.spelling import american
from ..types import Floats1d, Floats2d, Hits, Ints2d
from ..util.held import Directory
from ..util.locks import ForkSafeLock
from ..util.threads import threads
from .arrays import check, check_below, check_offsets, load_arrays, save_arrays
from .mask import Mask

_N = 3
_BUCKETS = 1 << 18
_MOST = 1.001  # of a weight; rounding may lift it above 1
_MATRICES = ("by_name", "by_gram")
_PARTS = ("data", "indices", "indptr")


class NgramIndex:
    """A sparse matrix names x trigrams, held both ways: by trigram to search, by name to score.

    names (csr_matrix): (n_names, 2**18). grams (csr_matrix): its transpose.
    idf (Floats1d): (2**18,) weight of each trigram bucket.
    """

    def __init__(self, names: Any, grams: Any, idf: Floats1d) -> None:
        self._names, self._grams, self._idf = names, grams, idf
        self._parts: list[_Part] = []  # the most recently used last
        self._lock = ForkSafeLock()

    @classmethod
    def build(cls, names: Iterable[str]) -> "NgramIndex":
        """Build over the text of every name, in the order of rows."""
        counts = _count(names)
        frequency = np.bincount(counts.indices, minlength=_BUCKETS)
        idf = (np.log((1 + counts.shape[0]) / (1 + frequency)) + 1).astype(np.float32)
        by_name = _weigh(counts, idf)
        return cls(by_name, by_name.T.tocsr(), idf)

    def save(self, directory: Path) -> None:
        """Write the arrays into a directory."""
        save_arrays(directory, {"idf": self._idf})
        for name, matrix in zip(_MATRICES, (self._names, self._grams), strict=True):
            arrays = {f"{name}_{part}": getattr(matrix, part) for part in _PARTS}
            save_arrays(directory, arrays)

    @classmethod
    def load(cls, directory: Directory, n_names: int | None = None) -> "NgramIndex":
        """Map the arrays of a directory.

        n_names (Optional[int]): how many names there must be.
        RAISES (MedlinkError): E202 when one is missing or damaged.
        """
        (idf,) = load_arrays(directory, idf=np.float32)
        check(directory, "idf", len(idf) == _BUCKETS, f"{len(idf)} weights, not {_BUCKETS}")
        check(directory, "idf", bool(np.isfinite(idf).all()), "a weight is not finite")
        names = _load_matrix(directory, "by_name")
        grams = _load_matrix(directory, "by_gram")
        rows = len(names[2]) - 1
        expected = rows if n_names is None else n_names
        check(directory, "by_name_indptr", rows == expected, f"{rows} names, not {expected}")
        check(directory, "by_gram_indptr", len(grams[2]) == _BUCKETS + 1, "not all trigrams")
        # The product trusts them: a place outside would crash the process.
        check_below(directory, "by_name_indices", names[1], _BUCKETS)
        check_below(directory, "by_gram_indices", grams[1], rows)
        return cls(_csr(names, (rows, _BUCKETS)), _csr(grams, (_BUCKETS, rows)), idf)

    def search(self, texts: Sequence[str], k: int, mask: Mask | None = None) -> Hits:
        """Find the k names that are most similar.

        mask (Optional[Mask]): the names that may be answers; None for all.
        RETURNS (Hits): (n_texts, k), cosine in 0..1, best first, ties by row; padded with -1.
            Which of those that tie for the last places are in is fixed, but not by row.
        """
        rows = np.full((len(texts), k), -1, dtype=np.int64)
        scores: Floats2d = np.full((len(texts), k), -np.inf, dtype=np.float32)
        part = self._part(mask)
        if not texts or not part.grams.shape[1] or k < 1:  # top_n=0 would crash
            return Hits(rows, scores)
        top = _multiply(self._queries(texts), part.grams, k)
        bounds = top.indptr.tolist()
        for index, (begin, end) in enumerate(pairwise(bounds)):
            found, values = top.indices[begin:end], top.data[begin:end]
            order = np.lexsort((found, -values))
            found = found if part.rows is None else part.rows[found]
            rows[index, : end - begin] = found[order]
            scores[index, : end - begin] = values[order]
        return Hits(rows, scores)

    def score(self, texts: Sequence[str], rows: Ints2d) -> Floats2d:
        """Score names (n_texts, m) for each text; -1 rows score 0.

        RETURNS (Floats2d): (n_texts, m), cosine in 0..1.
        """
        queries = self._queries(texts)
        scores: Floats2d = np.zeros(rows.shape, dtype=np.float32)
        weights = np.zeros(_BUCKETS, dtype=np.float32)
        indptr, indices, data = self._names.indptr, self._names.indices, self._names.data
        for index in range(len(texts)):
            begin, end = queries.indptr[index], queries.indptr[index + 1]
            own = queries.indices[begin:end]
            weights[own] = queries.data[begin:end]
            wanted = np.maximum(rows[index], 0)
            starts = indptr[wanted].astype(np.int64)
            lengths = indptr[wanted + 1] - starts
            ends = np.cumsum(lengths)
            flat = np.arange(int(ends[-1]) if len(ends) else 0)
            flat += np.repeat(starts - (ends - lengths), lengths)
            products = np.append(
                np.cumsum(data[flat] * weights[indices[flat]], dtype=np.float64), 0
            )
            scores[index] = products[ends - 1] - products[ends - lengths - 1]
            weights[own] = 0
        scores[rows < 0] = 0
        return scores

    def _queries(self, texts: Sequence[str]) -> Any:
        return _weigh(_count(texts), self._idf)

    def _part(self, mask: Mask | None) -> "_Part":
        """Take the columns of the names that may be answers; the last ones taken are kept.

        All that are kept take at most as much memory as the whole index, or are one alone.
        """
        if mask is None:
            return _Part(None, None, self._grams)
        with self._lock:
            part = next((part for part in self._parts if part.mask is mask), None)
            if part is None:
                rows = mask.rows()
                part = _Part(mask, rows, self._names[rows].T.tocsr())
            else:
                self._parts.remove(part)
            self._parts.append(part)
            while (
                len(self._parts) > 1 and sum(one.grams.nnz for one in self._parts) > self._names.nnz
            ):
                del self._parts[0]
        return part


class _Part(NamedTuple):
    """The names of a mask: their rows, and the matrix trigrams x names of them alone."""

    mask: Mask | None
    rows: NDArray[np.int64] | None
    grams: Any


@lru_cache(maxsize=1 << 16)
def _word_grams(word: str) -> tuple[int, ...]:
    padded = f" {american(word)} "
    return tuple(
        zlib.crc32(padded[i : i + _N].encode("utf-8", "surrogatepass")) & (_BUCKETS - 1)
        for i in range(max(1, len(padded) - _N + 1))
    )


def _count(texts: Iterable[str]) -> Any:
    """Count trigrams: csr_matrix (n_texts, 2**18), float32."""
    lengths: list[int] = []

    def grams() -> Iterable[int]:
        for text in texts:
            words = [_word_grams(word) for word in normalise(text).split(" ") if word]
            lengths.append(sum(map(len, words)))
            yield from chain.from_iterable(words)

    indices = np.fromiter(grams(), dtype=np.int32)
    indptr = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    ones = np.ones(len(indices), dtype=np.float32)
    counts = _csr((ones, indices, indptr), (len(lengths), _BUCKETS))
    counts.sum_duplicates()
    return counts


def _weigh(counts: Any, idf: Floats1d) -> Any:
    weighted = counts.copy()
    weighted.data *= idf[weighted.indices]
    squares = np.append(np.cumsum(weighted.data.astype(np.float64) ** 2), 0)
    bounds = weighted.indptr
    norms = np.sqrt(np.maximum(squares[bounds[1:] - 1] - squares[bounds[:-1] - 1], 1e-12))
    weighted.data /= np.repeat(norms, np.diff(bounds)).astype(np.float32)
    return weighted


def _multiply(queries: Any, grams: Any, k: int) -> Any:
    """Multiply sparse matrices, keeping the k highest of each row in their order.

    The library's checked function copies all indices of the index first, at every call; and that
    for one thread takes half as long again as the other one does in one.
    """
    from sparse_dot_topn import _has_openmp_support, unchecked

    k = min(k, grams.shape[1])
    if not queries.nnz or not grams.nnz:
        return sparse.csr_matrix((queries.shape[0], grams.shape[1]), dtype=np.float32)
    queries.indices = queries.indices.astype(grams.indices.dtype, copy=False)
    queries.indptr = queries.indptr.astype(grams.indptr.dtype, copy=False)
    if not _has_openmp_support:
        return unchecked.sp_matmul_topn(queries, grams, k, True, None, 1.0)
    return unchecked.sp_matmul_topn_mt(
        queries, grams, k, True, None, min(threads(), queries.shape[0])
    )


def _load_matrix(directory: Directory, name: str) -> list[NDArray[Any]]:
    """Map weights, places and offsets of a sparse matrix."""
    types = {f"{name}_data": np.float32, f"{name}_indices": object, f"{name}_indptr": object}
    data, indices, indptr = load_arrays(directory, **types)
    for part, own in (("indices", indices), ("indptr", indptr)):
        is_right = own.dtype in (np.dtype(np.int32), np.dtype(np.int64))
        check(directory, f"{name}_{part}", is_right, f"{own.dtype}, expected int32 or int64")
    check(directory, f"{name}_indices", len(indices) == len(data), "not as many as weights")
    check_offsets(directory, f"{name}_indptr", indptr, len(data))
    # They are parts of vectors of length 1; a comparison with NaN is false.
    is_right = not len(data) or (data.min() >= 0 and data.max() <= _MOST)
    check(directory, f"{name}_data", is_right, "a weight is not within 0..1")
    return [data, indices, indptr]


def _csr(parts: Sequence[NDArray[Any]], shape: tuple[int, int]) -> Any:
    data, indices, indptr = parts
    # Assigned one by one: the constructor would read through, and copy, the mapped arrays.
    matrix = sparse.csr_matrix(shape, dtype=np.float32)
    kind = np.int32 if len(data) < 2**31 else np.int64
    matrix.data, matrix.indices = data, indices
    matrix.indptr = indptr.astype(kind, copy=False)
    if indices.dtype != kind:
        matrix.indices = indices.astype(kind)
    return matrix
