"""SimilarWords: the words of names, and a search for those similar to a word of a text."""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..types import Array, Floats1d, Ints1d
from .arrays import check, load_arrays, save_arrays
from .grams import BUCKETS, csr, trigrams
from .ragged import Ragged, offsets_of, sums

_LEAST, _MOST = 0.2, 1024  # least cosine of similar words, and most words kept
_READ, _LIGHT = 100_000, 0.2  # entries to read; beyond them, this squared weight is skipped
_COMPARED = 4096  # highest entries; their words are compared
_SLOTS = 20  # most bits of the slots in which one search adds up
_ROOM = 128  # slots for each value, up to these; few that share one
_SAMPLE = 8192  # scores from which to estimate how high the best ones are
_KNOWN = 1 << 15  # words of texts whose similar words are remembered
_ARRAYS = {"word_norms": np.float32, "idf": np.float32}


class Similar(NamedTuple):
    """Words of names that are similar to a word of a text.

    words (NDArray[int32]): (m,). products (Floats1d): with the word of the text, (m,). norm
    (float): of that word, by the trigrams that names have; others would only scale it.
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
        self._known = lru_cache(_KNOWN)(self._find)

    @classmethod
    def of(cls, weighted: sparse.csr_matrix, idf: Floats1d) -> "SimilarWords":
        """Make it of a matrix words x trigrams, weighted by `idf`: csr (n_words, BUCKETS)."""
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
    def load(cls, directory: Path) -> "SimilarWords":
        """Map the arrays of a directory. RAISES (MedlinkError): E202 when one is damaged."""
        norms, idf = load_arrays(directory, **_ARRAYS)
        check(directory, "idf", len(idf) == BUCKETS, f"{len(idf)} weights, not {BUCKETS}")
        for name, values in (("word_norms", norms), ("idf", idf)):
            is_right = bool(np.isfinite(values).all()) and bool((values > 0).all())
            check(directory, name, is_right, "a number is not finite, or not above 0")
        grams = Ragged.load(directory, "word_grams", len(norms), BUCKETS, weighted=True)
        by_gram = Ragged.load(directory, "gram_words", BUCKETS, len(norms), weighted=True)
        return cls(norms, idf, grams, by_gram)

    def trigrams_of(self, words: Array, column: NDArray[np.int32], width: int) -> sparse.csr_matrix:
        """Get the weighted trigrams of words: csr_matrix (n, width).

        column (NDArray[int32]): the column of each bucket, (BUCKETS,).
        """
        places, lengths = self.grams.places(words)
        assert self.grams.weights is not None
        parts = self.grams.weights[places], column[self.grams.items[places]], offsets_of(lengths)
        return csr(parts, (len(words), width))

    def find(self, word: str) -> Similar:
        """Find the words that are similar to a word of a text."""
        return self._known(word)

    def _find(self, word: str) -> Similar:
        buckets, weights = self._weigh(word)
        norm = float(np.sqrt(np.square(weights, dtype=np.float64).sum())) or 1.0
        read, read_weights = self._heavy(buckets, weights / norm)
        words, cosines = self._probable(read, read_weights, len(read) == len(buckets))
        if cosines is None:
            column = np.full(BUCKETS, len(buckets), dtype=np.int32)
            column[buckets] = np.arange(len(buckets))
            trigrams = self.trigrams_of(words, column, len(buckets) + 1)
            cosines = trigrams @ np.append(weights / norm, np.float32(0)) / self.norms[words]
        is_similar = cosines >= _LEAST
        chosen = best(np.flatnonzero(is_similar), cosines[is_similar], _MOST)
        words = words[chosen]
        products = cosines[chosen] * self.norms[words] * norm
        return Similar(words, products.astype(np.float32), norm)

    def _weigh(self, word: str) -> tuple[Ints1d, Floats1d]:
        """Weigh the trigrams of a word that occur in names."""
        buckets, counts = np.unique(np.array(trigrams(word), dtype=np.int64), return_counts=True)
        is_known = self._by_gram.lengths(buckets) > 0
        buckets = buckets[is_known]
        return buckets, (counts[is_known] * self.idf[buckets]).astype(np.float32)

    def _heavy(self, buckets: Ints1d, weights: Floats1d) -> tuple[Ints1d, Floats1d]:
        """Skip the trigrams that most words have: long lists of little weight."""
        lengths = self._by_gram.lengths(buckets)
        order = np.argsort(lengths)
        squares = np.square(weights[order])
        is_needed = np.cumsum(squares) - squares < 1 - _LIGHT
        order = order[is_needed | (np.cumsum(lengths[order]) <= _READ)]
        return buckets[order], weights[order]

    def _probable(
        self, buckets: Ints1d, weights: Floats1d, is_whole: bool
    ) -> tuple[NDArray[np.int32], Floats1d | None]:
        """Find the words that probably have the highest cosines with a vector, ascending.

        is_whole (bool): whether these are all buckets of the vector. RETURNS: the words, and their
            cosines where they are exact: no list was skipped, and no two words share a slot.
        """
        offsets, items, values = self._by_gram
        assert values is not None
        runs = list(zip(offsets[buckets].tolist(), offsets[buckets + 1].tolist(), strict=True))
        items = np.concatenate([items[:0], *(items[begin:end] for begin, end in runs)])
        values = np.concatenate([values[:0], *(values[begin:end] for begin, end in runs)])
        values *= np.repeat(weights, self._by_gram.lengths(buckets))
        totals = Totals(items, values, len(self))
        cosines = totals.of(items)
        least = max(_LEAST if is_whole else 0.0, bar(cosines, _COMPARED))
        words = distinct(items[cosines >= least])
        return words, totals.of(words) if is_whole and totals.is_exact else None


def best(items: Array, scores: Array, most: int) -> Array:
    """Keep the items of the highest scores, at most `most`, in any order."""
    return items if len(items) <= most else items[np.argpartition(-scores, most)[:most]]


def distinct(items: Array) -> Array:
    """Sort and remove repetitions, faster than np.unique for a few thousand."""
    items = np.sort(items)
    first: Array = items[np.append(True, items[1:] != items[:-1])[: len(items)]]
    return first


class Totals:
    """Sums of values by item, stored at the last bits of the item, at most 20.

    Of very many items, a few share a slot, and get too high a sum: a slot for each would not fit
    into the processor's cache.

    size (int): all items are below it.
    """

    def __init__(self, items: NDArray[np.int32], values: Floats1d, size: int) -> None:
        slots = min(_SLOTS, (_ROOM * len(items)).bit_length(), size.bit_length())
        self._mask = (1 << slots) - 1
        self._sums: Array = np.bincount(items & self._mask, values, 1 << slots)
        self.is_exact = size <= 1 << slots  # no two items share a slot

    def of(self, items: NDArray[np.int32]) -> Floats1d:
        """Look up items: (len(items),), 0 for those without a value."""
        return self._sums.take(items & self._mask).astype(np.float32, copy=False)


def bar(scores: Array, most: int) -> float:
    """Estimate from a sample the score that about `most` of many scores reach."""
    if len(scores) <= most:
        return 0.0
    sample = scores[:: max(1, len(scores) // _SAMPLE)]
    rank = len(sample) * most // len(scores)
    return float(-np.partition(-sample, rank)[rank])
