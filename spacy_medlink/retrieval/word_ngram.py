"""WordNgramIndex: the cosines of NgramIndex over millions of names, computed by words.

Trigrams lie within words, so the product of a text and a name is the sum of the products of their
words. There are far fewer words than names: the words of a text find similar words by their
trigrams, these words find names, and the best names are scored exactly.

The lists of names by word are read from the most similar word on, up to a limit. Each list is in
the order of the names' norms. Of a long list only the part around the text's norm is read, where
names are about as long as the text.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..types import Array, Floats1d, Floats2d, Hits, Ints1d, Ints2d
from ..util.threads import side_by_side, threads
from .arrays import check, check_below, load_arrays, save_arrays
from .grams import (
    SCORED,
    count,
    dense_columns,
    in_parts,
    inverse_frequency,
    weigh,
    words_of,
)
from .mask import Mask, MaskedParts
from .name_words import CHUNK, count_names, count_trigrams, norms_of, number_words
from .names_by_word import NamesByWord
from .ragged import Ragged, spread, sums
from .similar_words import SimilarWords, Totals, bar, best, distinct
from .word_texts import WordTexts, encoded, lists_with

# Entries of lists to read: so many, and one more for so many names. Of millions of names more are
# somewhat like a text, and the best must be found among them.
_READ, _EACH = 40_000, 180
_NARROWED = 15  # of so many entries read, a name is kept by their sum
_ALIKE = 4  # for a text that is a name, this part of them is read: few other words matter
_RESCORED = 6  # names scored exactly, for each name wanted
_FEW = 1024  # up to so many names are all scored
_EXPANDED = 128  # words of a text that are used; no mention has as many
_SHARED = 4  # fewer texts are not worth a thread of their own
_THREADS = 4  # more would wait for each other: a fifth of a search holds Python's lock
_ARRAYS = {"rows": np.int32, "ranks": np.int32, "norms": np.float32}


class _Expansion(NamedTuple):
    """The words of names that are similar to those of a text.

    words, products: as in Similar. norm (float): of the text, as if its words shared no
    trigrams.
    """

    words: NDArray[np.int32]
    products: Floats1d
    norm: float


class WordNgramIndex:
    """Names by their words and words by their trigrams.

    ranks (NDArray[int32]): the place of each name row in `names`. texts (WordTexts): of the words.
    """

    weight: ClassVar[float] = 0.3
    asks_vectors: ClassVar[bool] = False

    def __init__(
        self, names: NamesByWord, words: SimilarWords, ranks: NDArray[np.int32], texts: WordTexts
    ) -> None:
        self._names, self._words, self._ranks, self._texts = names, words, ranks, texts
        self._parts = MaskedParts[NamesByWord](len(names.words.items), NamesByWord.size)

    @classmethod
    def build(cls, names: Iterable[str]) -> "WordNgramIndex":
        """Build over the text of every name, in the order of rows."""
        texts, name_words = number_words(names)
        counts = count_trigrams(texts)
        word_texts = WordTexts.of(list(map(encoded, texts)))
        del texts  # they take as much memory as everything else together
        idf = inverse_frequency(count_names(name_words, counts), len(name_words))
        counts.data *= idf[counts.indices]
        words = SimilarWords.of(counts, idf)
        norms = norms_of(name_words, counts)
        rows = np.argsort(norms, kind="stable").astype(np.int32)
        ranks = np.empty_like(rows)
        ranks[rows] = np.arange(len(rows), dtype=np.int32)
        ordered = name_words.taken(rows, CHUNK)
        del name_words
        by_word = ordered.transposed(len(words))
        return cls(NamesByWord.of(rows, norms[rows], ordered, by_word), words, ranks, word_texts)

    @property
    def idf(self) -> Floats1d:
        """Weight of each trigram bucket, (2**18,)."""
        return self._words.idf

    def save(self, directory: Path) -> None:
        """Write the arrays into a directory."""
        names = self._names
        save_arrays(directory, {"rows": names.rows, "ranks": self._ranks, "norms": names.norms})
        self._words.save(directory)
        self._texts.save(directory)
        names.words.save(directory, "name_words")
        names.by_word.save(directory, "word_names")

    @classmethod
    def load(cls, directory: Path, n_names: int | None = None) -> "WordNgramIndex":
        """Map the arrays of a directory.

        n_names (Optional[int]): how many names there must be.
        RAISES (MedlinkError): E202 when one is missing or damaged.
        """
        rows, ranks, norms = load_arrays(directory, **_ARRAYS)
        expected = len(rows) if n_names is None else n_names
        for name, array in (("rows", rows), ("ranks", ranks), ("norms", norms)):
            check(directory, name, len(array) == expected, f"{len(array)} names, not {expected}")
        for name, places in (("rows", rows), ("ranks", ranks)):
            check_below(directory, name, places, expected)
        is_right = bool(np.isfinite(norms).all()) and bool((norms > 0).all())
        check(directory, "norms", is_right, "a number is not finite, or not above 0")
        check(directory, "norms", bool((norms[1:] >= norms[:-1]).all()), "does not ascend")
        words = SimilarWords.load(directory)
        name_words = Ragged.load(directory, "name_words", expected, len(words))
        by_word = Ragged.load(directory, "word_names", len(words), expected)
        texts = WordTexts.load(directory, len(words))
        return cls(NamesByWord.of(rows, norms, name_words, by_word), words, ranks, texts)

    def beginning(self, text: str, near: Callable[[str], Sequence[str]], k: int) -> list[int]:
        """Find names with words that begin as the words of a text do, in any order.

        near (Callable[[str], Sequence[str]]): gives the words that a misspelt word may be.
        RETURNS (List[int]): rows of at most k names, those with short words first.
        """
        words = words_of(text)[:_EXPANDED]
        spans = [[self._texts.beginning(word)] for word in words]
        ranks = lists_with(spans, self._names.words, self._names.by_word)
        if not len(ranks):
            for word, runs in zip(words, spans, strict=True):
                runs += map(self._texts.beginning, near(word))
            ranks = lists_with(spans, self._names.words, self._names.by_word)
        rows: list[int] = self._names.rows[ranks[:k]].tolist()
        return rows

    def search(
        self,
        texts: Sequence[str],
        k: int,
        mask: Mask | None = None,
        same: Ints1d | None = None,
        weighted: sparse.csr_matrix | None = None,
    ) -> Hits:
        """Find the k most similar names; a name of low cosine may be missed.

        mask (Optional[Mask]): the names that may be answers; None for all.
        same (Optional[Ints1d]): for each text the row of a name with its key, or -1. The words of
            that name take the place of similar words, which are not searched then (decision 12).
        weighted: the texts as `weigh` gives them; None weighs them.
        RETURNS (Hits): (n_texts, k), cosine in 0..1, best first, ties by row; padded with -1.
        """
        rows = np.full((len(texts), k), -1, dtype=np.int64)
        scores: Floats2d = np.full((len(texts), k), -np.inf, dtype=np.float32)
        if k < 1:
            return Hits(rows, scores)
        names = self._names
        if mask is not None:
            names = self._parts.get(mask, self._part)
        same_rows = [-1] * len(texts) if same is None else same.tolist()
        if weighted is None:
            weighted = self.weigh(texts)

        def search(part: slice) -> None:
            ranks = self._candidates(texts[part], same_rows[part], names, _RESCORED * k)
            alone = weighted if len(parts) == 1 else weighted[part]
            cosines = self._cosines(*dense_columns(alone), names, ranks)
            name_rows = np.where(cosines > 0, names.rows[ranks], -1)
            cosines = np.where(cosines > 0, cosines, -np.inf)
            order = np.lexsort((name_rows, -cosines))[:, :k]
            cells = part, slice(order.shape[1])
            rows[cells] = np.take_along_axis(name_rows, order, axis=1)
            scores[cells] = np.take_along_axis(cosines, order, axis=1)

        workers = min(threads(), _THREADS)
        size = min(SCORED, max(_SHARED, -(-len(texts) // workers)))
        parts = [slice(first, first + size) for first in range(0, len(texts), size)]
        side_by_side(search, parts, workers)
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
        ranks = np.where(rows >= 0, self._ranks[rows], -1)
        scores: Floats2d = np.empty(rows.shape, dtype=np.float32)
        for part, weights, column in in_parts(self.weigh(texts) if weighted is None else weighted):
            scores[part] = self._cosines(weights, column, self._names, ranks[part])
        return scores

    def _candidates(
        self, texts: Sequence[str], same: Sequence[int], names: NamesByWord, most: int
    ) -> Ints2d:
        """Find the ranks of the names that are probably most similar: (n_texts, <= most), or -1."""
        pairs = zip(texts, same, strict=True)
        nearest = [self._nearest(text, row, names, most) for text, row in pairs]
        ranks = np.full((len(texts), max(map(len, nearest))), -1, dtype=np.int64)
        for index, ranks_of in enumerate(nearest):
            ranks[index, : len(ranks_of)] = ranks_of
        return ranks

    def _nearest(self, text: str, same: int, names: NamesByWord, most: int) -> Array:
        """Find names that probably have a high cosine with a text; `same` is as for `search`."""
        if len(names.rows) <= _FEW:
            return names.allowed_ranks()
        expansion = self._expand(Counter(words_of(text))) if same < 0 else self._words_of(same)
        if not len(expansion.words):
            return expansion.words
        room = (_READ + len(names.rows) // _EACH) // (1 if same < 0 else _ALIKE)
        # The most that a word can add to the norm of the text (Cauchy-Schwarz).
        strength = expansion.products / self._words.norms[expansion.words]
        order = np.argsort(-strength)
        words, products = expansion.words[order], expansion.products[order]
        read = names.read(words, products, expansion.norm, room)
        nearest = best(*_score(expansion, names, *read, room // _NARROWED), most)
        if same < 0 or names is not self._names:
            return nearest
        # Where all of its words are frequent, the lists that were read may lack the name itself.
        return distinct(np.append(nearest, self._ranks[same]))

    def _expand(self, words: Counter[str]) -> _Expansion:
        """Find similar words for the words of a text; of a long text, for the first ones."""
        similar = [self._words.find(word) for word in islice(words, _EXPANDED)]
        times = np.fromiter(words.values(), dtype=np.float32)[:_EXPANDED]
        parts = [word.products * often for word, often in zip(similar, times, strict=True)]
        all_words = np.concatenate([np.empty(0, np.int32), *(word.words for word in similar)])
        products = np.concatenate([np.empty(0, np.float32), *parts])
        norms = times * np.array([word.norm for word in similar], dtype=np.float32)
        return _Expansion(all_words, products, float(np.sqrt(np.square(norms).sum())))

    def _words_of(self, row: int) -> _Expansion:
        """Take the words of a name as the only ones that are similar to those of a text."""
        rank = int(self._ranks[row])
        begin, end = self._names.words.offsets[rank : rank + 2].tolist()
        words, times = np.unique(self._names.words.items[begin:end], return_counts=True)
        norms = self._words.norms[words]
        return _Expansion(words, norms * norms * times, float(np.linalg.norm(norms * times)))

    def _cosines(
        self, weights: Floats2d, column: NDArray[np.int32], names: NamesByWord, ranks: Ints2d
    ) -> Floats2d:
        """Compute the cosines of texts with names, (n_texts, m); 0 for -1.

        weights, column: `dense_columns` of the texts.
        """
        flat = ranks.ravel()
        lengths = np.where(flat < 0, 0, names.words.lengths(flat))
        places = spread(names.words.offsets[flat], lengths)
        words, which = np.unique(names.words.items[places], return_inverse=True)
        products = self._words.trigrams_of(words, column, weights.shape[1]) @ weights.T
        text = np.repeat(np.repeat(np.arange(len(ranks)), ranks.shape[1]), lengths)
        cosines = sums(products[which, text], lengths) / names.norms[flat]
        return cosines.astype(np.float32).reshape(ranks.shape)

    def _part(self, mask: Mask) -> NamesByWord:
        return self._names.within(mask, self._ranks)


def _score(
    expansion: _Expansion,
    names: NamesByWord,
    ranks: NDArray[np.int32],
    products: Floats1d,
    most: int,
) -> tuple[Array, Array]:
    """Score about `most` names, those that the entries read make most probable, by their words."""
    cosines = Totals(ranks, products, len(names.rows)).of(ranks) / names.about_norms(ranks)
    ranks = distinct(ranks[cosines >= bar(cosines, most)])
    # Scored again with the words whose lists were skipped or not read to their ends.
    given = Totals(expansion.words, expansion.products, len(names.by_word))
    places, lengths = names.words.places(ranks)
    return ranks, sums(given.of(names.words.items[places]), lengths) / names.norms[ranks]
