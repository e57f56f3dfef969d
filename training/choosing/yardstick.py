"""Yardstick: measures encoders on the held-out names, on the same terms as their base."""

from typing import Any

import numpy as np

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.types import Floats2d, Ints1d

from ..data.holdout import Holdout
from ..data.names import TrainingNames
from ..loop.encoding import encode_names
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


class Yardstick:
    """Held-out names, the names they are looked for among, and how well the base finds them.

    base (Halves): the base's figures on dev and test, among all names.
    vectors (Floats2d): the base's vectors of all names, (n_names, dim).
    """

    def __init__(
        self,
        base: BiEncoder,
        names: TrainingNames,
        holdout: Holdout,
        lower_case: bool,
        settings: SelectionSettings,
        precision: Precision,
    ) -> None:
        self._names, self._precision = names, precision
        self._all: Ints1d = np.arange(len(names))
        self._queries: dict[str, QuerySet] = {
            "dev": query_set(holdout.dev, base, lower_case),
            "test": query_set(holdout.test, base, lower_case),
        }
        self.vectors: Floats2d = encode_names(
            base, names.tokens, self._all, precision, what="Encoding names with the base"
        )
        self.base = self._measure(base, self.vectors)
        dev = self._queries["dev"]
        self._shortlist = shortlist(
            encode_queries(base, dev, precision),
            dev.concepts,
            self.vectors,
            names.concepts,
            settings.shortlist,
        )

    def fast(self, encoder: BiEncoder) -> Figures:
        """Measure on dev among the shortlist: the names that the base took for near ones."""
        return evaluate(
            encoder, self._queries["dev"], self._names, self._shortlist, self._precision
        )

    def whole(self, encoder: BiEncoder) -> Halves:
        """Measure on dev and test among all names."""
        vectors = encode_names(
            encoder, self._names.tokens, self._all, self._precision, what="Encoding names"
        )
        return self._measure(encoder, vectors)

    def facts(self) -> dict[str, Any]:
        """Count what is compared with what."""
        counts = {f"{half}_queries": len(queries) for half, queries in self._queries.items()}
        return {**counts, "names": len(self._names), "shortlist": len(self._shortlist)}

    def _measure(self, encoder: BiEncoder, vectors: Floats2d) -> Halves:
        concepts = self._names.concepts
        return {
            half: measure(
                rank(
                    encode_queries(encoder, queries, self._precision),
                    queries.concepts,
                    vectors,
                    concepts,
                )
            )
            for half, queries in self._queries.items()
        }
