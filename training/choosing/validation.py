"""Measuring how well queries find their concept: acc@k; concepts are ranked by their best name."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.evaluation.intervals import reciprocal
from spacy_medlink.types import Floats2d, Ints1d

from ..loop.encoding import encode_names
from ..loop.precision import Precision

KS = (1, 5, 20)
# Vectors of a string differ by less between batches. Such concepts tie, and the lower row wins.
_TIE = 1e-4
_BLOCK = 256


NEVER = 1 << 30  # the rank of a query whose concept has no name here


@dataclass(frozen=True)
class QuerySet:
    """Texts to search for, and their right concepts.

    texts (Sequence[str]): the distinct ones. count (int): n queries.
    asked, owner, golds (Ints1d): text, query and concept of each right answer, (n_golds,); a query
    may have several, or none in the knowledge base.
    """

    texts: Sequence[str]
    count: int
    asked: Ints1d
    owner: Ints1d
    golds: Ints1d

    @classmethod
    def of(cls, texts: Sequence[str], golds: Sequence[Collection[int]]) -> "QuerySet":
        """Make queries of texts. golds (Sequence[Collection[int]]): rows of concepts."""
        distinct = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        answers = [
            (distinct[text], row, gold)
            for row, (text, rows) in enumerate(zip(texts, golds, strict=True))
            for gold in sorted(rows)
        ]
        columns = np.array(answers, dtype=np.int64).reshape(-1, 3).T
        return cls(list(distinct), len(texts), *columns)

    def __len__(self) -> int:
        return self.count

    def encode(self, encoder: BiEncoder, precision: Precision) -> Floats2d:
        """Encode the query of each right answer: (n_golds, dim)."""
        return encode_names(encoder, self.texts, precision)[self.asked]

    def ranks(
        self, encoder: BiEncoder, precision: Precision, names: Floats2d, concepts: Ints1d
    ) -> Ints1d:
        """Return the rank of the best right concept of each query: (n,); see `rank`."""
        best_of_text = rank(self.encode(encoder, precision), self.golds, names, concepts)
        ranks = np.full(len(self), NEVER)
        np.minimum.at(ranks, self.owner, best_of_text)
        return ranks


def rank(queries: Floats2d, golds: Ints1d, names: Floats2d, concepts: NDArray[np.int64]) -> Ints1d:
    """Rank the right concept of each query among all concepts, each by its best name.

    queries (Floats2d): (n_queries, dim). golds (Ints1d): the right concepts, (n_queries,).
    names (Floats2d): (n_names, dim). concepts (Ints1d): their concepts, ascending, (n_names,).
    RETURNS (Ints1d): (n_queries,), 0 for the best.
    """
    rows, starts = np.unique(concepts, return_index=True)
    places = np.searchsorted(rows, golds)
    ranks = np.empty(len(queries), dtype=np.int64)
    for begin in range(0, len(queries), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        best = np.maximum.reduceat(queries[block] @ names.T, starts, axis=1)
        of_right = np.take_along_axis(best, places[block, None], axis=1)
        better = best > of_right + _TIE
        tied = (np.abs(best - of_right) <= _TIE) & (np.arange(len(rows)) < places[block, None])
        ranks[block] = (better | tied).sum(axis=1)
    return ranks


def measure(ranks: Ints1d) -> dict[str, float]:
    """Compute acc@k in percent, mean reciprocal rank, and the number of queries."""
    figures = {f"acc@{k}": round(100 * float((ranks < k).mean()), 2) for k in KS}
    return {**figures, "mrr": round(float(reciprocal(ranks + 1).mean()), 4), "n": len(ranks)}


def shortlist(
    queries: Floats2d, golds: Ints1d, names: Floats2d, concepts: NDArray[np.int64], k: int
) -> Ints1d:
    """Pick the names to compare while training: the k nearest to each query by the base.

    RETURNS (Ints1d): positions of names, ascending; all names of the right concepts among them.
    """
    picked = np.zeros(len(names), dtype=bool)
    picked[np.isin(concepts, golds)] = True
    k = min(k, len(names))
    for begin in range(0, len(queries), _BLOCK):
        scores = queries[begin : begin + _BLOCK] @ names.T
        picked[np.argpartition(-scores, k - 1, axis=1)[:, :k].ravel()] = True
    return np.flatnonzero(picked)
