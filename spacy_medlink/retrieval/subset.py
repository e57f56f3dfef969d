"""Exact search in a part of an index, name by name; fast where the part is small."""

from collections.abc import Callable, Iterator

import numpy as np

from ..types import Floats2d, Hits, Ints1d, Ints2d

_BLOCK = 16_384  # vectors read at a time


def search_rows(
    vectors_of: Callable[[Ints1d], Floats2d], rows: Ints1d, queries: Floats2d, k: int
) -> Hits:
    """Find the k best of some rows.

    vectors_of (Callable): gives the vectors of rows, (n, dim).
    rows (Ints1d): the rows that may be answers, ascending. queries (Floats2d): (n_queries, dim).
    RETURNS (Hits): (n_queries, k), best first, ties by row; padded with -1 and -inf.
    """
    shape = (len(queries), k)
    best = Hits(np.full(shape, -1, dtype=np.int64), np.full(shape, -np.inf, dtype=np.float32))
    for block in _blocks(rows):
        scores = queries @ vectors_of(block).T
        repeated = np.broadcast_to(block, scores.shape)
        best = _best(np.hstack([best.rows, repeated]), np.hstack([best.scores, scores]), k)
    return best


def _best(rows: Ints2d, scores: Floats2d, k: int) -> Hits:
    if scores.shape[1] > 4 * k:
        # Scores equal to the last place must stay, since ties are broken by row.
        last = -np.partition(-scores, k - 1, axis=1)[:, k - 1 : k]
        keep = int((scores >= last).sum(axis=1).max(initial=k))
        if keep < scores.shape[1]:
            part = np.argpartition(-scores, keep - 1, axis=1)[:, :keep]
            rows = np.take_along_axis(rows, part, axis=1)
            scores = np.take_along_axis(scores, part, axis=1)
    order = np.lexsort((rows, -scores), axis=-1)[:, :k]
    return Hits(np.take_along_axis(rows, order, axis=1), np.take_along_axis(scores, order, axis=1))


def _blocks(rows: Ints1d) -> Iterator[Ints1d]:
    for start in range(0, len(rows), _BLOCK):
        yield rows[start : start + _BLOCK]
