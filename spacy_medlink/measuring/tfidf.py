"""The sparse baseline of the papers: TF-IDF over character unigrams and bigrams.

As "Medical Crossing" (Alekseev et al., 2022, section 3.1) and BioSyn (Sung et al., 2020) have it:
scikit-learn's TfidfVectorizer over the names of the dictionary, lower-cased, nearest by cosine.
"""

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..retrieval.fusion import rank_concepts
from ..types import Candidate, Floats2d, Ints2d, Mention

_GRAMS = (1, 2)
_NAMES = 64  # proposed for a mention, as many as a tier proposes
_BATCH = 512


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
        self._by_gram: Any = self._vectorizer.fit_transform(names).T.tocsr()
        self._name_concept = name_concept
        self._n_names = min(n_names, len(name_concept))

    def rank(self, mentions: Sequence[Mention], k: int) -> list[list[Candidate]]:
        """Rank the concepts for each mention, by their best name; the long form, if there is one.

        k (int): at most so many concepts each.
        """
        texts = [mention.long_form or mention.text for mention in mentions]
        distinct, rows, scores = self._search(texts)
        ranked = rank_concepts(rows, scores, {"tfidf": scores}, self._name_concept, k)
        found = dict(zip(distinct, ranked, strict=True))
        return [found[text] for text in texts]

    def rank_names(self, texts: Sequence[str], k: int) -> list[list[tuple[int, float]]]:
        """Rank names for each text: (name row, cosine), best first."""
        distinct, rows, scores = self._search(texts)
        found = {}
        for text, own_rows, own_scores in zip(distinct, rows, scores, strict=True):
            pairs = zip(own_rows.tolist(), own_scores.tolist(), strict=True)
            ranking = sorted((pair for pair in pairs if pair[0] >= 0), key=_best_first)
            found[text] = ranking[:k]
        return [found[text] for text in texts]

    def _search(self, texts: Sequence[str]) -> tuple[list[str], Ints2d, Floats2d]:
        """Search distinct texts: rows (n, m), -1 where there are fewer names, and cosines."""
        distinct = list(dict.fromkeys(texts))
        starts = range(0, len(distinct), _BATCH)
        parts = [self._search_batch(distinct[start : start + _BATCH]) for start in starts]
        none = np.empty((0, self._n_names))
        rows = np.concatenate([rows for rows, _ in parts] or [none.astype(np.int64)])
        scores = np.concatenate([scores for _, scores in parts] or [none.astype(np.float32)])
        return distinct, rows, scores

    def _search_batch(self, texts: Sequence[str]) -> tuple[Ints2d, Floats2d]:
        from sparse_dot_topn import sp_matmul_topn

        queries = self._vectorizer.transform(texts)
        best: Any = sp_matmul_topn(
            queries, self._by_gram, top_n=self._n_names, sort=True, n_threads=_threads()
        )
        rows = np.full((len(texts), self._n_names), -1, dtype=np.int64)
        scores = np.zeros((len(texts), self._n_names), dtype=np.float32)
        counts = np.diff(best.indptr)
        line = np.repeat(np.arange(len(texts)), counts)
        column = np.arange(best.nnz) - np.repeat(best.indptr[:-1], counts)
        rows[line, column], scores[line, column] = best.indices, best.data
        return rows, scores


def _threads() -> int:
    """Use as many threads as OpenMP would."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return int(given) if given.isdigit() and int(given) else os.cpu_count() or 1


def _best_first(pair: tuple[int, float]) -> tuple[float, int]:
    return -pair[1], pair[0]
