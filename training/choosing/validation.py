"""How well held-out names find their concept: acc@k over concepts, each ranked by its best name."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.evaluation.intervals import reciprocal
from spacy_medlink.types import Floats2d, Ints1d

from ..data.holdout import Query
from ..data.names import TokenTable, TrainingNames
from ..loop.encoding import encode_names
from ..loop.precision import Precision

KS = (1, 5, 20)
# Vectors of one string differ by less between batches; such concepts tie, and the lower row wins.
_TIE = 1e-4
_BLOCK = 256


@dataclass(frozen=True)
class QuerySet:
    """Held-out names, cut into word pieces. concepts (Ints1d): the right concept of each, (n,)."""

    tokens: TokenTable
    concepts: Ints1d

    def __len__(self) -> int:
        return len(self.concepts)


def query_set(queries: Sequence[Query], encoder: BiEncoder) -> QuerySet:
    """Prepare held-out names for encoding."""
    texts = (query.text for query in queries)
    concepts = np.array([query.concept for query in queries], dtype=np.int64)
    return QuerySet(TokenTable.build(texts, encoder.tokenize), concepts)


def encode_queries(encoder: BiEncoder, queries: QuerySet, precision: Precision) -> Floats2d:
    """Encode held-out names: (n, dim)."""
    return encode_names(encoder, queries.tokens, np.arange(len(queries)), precision)


def evaluate(
    encoder: BiEncoder,
    queries: QuerySet,
    index: TrainingNames,
    wanted: Ints1d,
    precision: Precision,
) -> dict[str, float]:
    """Encode queries and names, and measure.

    index (TrainingNames): names, no held-out one among them. wanted (Ints1d): positions of those
    to compare with, ascending; of every right concept at least one name.
    RETURNS (Dict[str, float]): see `measure`.
    """
    vectors = encode_names(encoder, index.tokens, wanted, precision)
    found = encode_queries(encoder, queries, precision)
    return measure(rank(found, queries.concepts, vectors, index.concepts[wanted]))


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
        own = np.take_along_axis(best, places[block, None], axis=1)
        better = best > own + _TIE
        tied = (np.abs(best - own) <= _TIE) & (np.arange(len(rows)) < places[block, None])
        ranks[block] = (better | tied).sum(axis=1)
    return ranks


def measure(ranks: Ints1d) -> dict[str, float]:
    """Compute acc@k in percent, mean reciprocal rank, and the number of queries."""
    figures = {f"acc@{k}": round(100 * float((ranks < k).mean()), 2) for k in KS}
    return {**figures, "mrr": round(float(reciprocal(ranks + 1).mean()), 4), "n": len(ranks)}


def shortlist(
    queries: Floats2d, golds: Ints1d, names: Floats2d, concepts: NDArray[np.int64], k: int
) -> Ints1d:
    """Pick the names worth comparing while training: of each query the k nearest to the base.

    RETURNS (Ints1d): positions of names, ascending; all names of the right concepts among them.
    """
    picked = np.zeros(len(names), dtype=bool)
    picked[np.isin(concepts, golds)] = True
    k = min(k, len(names))
    for begin in range(0, len(queries), _BLOCK):
        scores = queries[begin : begin + _BLOCK] @ names.T
        picked[np.argpartition(-scores, k - 1, axis=1)[:, :k].ravel()] = True
    return np.flatnonzero(picked)
