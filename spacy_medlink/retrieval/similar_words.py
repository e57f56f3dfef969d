"""SimilarWords: the words of names, and which of them are like a word of a text."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..types import Floats1d, Ints1d
from ..util.held import Directory
from ..util.lru import Lru
from .arrays import check, load_arrays, save_arrays
from .grams import BUCKETS, csr, trigrams
from .ragged import Ragged, offsets_of, sums

_LEAST, _MOST = 0.2, 512  # cosine of similar words, and how many are kept
_READ, _PART = 100_000, 0.5  # entries to read, if they have this part of the squared weight
_COMPARED = 4096  # words whose cosine is computed in full
_KNOWN = 1 << 15  # words of texts, whose similar words are kept
_ARRAYS = {"word_norms": np.float32, "idf": np.float32}


class Similar(NamedTuple):
    """Words of names that are similar to a word of a text.

    words (NDArray[int32]): (m,). products (Floats1d): with the word of the text, (m,). norm
    (float): of that word, as far as names have its trigrams; others would only scale it.
    """

    words: NDArray[np.int32]
    products: Floats1d
    norm: float


class SimilarWords:
    """The distinct words of names.

    norms (Floats1d): of the words' vectors, (n_words,). idf (Floats1d): (2**18,) weight of each
    trigram bucket. grams (Ragged): weighted trigrams of each word. by_gram (Ragged): words by
    trigram, with the weights divided by the words' norms.
    """

    def __init__(self, norms: Floats1d, idf: Floats1d, grams: Ragged, by_gram: Ragged) -> None:
        self.norms, self.idf, self.grams = norms, idf, grams
        self._by_gram = by_gram
        self._known: Lru[str, Similar] = Lru(_KNOWN)

    @classmethod
    def of(cls, weighted: Any, idf: Floats1d) -> "SimilarWords":
        """Make it of words x trigrams, weighted by `idf`: csr_matrix (n_words, BUCKETS)."""
        lengths = np.diff(weighted.indptr)
        norms = np.sqrt(sums(weighted.data.astype(np.float64) ** 2, lengths)).astype(np.float32)
        grams = Ragged(weighted.indptr, weighted.indices, weighted.data)
        scaled = Ragged(grams.offsets, grams.items, weighted.data / np.repeat(norms, lengths))
        return cls(norms, idf, grams, scaled.transposed(BUCKETS))

    def __len__(self) -> int:
        """Count the words."""
        return len(self.norms)

    def save(self, directory: Path) -> None:
        """Write the arrays into a directory."""
        save_arrays(directory, {"word_norms": self.norms, "idf": self.idf})
        self.grams.save(directory, "word_grams")
        self._by_gram.save(directory, "gram_words")

    @classmethod
    def load(cls, directory: Directory) -> "SimilarWords":
        """Map the arrays of a directory. RAISES (MedlinkError): E202 when one is damaged."""
        norms, idf = load_arrays(directory, **_ARRAYS)
        check(directory, "idf", len(idf) == BUCKETS, f"{len(idf)} weights, not {BUCKETS}")
        for name, values in (("word_norms", norms), ("idf", idf)):
            is_right = bool(np.isfinite(values).all()) and bool((values > 0).all())
            check(directory, name, is_right, "a number is not finite, or not above 0")
        grams = Ragged.load(directory, "word_grams", len(norms), BUCKETS, weighted=True)
        by_gram = Ragged.load(directory, "gram_words", BUCKETS, len(norms), weighted=True)
        return cls(norms, idf, grams, by_gram)

    def find(self, word: str, zeros: Floats1d) -> Similar:
        """Find the words that are similar to a word of a text.

        zeros (Floats1d): (n_words,), to add up in; left as it was.
        """
        known = self._known.get(word)
        if known is None:
            known = self._find(word, zeros)
            self._known.put(word, known)
        return known

    def trigrams_of(self, words: NDArray[Any], column: NDArray[np.int32], width: int) -> Any:
        """Take the weighted trigrams of words: csr_matrix (n, width).

        column (NDArray[int32]): which of the columns each bucket has, (BUCKETS,).
        """
        places, lengths = self.grams.places(words)
        assert self.grams.weights is not None
        parts = self.grams.weights[places], column[self.grams.items[places]], offsets_of(lengths)
        return csr(parts, (len(words), width))

    def _find(self, word: str, zeros: Floats1d) -> Similar:
        buckets, weights = self._weigh(word)
        norm = float(np.sqrt(np.square(weights, dtype=np.float64).sum())) or 1.0
        read = self._read(buckets, weights / norm)
        cosines = self._add_up(buckets[read], weights[read] / norm, zeros)
        words = cosines[0][cosines[1] >= _LEAST / 2]
        values = cosines[1][cosines[1] >= _LEAST / 2]
        words = distinct(best(words, values, _COMPARED))
        column = np.full(BUCKETS, len(buckets), dtype=np.int32)
        column[buckets] = np.arange(len(buckets))
        trigrams = self.trigrams_of(words, column, len(buckets) + 1)
        products = (trigrams @ np.append(weights, np.float32(0))).astype(np.float32)
        found = products / (self.norms[words] * norm)
        is_similar = found >= _LEAST
        chosen = best(np.flatnonzero(is_similar), found[is_similar], _MOST)
        return Similar(words[chosen], products[chosen], norm)

    def _weigh(self, word: str) -> tuple[Ints1d, Floats1d]:
        """Weigh those trigrams of a word that names have."""
        buckets, counts = np.unique(np.array(trigrams(word), dtype=np.int64), return_counts=True)
        is_known = self._by_gram.lengths(buckets) > 0
        buckets = buckets[is_known]
        return buckets, (counts[is_known] * self.idf[buckets]).astype(np.float32)

    def _read(self, buckets: Ints1d, weights: Floats1d) -> Ints1d:
        """Choose the trigrams whose lists are read, those of few words first.

        The most frequent ones together may be too light to make a word similar.
        """
        lengths = self._by_gram.lengths(buckets)
        order = np.argsort(lengths)
        left = 1 - np.cumsum(weights[order] ** 2)
        is_enough = (left < _LEAST**2) | ((left < 1 - _PART) & (np.cumsum(lengths[order]) > _READ))
        return order[: np.count_nonzero(~is_enough) + 1]

    def _add_up(
        self, buckets: Ints1d, weights: Floats1d, zeros: Floats1d
    ) -> tuple[NDArray[np.int32], Floats1d]:
        """Add up cosines over the lists of trigrams: words, some repeated, and their cosines."""
        by_gram = self._by_gram
        assert by_gram.weights is not None
        lists = [np.empty(0, dtype=np.int32)]
        bounds = by_gram.offsets[buckets].tolist(), by_gram.offsets[buckets + 1].tolist()
        for begin, end, weight in zip(*bounds, weights, strict=True):
            own = by_gram.items[begin:end]
            zeros[own] += by_gram.weights[begin:end] * weight  # a list has no word twice
            lists.append(own)
        words = np.concatenate(lists)
        cosines = zeros[words]
        zeros[words] = 0
        return words, cosines


def best(items: NDArray[Any], scores: NDArray[Any], most: int) -> NDArray[Any]:
    """Keep the items of the highest scores, at most `most`, in any order."""
    return items if len(items) <= most else items[np.argpartition(-scores, most)[:most]]


def distinct(items: NDArray[Any]) -> NDArray[Any]:
    """Sort and leave out repetitions, faster than np.unique for a few thousand."""
    items = np.sort(items)
    found: NDArray[Any] = items[np.append(True, items[1:] != items[:-1])[: len(items)]]
    return found
