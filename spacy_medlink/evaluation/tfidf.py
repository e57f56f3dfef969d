"""The sparse baseline of the papers: TF-IDF over character unigrams and bigrams.

As in "Medical Crossing" (Alekseev et al., 2022, section 3.1) and BioSyn (Sung et al., 2020):
scikit-learn's TfidfVectorizer over the lower-cased names of the dictionary, nearest by cosine.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..retrieval.concepts import rank_concepts
from ..types import Candidate, Floats2d, Ints2d, Mention

_GRAMS = (1, 2)
_NAMES = 64  # proposed for a mention, as many as a tier proposes
_BATCH = 32  # mentions to compare together: 128 MB of cosines with a million names


class TfidfRanker:
    """Ranks names by the cosine of their TF-IDF vectors.

    names (Iterable[str]): the text of every name, in the order of rows.
    name_concept (NDArray): concept row of every name row, (n_names,).
    n_names (int): names proposed for a mention.
    """

    def __init__(
        self, names: Iterable[str], name_concept: NDArray[np.int32], n_names: int = _NAMES
    ) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._vectorizer = TfidfVectorizer(analyzer="char", ngram_range=_GRAMS, dtype=np.float32)
        self._vectors: Any = self._vectorizer.fit_transform(names)
        self._name_concept = name_concept
        self._n_names = min(n_names, len(name_concept))

    def rank(self, mentions: Sequence[Mention], k: int) -> list[list[Candidate]]:
        """Rank the concepts for each mention (or its long form) by their best name.

        k (int): at most so many concepts each.
        """
        rows, scores = self._search([mention.long_form or mention.text for mention in mentions])
        return rank_concepts(rows, scores, {"tfidf": scores}, self._name_concept, k)

    def rank_names(self, texts: Sequence[str], k: int) -> list[list[tuple[int, float]]]:
        """Rank names for each text: (name row, cosine), best first."""
        return [
            [
                (row, score)
                for row, score in zip(text_rows.tolist(), text_scores.tolist(), strict=True)
                if row >= 0
            ][:k]
            for text_rows, text_scores in zip(*self._search(texts), strict=True)
        ]

    def _search(self, texts: Sequence[str]) -> tuple[Ints2d, Floats2d]:
        """Compare texts with all names: rows (n, n_names), -1 where there are fewer, and cosines.

        Every text shares a letter with nearly every name, so texts as one dense matrix take a
        quarter of the time of a product of sparse matrices.
        """
        rows = np.full((len(texts), self._n_names), -1, dtype=np.int64)
        scores: Floats2d = np.zeros(rows.shape, dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            queries = self._vectorizer.transform(texts[start : start + _BATCH]).toarray()
            for row, cosines in enumerate((self._vectors @ queries.T).T, start):
                least = np.partition(cosines, -self._n_names)[-self._n_names]
                names = np.flatnonzero((cosines >= least) & (cosines > 0))
                best = names[np.lexsort((names, -cosines[names]))][: self._n_names]
                rows[row, : len(best)], scores[row, : len(best)] = best, cosines[best]
        return rows, scores
