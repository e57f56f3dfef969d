"""The sparse baseline of the papers: TF-IDF over character unigrams and bigrams.

As in "Medical Crossing" (Alekseev et al., 2022, section 3.1) and BioSyn (Sung et al., 2020):
scikit-learn's TfidfVectorizer over the lower-cased names of the dictionary, nearest by cosine.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..retrieval.concepts import rank_concepts
from ..types import Candidate, Floats1d, Floats2d, Ints1d, Ints2d, Mention
from ..util.threads import threads

_GRAMS = (1, 2)
_NAMES = 64  # proposed for a mention, as many as a tier proposes
_BATCH = 512  # mentions to compare together
_BLOCK = 8192  # names to compare them with at a time: 16 MB of cosines
_MOST = 1 << 20  # cosines to collect before they are sorted


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
        vectors: Any = self._vectorizer.fit_transform(names)
        # Blocks take every n-th name, so that the first block has nearly the best of all.
        count = -(-vectors.shape[0] // _BLOCK)
        self._blocks = [vectors[number::count] for number in range(count)]
        self._name_concept = name_concept
        self._n_names = min(n_names, len(name_concept))

    def rank(self, mentions: Sequence[Mention], k: int) -> list[list[Candidate]]:
        """Rank the concepts for each mention (or its long form) by their best name.

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
        size = max(1, min(_BATCH, -(-len(distinct) // threads())))
        starts = range(0, len(distinct), size)
        with ThreadPoolExecutor(threads()) as pool:  # scipy's products run in parallel
            batches = (distinct[start : start + size] for start in starts)
            parts = list(pool.map(self._search_batch, batches))
        none = np.empty((0, self._n_names))
        rows = np.concatenate([rows for rows, _ in parts] or [none.astype(np.int64)])
        scores = np.concatenate([scores for _, scores in parts] or [none.astype(np.float32)])
        return distinct, rows, scores

    def _search_batch(self, texts: Sequence[str]) -> tuple[Ints2d, Floats2d]:
        """Compare texts with all names, block by block.

        Every text shares a letter with nearly every name, so many texts as one dense matrix take a
        quarter of the time of a product of sparse matrices.
        """
        queries = np.ascontiguousarray(self._vectorizer.transform(texts).toarray().T)
        best = _Best(len(texts), self._n_names)
        for number, block in enumerate(self._blocks):
            best.add(block @ queries, number, len(self._blocks))
        return best.table()


class _Best:
    """The names with the highest cosines for each of n texts, collected block by block.

    n (int): texts. width (int): names to keep for each.
    """

    def __init__(self, n: int, width: int) -> None:
        self._width = width
        # The least cosine to keep; at first, any above 0.
        self._least = np.full(n, np.finfo(np.float32).tiny, dtype=np.float32)
        # The columns: text, name and cosine.
        self._found: list[tuple[Ints1d, Ints1d, Floats1d]] = []
        self._count = 0

    def add(self, cosines: Floats2d, first: int, step: int) -> None:
        """Collect the highest cosines of some names with all texts, (n_names, n).

        first, step (int): the rows of these names are first, first + step, and so on.
        """
        if not self._found and len(cosines) > self._width:
            reached = np.partition(cosines, -self._width, axis=0)[-self._width]
            self._least = np.maximum(self._least, reached)
        name, text = np.nonzero(cosines >= self._least)
        self._found.append((text, name * step + first, cosines[name, text]))
        self._count += len(text)
        if self._count > _MOST:
            self._sort_out()

    def table(self) -> tuple[Ints2d, Floats2d]:
        """Make the table of the best: rows (n, width), -1 where there are fewer, and cosines."""
        self._sort_out()
        text, name, cosine = self._found[0]
        rows = np.full((len(self._least), self._width), -1, dtype=np.int64)
        scores: Floats2d = np.zeros(rows.shape, dtype=np.float32)
        place = _places(text)
        rows[text, place], scores[text, place] = name, cosine
        return rows, scores

    def _sort_out(self) -> None:
        """Keep the best of each text, the lower row first where cosines are equal."""
        columns = [np.concatenate(parts) for parts in zip(*self._found, strict=True)]
        text, name, cosine = columns
        order = np.lexsort((name, -cosine, text))
        order = order[_places(text[order]) < self._width]
        text, name, cosine = text[order], name[order], cosine[order]
        last = _places(text) == self._width - 1
        self._least[text[last]] = cosine[last]
        self._found, self._count = [(text, name, cosine)], 0


def _places(sorted_texts: Ints1d) -> Ints1d:
    """Number the items of each text from 0."""
    first: Ints1d = np.searchsorted(sorted_texts, sorted_texts)
    return np.arange(len(sorted_texts)) - first


def _best_first(pair: tuple[int, float]) -> tuple[float, int]:
    return -pair[1], pair[0]
