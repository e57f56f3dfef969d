"""The recall of an index, compared with an exhaustive index without compression."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..kb import KnowledgeBase
from ..types import Data, Encoder, Floats2d, Hits, Ints2d

if TYPE_CHECKING:
    from ..retrieval.dense import DenseIndex

_K = 25
_QUERIES = 500
_SEED = 0
# Names with the same vector as the k-th name are as good as that name. There may be hundreds of
# strings that an encoder does not tell apart.
_SAME = np.float32(1e-5)
_MOST = 8192  # kept of them


class RecallProbe:
    """The exact nearest names of a sample, collected from the stream of all vectors.

    queries (Floats2d): (n, dim), vectors of length 1.
    """

    def __init__(self, queries: Floats2d) -> None:
        self._queries = queries
        self._seen = 0
        shape = (len(queries), _K)
        self._best = Hits(np.full(shape, -2), np.full(shape, -np.inf, np.float32))

    @classmethod
    def of(cls, kb: KnowledgeBase, encoder: Encoder) -> "RecallProbe":
        """Take a sample of the names for queries."""
        size = min(_QUERIES, kb.n_names)
        rows = np.random.default_rng(_SEED).choice(kb.n_names, size, replace=False)
        return cls(encoder.encode([kb.name_at(row).text for row in sorted(rows.tolist())]))

    def watch(self, chunks: Iterable[Floats2d]) -> Iterator[Floats2d]:
        """Pass chunks on, in the order of rows."""
        for chunk in chunks:
            scores = self._queries @ chunk.T
            near = _nearest(scores, np.maximum(self._kth(_K), _kth_best(scores)) - _SAME)
            rows = np.where(near.rows >= 0, near.rows + self._seen, near.rows)
            self._keep(Hits(rows, near.scores))
            self._seen += len(chunk)
            yield chunk

    def _keep(self, near: Hits) -> None:
        """Merge new hits with the nearest so far, the nearest first."""
        rows = np.hstack([self._best.rows, near.rows])
        scores = np.hstack([self._best.scores, near.scores])
        order = np.argsort(-scores, axis=1, kind="stable")
        self._best = Hits(
            np.take_along_axis(rows, order, axis=1), np.take_along_axis(scores, order, axis=1)
        )
        width = int((self._best.scores >= self._kth(_K) - _SAME).sum(axis=1).max(initial=_K))
        width = min(max(width, _K), _MOST)
        self._best = Hits(self._best.rows[:, :width], self._best.scores[:, :width])

    def _kth(self, k: int) -> Floats2d:
        return self._best.scores[:, k - 1 : k]

    def measure(self, index: "DenseIndex") -> Data:
        """Compare an index with the exact nearest names.

        RETURNS (Dict[str, Any]): `queries`, and the share of the nearest 1 and 25 names that the
            index finds, `recall@1` and `recall@25`.
        """
        nearest = index.search(self._queries, min(_K, self._seen)).rows
        recalls = {f"recall@{k}": self._recall(nearest, k) for k in (1, _K)}
        return {"queries": len(self._queries), **recalls}

    def _recall(self, nearest: Ints2d, k: int) -> float:
        k = min(k, self._seen)
        right = np.where(self._best.scores >= self._kth(k) - _SAME, self._best.rows, -2)
        hits = [np.isin(rows[:k], true) for rows, true in zip(nearest, right, strict=True)]
        return round(float(np.mean(hits)), 4)


def _kth_best(scores: Floats2d) -> Floats2d:
    """Find the score of each query's k-th name, (n, 1); -inf where there are fewer."""
    if scores.shape[1] < _K:
        return np.full((len(scores), 1), -np.inf, np.float32)
    return -np.partition(-scores, _K - 1, axis=1)[:, _K - 1 : _K]


def _nearest(scores: Floats2d, least: Floats2d) -> Hits:
    """Keep the scores (n, m) that reach a minimum (n, 1): (n, most), padded at the end."""
    query, column = np.nonzero(scores >= least)
    counts = np.bincount(query, minlength=len(scores))
    at = np.arange(len(query)) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = (len(scores), int(counts.max(initial=0)))
    near = Hits(np.full(shape, -2), np.full(shape, -np.inf, np.float32))
    near.rows[query, at], near.scores[query, at] = column, scores[query, column]
    return near
