"""The sparse vectors of the papers, as an n-gram tier: TF-IDF over characters and their pairs.

As in "Medical Crossing" (Alekseev et al., 2022, section 3.1) and BioSyn (Sung et al., 2020):
scikit-learn's TfidfVectorizer over the lower-cased names of the dictionary, nearest by cosine.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from spacy_medlink.retrieval.grams import BUCKETS
from training.data.ngram import NgramIndex


class TfidfIndex(NgramIndex):
    """Compares a text with all names by the TF-IDF of their characters and pairs of characters.

    names (Iterable[str]): the text of every name, in the order of rows.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), dtype=np.float32)
        vectors = _widened(self._vectorizer.fit_transform(names))
        super().__init__(vectors, vectors.T.tocsr(), self._vectorizer.idf_)

    def weigh(self, texts: Sequence[str]) -> sparse.csr_matrix:
        """Weigh the characters and pairs of texts: csr_matrix (n_texts, 2**18)."""
        return _widened(self._vectorizer.transform(texts))


def _widened(vectors: Any) -> sparse.csr_matrix:
    """Add empty columns, for as many as an n-gram tier has."""
    vectors.resize(vectors.shape[0], BUCKETS)
    return vectors
