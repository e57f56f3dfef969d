"""The sparse vectors of the papers, as an n-gram tier: TF-IDF over characters and their pairs.

As in "Medical Crossing" (Alekseev et al., 2022, section 3.1) and BioSyn (Sung et al., 2020):
scikit-learn's TfidfVectorizer over the lower-cased names of the dictionary, nearest by cosine.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sparse_dot_topn import sp_matmul_topn

from spacy_medlink.retrieval.mask import Mask
from spacy_medlink.retrieval.word_ngram import WordNgramIndex
from spacy_medlink.types import Floats2d, Hits, Ints1d, Ints2d
from spacy_medlink.util.threads import threads


class TfidfIndex:
    """Compares a text with all names by sparse vectors of length 1.

    names (csr_matrix): vectors of the names, (n_names, width). weigh (Callable): makes those of
        texts, (n_texts, width).
    """

    weight: ClassVar[float] = WordNgramIndex.weight
    asks_vectors: ClassVar[bool] = False

    def __init__(
        self, names: sparse.csr_matrix, weigh: Callable[[Sequence[str]], sparse.csr_matrix]
    ) -> None:
        self._names, self._by_gram, self.weigh = names, names.T.tocsr(), weigh

    @classmethod
    def of(cls, names: Iterable[str]) -> "TfidfIndex":
        """Build over the text of every name, in the order of rows."""
        vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), dtype=np.float32)
        return cls(vectorizer.fit_transform(names), vectorizer.transform)

    def search(
        self,
        texts: Sequence[str],
        k: int,
        mask: Mask | None = None,
        same: Ints1d | None = None,
        weighed: sparse.csr_matrix | None = None,
    ) -> Hits:
        """Find the k names that are most similar; see `spacy_medlink.retrieval.tier`.

        RETURNS (Hits): (n_texts, k), cosine in 0..1, best first, ties by row; padded with -1.
        """
        rows = np.full((len(texts), k), -1, dtype=np.int64)
        scores: Floats2d = np.full((len(texts), k), -np.inf, dtype=np.float32)
        grams, row_of = self._by_gram, np.arange(self._names.shape[0])
        if mask is not None:
            row_of = mask.rows()
            grams = self._names[row_of].T.tocsr()
        if not (len(texts) and k and grams.nnz):  # the library would crash
            return Hits(rows, scores)
        queries = self.weigh(texts) if weighed is None else weighed
        top = sp_matmul_topn(queries, grams, min(k, len(row_of)), n_threads=threads())
        for text in range(len(texts)):
            found = slice(*top.indptr[text : text + 2])
            columns, values = top.indices[found], top.data[found]
            order = np.lexsort((columns, -values))
            rows[text, : len(order)] = row_of[columns[order]]
            scores[text, : len(order)] = values[order]
        return Hits(rows, scores)

    def score(
        self, texts: Sequence[str], rows: Ints2d, weighed: sparse.csr_matrix | None = None
    ) -> Floats2d:
        """Score names (n_texts, m) for each text: cosine in 0..1; -1 rows score 0."""
        queries = self.weigh(texts) if weighed is None else weighed
        scores: Floats2d = np.zeros(rows.shape, dtype=np.float32)
        for text, own in enumerate(rows):
            cosines = (self._names[np.maximum(own, 0)] @ queries[text].T).toarray()[:, 0]
            scores[text] = np.where(own < 0, 0, cosines)
        return scores
