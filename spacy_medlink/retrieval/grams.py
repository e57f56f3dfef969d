"""Character trigrams of texts, and their TF-IDF weights.

Trigrams are taken within words (each padded by a space), so that the order of words does not
matter; weights are tf x (ln((1 + n) / (1 + df)) + 1), scaled to length 1.
"""

import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..text.normalisation import normalise
from ..text.spelling import respelled
from ..types import Array, Floats1d, Floats2d
from .ragged import sums

BUCKETS = 1 << 18  # places for trigrams, by their hash
SCORED = 64  # texts to score at once: their weights fit a cache and bounded memory
_N = 3


def words_of(text: str) -> list[str]:
    """Split a text into the words from which trigrams are taken, in American spelling."""
    return [_respelled(word) for word in normalise(text).split(" ") if word]


def trigrams(word: str) -> list[int]:
    """List the buckets of the trigrams of a word in American spelling."""
    padded = f" {word} "
    return [
        zlib.crc32(padded[i : i + _N].encode("utf-8", "surrogatepass")) & (BUCKETS - 1)
        for i in range(max(1, len(padded) - _N + 1))
    ]


def count(texts: Iterable[str]) -> sparse.csr_matrix:
    """Count trigrams: csr_matrix (n_texts, BUCKETS), float32."""
    grams, ends = array("i"), [0]
    for text in texts:
        for word in normalise(text).split(" "):
            if word:
                grams.extend(_trigrams(word))
        ends.append(len(grams))
    indices = np.frombuffer(grams, dtype=np.int32) if grams else np.empty(0, np.int32)
    counts = csr(
        (np.ones(len(indices), np.float32), indices.copy(), np.array(ends)),
        (len(ends) - 1, BUCKETS),
    )
    counts.sum_duplicates()
    return counts


def inverse_frequency(frequency: NDArray[np.int64], n_names: int) -> Floats1d:
    """Weigh trigrams by the number of names that have them."""
    weights: Floats1d = (np.log((1 + n_names) / (1 + frequency)) + 1).astype(np.float32)
    return weights


def weigh(counts: sparse.csr_matrix, idf: Floats1d) -> sparse.csr_matrix:
    """Weigh counts and scale every row to length 1: csr_matrix of the same shape."""
    weighted = counts.copy()
    weighted.data *= idf[weighted.indices]
    lengths = np.diff(weighted.indptr)
    norms = np.sqrt(np.maximum(sums(weighted.data.astype(np.float64) ** 2, lengths), 1e-12))
    weighted.data /= np.repeat(norms, lengths).astype(np.float32)
    return weighted


def dense_columns(matrix: sparse.csr_matrix) -> tuple[Floats2d, NDArray[np.int32]]:
    """Make a sparse matrix (n, BUCKETS) dense, without its empty columns.

    RETURNS (Tuple[Floats2d, NDArray[int32]]): (n, used + 1), the last column all 0; and the column
        of each bucket, (BUCKETS,).
    """
    used, columns = np.unique(matrix.indices, return_inverse=True)
    column_of = np.full(BUCKETS, len(used), dtype=np.int32)
    column_of[used] = np.arange(len(used))
    dense: Floats2d = np.zeros((matrix.shape[0], len(used) + 1), dtype=np.float32)
    dense[np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), columns] = matrix.data
    return dense, column_of


def in_parts(weighted: sparse.csr_matrix) -> Iterator[tuple[slice, Floats2d, NDArray[np.int32]]]:
    """Take a few rows of a matrix (n, BUCKETS) at once, so that memory is bounded.

    YIELDS (Tuple[slice, Floats2d, NDArray]): the rows, and their `dense_columns`.
    """
    count = weighted.shape[0]
    for first in range(0, count, SCORED):
        part = weighted if count <= SCORED else weighted[first : first + SCORED]
        yield slice(first, first + SCORED), *dense_columns(part)


def csr(parts: Sequence[Array], shape: tuple[int, int]) -> sparse.csr_matrix:
    """Make a sparse matrix of weights, places and offsets, without a copy."""
    data, indices, indptr = parts
    # Assigned one by one: the constructor would read all mapped arrays, and copy them.
    matrix = sparse.csr_matrix(shape, dtype=np.float32)
    index_type = np.int32 if len(data) < 2**31 else np.int64
    matrix.data, matrix.indices = data, indices
    matrix.indptr = indptr.astype(index_type, copy=False)
    if indices.dtype != index_type:
        matrix.indices = indices.astype(index_type)
    return matrix


_respelled = lru_cache(maxsize=1 << 16)(respelled)


@lru_cache(maxsize=1 << 16)
def _trigrams(word: str) -> "array[int]":
    return array("i", trigrams(respelled(word)))
