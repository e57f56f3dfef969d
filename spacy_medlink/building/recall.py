"""How much of what an uncompressed, exhaustive index finds another kind of index finds."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kb import KnowledgeBase
from ..types import Encoder, Floats2d, Hits

if TYPE_CHECKING:
    from ..retrieval.dense import DenseIndex

_K = 25
_QUERIES = 500
_SEED = 0
# Beyond k, for names with the same vector as the k-th: any of them is as good.
_KEPT = 4 * _K
_SAME = 1e-5


class RecallProbe:
    """Looks at the vectors of all names as they go by, and keeps what is nearest to some of them.

    queries (Floats2d): (n, dim), vectors of length 1.
    """

    def __init__(self, queries: Floats2d) -> None:
        self._queries = queries
        self._seen = 0
        shape = (len(queries), 0)
        self._best = Hits(np.empty(shape, np.int64), np.empty(shape, np.float32))

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
            rows = np.broadcast_to(np.arange(self._seen, self._seen + len(chunk)), scores.shape)
            scores = np.hstack([self._best.scores, scores])
            rows = np.hstack([self._best.rows, rows])
            part = np.argsort(-scores, axis=1, kind="stable")[:, :_KEPT]
            self._best = Hits(
                np.take_along_axis(rows, part, axis=1), np.take_along_axis(scores, part, axis=1)
            )
            self._seen += len(chunk)
            yield chunk

    def measure(self, index: "DenseIndex") -> dict[str, Any]:
        """Compare an index with what went by.

        RETURNS (Dict[str, Any]): `queries`, and the share of the nearest 1 and 25 names that the
            index finds, `recall@1` and `recall@25`.
        """
        found = index.search(self._queries, min(_K, self._seen)).rows
        recalls = {f"recall@{k}": self._recall(found, k) for k in (1, _K)}
        return {"queries": len(self._queries), **recalls}

    def _recall(self, found: np.ndarray[Any, Any], k: int) -> float:
        k = min(k, self._seen)
        least = self._best.scores[:, k - 1 : k] - np.float32(_SAME)
        right = np.where(self._best.scores >= least, self._best.rows, -2)
        hits = (found[:, :k, None] == right[:, None, :]).any(axis=2)
        return round(float(hits.mean()), 4)
