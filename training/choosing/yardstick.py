"""Yardstick: measures encoders on the held-out names, on the same terms as their base."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.stored import StoredVectors, store_vectors
from spacy_medlink.types import Floats2d, Ints1d

from ..data.holdout import Holdout
from ..data.names import TrainingNames
from ..loop.encoding import encode_unknown
from ..loop.precision import Precision
from ..recipe.settings import SelectionSettings
from .selection import Figures, Halves
from .validation import (
    QuerySet,
    encode_queries,
    evaluate,
    measure,
    query_set,
    rank,
    shortlist,
)

_STORED = 200_000  # names, at most


class Yardstick:
    """Held-out names, the names they are looked for among, and how well the base finds them.

    among (Optional[int]): names that they are looked for among, at most; None for all. Where there
    are more, those of the right concepts are taken, and others at random, always the same.
    known (Optional[StoredVectors]): vectors of the base that need not be made again.

    base (Halves): the base's figures on dev and test, among these names.
    vectors (Floats2d): the base's vectors of these names, (n, dim).
    """

    def __init__(
        self,
        base: BiEncoder,
        names: TrainingNames,
        holdout: Holdout,
        settings: SelectionSettings,
        precision: Precision,
        among: int | None = None,
        known: StoredVectors | None = None,
    ) -> None:
        self._names, self._precision = names, precision
        golds = [query.concept for query in (*holdout.dev, *holdout.test)]
        self._all: Ints1d = among_which(names.concepts, golds, among)
        self._concepts: Ints1d = names.concepts[self._all]
        self._queries: dict[str, QuerySet] = {
            "dev": query_set(holdout.dev, base),
            "test": query_set(holdout.test, base),
        }
        self.vectors: Floats2d = self._encode(base, "Encoding names with the base", known)
        self._made = [(base.fingerprint(), self.vectors)]
        self.base = self._measure(base, self.vectors)
        dev = self._queries["dev"]
        queries = encode_queries(base, dev, precision)
        found = shortlist(queries, dev.concepts, self.vectors, self._concepts, settings.shortlist)
        self._shortlist: Ints1d = self._all[found]

    def fast(self, encoder: BiEncoder) -> Figures:
        """Measure on dev among the shortlist: the names that the base took for near ones."""
        return evaluate(
            encoder, self._queries["dev"], self._names, self._shortlist, self._precision
        )

    def whole(self, encoder: BiEncoder) -> Halves:
        """Measure on dev and test among all names."""
        vectors = self._encode(encoder, "Encoding names")
        if len(vectors) <= _STORED:
            self._made[1:] = [(encoder.fingerprint(), vectors)]
        return self._measure(encoder, vectors)

    def store(self, directory: Path) -> None:
        """Write what the base, and the encoder that was measured last, made of the names.

        Of many names nothing: to make vectors anew costs less than a disk full of them.
        """
        if len(self._all) > _STORED:
            return
        pieces = self._names.tokens.take(self._all)
        for fingerprint, vectors in self._made:
            store_vectors(directory, fingerprint, pieces, vectors)

    def _encode(
        self, encoder: BiEncoder, what: str, known: StoredVectors | None = None
    ) -> Floats2d:
        """Encode the names but those whose vectors are known."""
        return encode_unknown(encoder, self._names.tokens, self._all, self._precision, what, known)

    def facts(self) -> dict[str, Any]:
        """Count what is compared with what."""
        counts = {f"{half}_queries": len(queries) for half, queries in self._queries.items()}
        return {**counts, "names": len(self._all), "shortlist": len(self._shortlist)}

    def _measure(self, encoder: BiEncoder, vectors: Floats2d) -> Halves:
        return {
            half: measure(
                rank(
                    encode_queries(encoder, queries, self._precision),
                    queries.concepts,
                    vectors,
                    self._concepts,
                )
            )
            for half, queries in self._queries.items()
        }


def among_which(concepts: Ints1d, golds: Sequence[int], most: int | None) -> Ints1d:
    """Choose the names that queries are looked for among.

    concepts (Ints1d): concept of every name. golds (Sequence[int]): the right concepts.
    RETURNS (Ints1d): positions, ascending.
    """
    if most is None or len(concepts) <= most:
        return np.arange(len(concepts))
    right = np.flatnonzero(np.isin(concepts, np.asarray(golds)))
    drawn = np.random.default_rng(0).choice(len(concepts), size=most, replace=False)
    return np.union1d(right, drawn[: max(0, most - len(right))])
