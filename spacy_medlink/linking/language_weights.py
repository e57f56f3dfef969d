"""LanguageWeights: weights of the tiers for mentions of some languages.

An encoder may read one language and not another. A mention has the language of the name that is
written most like it: neither a text nor a pipeline says it for each mention, and a note in German
may have Latin ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..retrieval.concepts import MEMORY
from ..retrieval.tier import EXACT
from ..types import Floats2d, Fusion, Ints1d
from .tiers import ScoredNames


@dataclass(frozen=True)
class LanguageWeights:
    """Weights of the tiers by language; mentions of other languages keep those of the fusion.

    lang (NDArray[uint16]): place of each name's language in `langs`, (n_names,).
    weights (Mapping[str, Mapping[str, float]]): by language.
    """

    lang: NDArray[np.uint16]
    langs: Sequence[str]
    weights: Mapping[str, Mapping[str, float]]

    def fuse(self, fusion: Fusion, scored: ScoredNames) -> Floats2d:
        """Fuse the scores of names, (n_texts, m), each text by the weights of its language."""
        fused = fusion(scored.scores)
        languages = language_of(scored, self.lang)
        for column, name in enumerate(self.langs):
            texts = np.flatnonzero(languages == column) if name in self.weights else ()
            if len(texts):
                weights = self.weights[name]
                scores = {tier: values[texts] for tier, values in scored.scores.items()}
                fused[texts] = fusion.with_weights(weights)(scores)
        return fused


def language_of(scored: ScoredNames, lang: NDArray[np.uint16]) -> Ints1d:
    """Get the language of each text, (n_texts,): that of the first name of a tier, -1 for none."""
    hits = next((hits for tier, hits in scored.hits.items() if tier not in (MEMORY, EXACT)), None)
    if hits is None or not hits.rows.shape[1]:
        return np.full(len(scored.rows), -1)
    # Names that an example hides are -1, where they were.
    first = np.take_along_axis(hits.rows, (hits.rows >= 0).argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.where(first >= 0, lang[np.maximum(first, 0)].astype(np.int64), -1)
