"""Character trigrams of texts, and their TF-IDF weights.

Trigrams are taken within words (each padded by a space), so that the order of words does not
matter; weights are tf x (ln((1 + n) / (1 + df)) + 1), scaled to length 1.
"""

import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..text.normalisation import normalise
from ..text.spelling import american
from ..types import Floats1d, Floats2d, Ints2d
from .ragged import sums

BUCKETS = 1 << 18  # places for trigrams, by their hash
SCORED = 64  # texts to score at once: their weights fit a cache and bounded memory
_N = 3


def words_of(text: str) -> list[str]:
    """Split a text into the words from which trigrams are taken, in American spelling."""
    return [_american(word) for word in normalise(text).split(" ") if word]


def trigrams(word: str) -> list[int]:
    """List the buckets of the trigrams of a word in American spelling."""
    padded = f" {word} "
    return [
        zlib.crc32(padded[i : i + _N].encode("utf-8", "surrogatepass")) & (BUCKETS - 1)
        for i in range(max(1, len(padded) - _N + 1))
    ]


def count(texts: Iterable[str]) -> Any:
    """Count trigrams: csr_matrix (n_texts, BUCKETS), float32."""
    lengths: list[int] = []

    def grams() -> Iterable[int]:
        for text in texts:
            words = [_trigrams(word) for word in normalise(text).split(" ") if word]
            lengths.append(sum(map(len, words)))
            yield from chain.from_iterable(words)

    indices = np.fromiter(grams(), dtype=np.int32)
    indptr = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    ones = np.ones(len(indices), dtype=np.float32)
    counts = csr((ones, indices, indptr), (len(lengths), BUCKETS))
    counts.sum_duplicates()
    return counts


def inverse_frequency(frequency: NDArray[np.int64], n_names: int) -> Floats1d:
    """Weigh trigrams by the number of names that have them."""
    weights: Floats1d = (np.log((1 + n_names) / (1 + frequency)) + 1).astype(np.float32)
    return weights


def weigh(counts: Any, idf: Floats1d) -> Any:
    """Weigh counts and scale every row to length 1: csr_matrix of the same shape."""
    weighted = counts.copy()
    weighted.data *= idf[weighted.indices]
    lengths = np.diff(weighted.indptr)
    norms = np.sqrt(np.maximum(sums(weighted.data.astype(np.float64) ** 2, lengths), 1e-12))
    weighted.data /= np.repeat(norms, lengths).astype(np.float32)
    return weighted


def dense_columns(matrix: Any) -> tuple[Floats2d, NDArray[np.int32]]:
    """Make a sparse matrix (n, BUCKETS) dense, without its empty columns.

    RETURNS (Tuple[Floats2d, NDArray[int32]]): (n, used + 1), the last column all 0; and the column
        of each bucket, (BUCKETS,).
    """
    used, columns = np.unique(matrix.indices, return_inverse=True)
    place = np.full(BUCKETS, len(used), dtype=np.int32)
    place[used] = np.arange(len(used))
    dense: Floats2d = np.zeros((matrix.shape[0], len(used) + 1), dtype=np.float32)
    dense[np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), columns] = matrix.data
    return dense, place


def score_in_parts(
    texts: Sequence[str], rows: Ints2d, score: Callable[[Sequence[str], Ints2d], Floats2d]
) -> Floats2d:
    """Score names (n_texts, m) for each text, a few texts at once: (n_texts, m).

    score (Callable): scores the names of a part.
    """
    scores: Floats2d = np.empty(rows.shape, dtype=np.float32)
    for first in range(0, len(texts), SCORED):
        part = slice(first, first + SCORED)
        scores[part] = score(texts[part], rows[part])
    return scores


def csr(parts: Sequence[NDArray[Any]], shape: tuple[int, int]) -> Any:
    """Make a sparse matrix of weights, places and offsets, without a copy."""
    data, indices, indptr = parts
    # Assigned one by one: the constructor would read all mapped arrays, and copy them.
    matrix = sparse.csr_matrix(shape, dtype=np.float32)
    kind = np.int32 if len(data) < 2**31 else np.int64
    matrix.data, matrix.indices = data, indices
    matrix.indptr = indptr.astype(kind, copy=False)
    if indices.dtype != kind:
        matrix.indices = indices.astype(kind)
    return matrix


_american = lru_cache(maxsize=1 << 16)(american)


@lru_cache(maxsize=1 << 16)
def _trigrams(word: str) -> tuple[int, ...]:
    return tuple(trigrams(american(word)))
