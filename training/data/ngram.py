"""NgramIndex: compares a text with all names by the TF-IDF of their character trigrams.

The tables of the papers and the tests compare with it; assets hold a `WordNgramIndex`.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from spacy_medlink.retrieval.grams import BUCKETS, count, in_parts, inverse_frequency, weigh
from spacy_medlink.retrieval.mask import Mask, MaskedParts
from spacy_medlink.retrieval.ragged import spread, sums
from spacy_medlink.retrieval.word_ngram import WordNgramIndex
from spacy_medlink.types import Floats1d, Floats2d, Hits, Ints1d, Ints2d
from spacy_medlink.util.threads import threads


class NgramIndex:
    """A sparse matrix names x trigrams, stored twice: by trigram to search, by name to score.

    names (csr_matrix): (n_names, 2**18). grams (csr_matrix): its transpose.
    idf (Floats1d): (2**18,) weight of each trigram bucket.
    """

    weight: ClassVar[float] = WordNgramIndex.weight
    asks_vectors: ClassVar[bool] = False

    def __init__(self, names: sparse.csr_matrix, grams: sparse.csr_matrix, idf: Floats1d) -> None:
        self._names, self._grams, self.idf = names, grams, idf
        self._parts = MaskedParts[_Part](names.nnz, lambda part: int(part.grams.nnz))

    @classmethod
    def build(cls, names: Iterable[str], idf: Floats1d | None = None) -> "NgramIndex":
        """Build over the text of every name, in the order of rows.

        idf (Optional[Floats1d]): weights of another index; default: those of these names.
        """
        counts = count(names)
        if idf is None:
            frequency = np.bincount(counts.indices, minlength=BUCKETS)
            idf = inverse_frequency(frequency, counts.shape[0])
        by_name = weigh(counts, idf)
        return cls(by_name, by_name.T.tocsr(), idf)

    def search(
        self,
        texts: Sequence[str],
        k: int,
        mask: Mask | None = None,
        same: Ints1d | None = None,
        weighted: sparse.csr_matrix | None = None,
    ) -> Hits:
        """Find the k names that are most similar.

        mask (Optional[Mask]): the names that may be answers; None for all.
        same (Optional[Ints1d]): not used, since a text is compared with all names.
        weighted: the texts as `weigh` gives them; None weighs them.
        RETURNS (Hits): (n_texts, k), cosine in 0..1, best first, ties by row; padded with -1.
            Ties for the last place are broken in a fixed way, but not by row.
        """
        rows = np.full((len(texts), k), -1, dtype=np.int64)
        scores: Floats2d = np.full((len(texts), k), -np.inf, dtype=np.float32)
        part = self._part(mask)
        if not texts or not part.grams.shape[1] or k < 1:  # top_n=0 would crash
            return Hits(rows, scores)
        top = _multiply(self.weigh(texts) if weighted is None else weighted, part.grams, k)
        bounds = top.indptr.tolist()
        for index, (begin, end) in enumerate(pairwise(bounds)):
            columns, values = top.indices[begin:end], top.data[begin:end]
            order = np.lexsort((columns, -values))
            columns = columns if part.rows is None else part.rows[columns]
            rows[index, : end - begin] = columns[order]
            scores[index, : end - begin] = values[order]
        return Hits(rows, scores)

    def weigh(self, texts: Sequence[str]) -> sparse.csr_matrix:
        """Weigh the trigrams of texts: csr_matrix (n_texts, 2**18)."""
        return weigh(count(texts), self.idf)

    def score(
        self, texts: Sequence[str], rows: Ints2d, weighted: sparse.csr_matrix | None = None
    ) -> Floats2d:
        """Score names (n_texts, m) for each text; -1 rows score 0.

        weighted: the texts as `weigh` gives them; None weighs them.
        RETURNS (Floats2d): (n_texts, m), cosine in 0..1.
        """
        scores: Floats2d = np.empty(rows.shape, dtype=np.float32)
        for part, weights, column in in_parts(self.weigh(texts) if weighted is None else weighted):
            asked = rows[part]
            wanted = np.maximum(asked, 0).ravel()
            starts = self._names.indptr[wanted].astype(np.int64)
            lengths = np.where(asked.ravel() < 0, 0, self._names.indptr[wanted + 1] - starts)
            places = spread(starts, lengths)
            text = np.repeat(np.repeat(np.arange(len(asked)), asked.shape[1]), lengths)
            products = self._names.data[places] * weights[text, column[self._names.indices[places]]]
            scores[part] = sums(products, lengths).reshape(asked.shape)
        return scores

    def _part(self, mask: Mask | None) -> "_Part":
        """Take the columns of the names that may be answers."""
        return _Part(None, self._grams) if mask is None else self._parts.get(mask, self._part_of)

    def _part_of(self, mask: Mask) -> "_Part":
        rows = mask.rows()
        return _Part(rows, self._names[rows].T.tocsr())


class _Part(NamedTuple):
    """The names of a mask: their rows, and their columns of the matrix trigrams x names."""

    rows: NDArray[np.int64] | None
    grams: sparse.csr_matrix


def _multiply(queries: sparse.csr_matrix, grams: sparse.csr_matrix, k: int) -> sparse.csr_matrix:
    """Multiply sparse matrices, keeping the k highest values of each row in order.

    The library's checked function is slower: it first copies all indices of the index at every
    call. Its function for one thread takes half as long again as that for several, run with one.
    """
    from sparse_dot_topn import _has_openmp_support, unchecked

    k = min(k, grams.shape[1])
    if not queries.nnz or not grams.nnz:
        return sparse.csr_matrix((queries.shape[0], grams.shape[1]), dtype=np.float32)
    queries.indices = queries.indices.astype(grams.indices.dtype, copy=False)
    queries.indptr = queries.indptr.astype(grams.indptr.dtype, copy=False)
    if not _has_openmp_support:
        return unchecked.sp_matmul_topn(queries, grams, k, True, None, 1.0)
    return unchecked.sp_matmul_topn_mt(
        queries, grams, k, True, None, min(threads(), queries.shape[0])
    )
