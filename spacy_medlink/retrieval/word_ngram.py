"""WordNgramIndex: the cosines of NgramIndex over millions of names, by way of their words.

Trigrams lie within words, so that the product of a text and a name is the sum of the products of
their words. Words are few where names are many: the words of a text find similar words by their
trigrams, these find names, and the best of the names are scored exactly.

The list of the names of a word is in the order of the names' norms. The least cosine that a search
asks for says which lists it reads, and how far (MaxScore: Turtle and Flood 1995, section 4): what
has that cosine has a word like one of those words of the text that few names have.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..types import Floats1d, Floats2d, Hits, Ints1d, Ints2d
from ..util.held import Directory
from .arrays import check, check_below, load_arrays, save_arrays
from .grams import (
    SCORED,
    count,
    dense_columns,
    inverse_frequency,
    weigh,
    words_of,
)
from .mask import Mask
from .masked import MaskedParts
from .name_words import CHUNK, count_names, count_trigrams, norms_of, number_words
from .ragged import Ragged, spread, sums
from .similar_words import SimilarWords, best, distinct

FILE = "word_names_items.npy"  # NgramIndex has no such file
_LEVELS = (0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2)  # least cosines to ask for
_READ = (20_000, 80_000, 320_000)  # entries of lists to read; more where that found too little
_NARROWED = 16_384  # names that are kept by what was read of them
_RESCORED = 6  # names that are scored exactly, for each one wanted
_FEW = 1024  # names that are all scored
_STEPS = 1024  # of a table of norms
_CUT = 256  # entries of a list; to find how far to read a shorter one takes longer than to read it
_EXPANDED = 128  # words of a text; no mention has as many
_PART = 8  # a mask that leaves less than this part of the names gets lists of its own
_ARRAYS = {"rows": np.int32, "ranks": np.int32, "norms": np.float32}


class _Scratch(NamedTuple):
    """Zeros in which one search adds up: for each name and each word."""

    names: Floats1d
    words: Floats1d


class _Names(NamedTuple):
    """Names by *rank*: their places in the order of their norms.

    rows (NDArray[int32]): of each rank. norms (Floats1d): of the names' vectors. words (Ragged): of
    each name. by_word (Ragged): the ranks of the names of each word.
    """

    rows: NDArray[np.int32]
    norms: Floats1d
    words: Ragged
    by_word: Ragged

    def part(self, ranks: Ints1d) -> "_Names":
        """Keep those names of these ranks, ascending."""
        words = self.words.taken(ranks, CHUNK)
        by_word = words.transposed(len(self.by_word))
        return _Names(self.rows[ranks], self.norms[ranks], words, by_word)


class _Expansion(NamedTuple):
    """The words of names that are similar to those of a text.

    words, products: as _Similar has them. group (Ints1d): which word of the text each is similar
    to. norms (Floats1d): of the words of the text, times how often they occur.
    """

    words: NDArray[np.int32]
    products: Floats1d
    group: Ints1d
    norms: Floats1d


class _Plan(NamedTuple):
    """What a search would read for each level, of the lists of names by similar word.

    words, products: as _Similar has them. lengths (Ints1d): of their lists. picked (NDArray[bool]):
    (n_levels, n_words). limits (Ints2d): ranks at which to stop, (n_levels, n_words). counts
    (NDArray): about how many entries each level reads, (n_levels,).
    """

    words: NDArray[np.int32]
    products: Floats1d
    lengths: Ints1d
    picked: NDArray[np.bool_]
    limits: Ints2d
    counts: NDArray[Any]

    def deepest(self, most: float) -> int:
        """Find the lowest level that reads at most so many entries; the first one always may."""
        return max(int(np.searchsorted(self.counts, most, side="right")) - 1, 0)

    def read(self, level: int, most: float, names: _Names) -> tuple[Ints1d, Floats1d]:
        """List what to read: places in the lists of names by word, and the product of each."""
        picked = self.picked[level]
        starts, lengths = names.by_word.offsets[self.words[picked]], self.lengths[picked]
        limits = self.limits[level, picked].astype(np.int32)
        for number in np.flatnonzero((lengths > _CUT) & (limits < len(names.norms))).tolist():
            own = names.by_word.items[starts[number] : starts[number] + lengths[number]]
            lengths[number] = np.searchsorted(own, limits[number])
        if (count := lengths.sum()) > most:  # frequent words only
            lengths = (lengths * (most / count)).astype(np.int64)
        return spread(starts, lengths), np.repeat(self.products[picked], lengths)


class WordNgramIndex:
    """Names by their words and words by their trigrams.

    ranks (NDArray[int32]): the place of each name row in `names`. scratch is kept between searches.
    """

    def __init__(self, names: _Names, words: SimilarWords, ranks: NDArray[np.int32]) -> None:
        self._names, self._words, self._ranks = names, words, ranks
        self._parts = MaskedParts[_Names](len(names.words.items), lambda own: len(own.words.items))
        self._scratch: list[_Scratch] = []

    @classmethod
    def build(cls, names: Iterable[str]) -> "WordNgramIndex":
        """Build over the text of every name, in the order of rows."""
        texts, name_words = number_words(names)
        counts = count_trigrams(texts)
        del texts  # as large as all else together
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
        return cls(_Names(rows, norms[rows], ordered, by_word), words, ranks)

    def save(self, directory: Path) -> None:
        """Write the arrays into a directory."""
        names = self._names
        save_arrays(directory, {"rows": names.rows, "ranks": self._ranks, "norms": names.norms})
        self._words.save(directory)
        names.words.save(directory, "name_words")
        names.by_word.save(directory, "word_names")

    @classmethod
    def load(cls, directory: Directory, n_names: int | None = None) -> "WordNgramIndex":
        """Map the arrays of a directory.

        n_names (Optional[int]): how many names there must be.
        RAISES (MedlinkError): E202 when one is missing or damaged.
        """
        rows, ranks, norms = load_arrays(directory, **_ARRAYS)
        expected = len(rows) if n_names is None else n_names
        for name, own in (("rows", rows), ("ranks", ranks), ("norms", norms)):
            check(directory, name, len(own) == expected, f"{len(own)} names, not {expected}")
        for name, places in (("rows", rows), ("ranks", ranks)):
            check_below(directory, name, places, expected)
        is_right = bool(np.isfinite(norms).all()) and bool((norms > 0).all())
        check(directory, "norms", is_right, "a number is not finite, or not above 0")
        check(directory, "norms", bool((norms[1:] >= norms[:-1]).all()), "does not ascend")
        words = SimilarWords.load(directory)
        name_words = Ragged.load(directory, "name_words", expected, len(words))
        by_word = Ragged.load(directory, "word_names", len(words), expected)
        return cls(_Names(rows, norms, name_words, by_word), words, ranks)

    def search(self, texts: Sequence[str], k: int, mask: Mask | None = None) -> Hits:
        """Find the k names that are most similar; one of a low cosine may be missed.

        mask (Optional[Mask]): the names that may be answers; None for all.
        RETURNS (Hits): (n_texts, k), cosine in 0..1, best first, ties by row; padded with -1.
        """
        rows = np.full((len(texts), k), -1, dtype=np.int64)
        scores: Floats2d = np.full((len(texts), k), -np.inf, dtype=np.float32)
        if k < 1:
            return Hits(rows, scores)
        names = self._names
        if mask is not None and mask.count * _PART < len(names.rows):
            names, mask = self._parts.get(mask, self._part), None
        for first in range(0, len(texts), SCORED):
            part = texts[first : first + SCORED]
            ranks = self._candidates(part, names, mask, _RESCORED * k)
            cosines = self._cosines(part, names, ranks)
            own = np.where(cosines > 0, names.rows[ranks], -1)
            cosines = np.where(cosines > 0, cosines, -np.inf)
            order = np.lexsort((own, -cosines))[:, :k]
            found = slice(first, first + len(part)), slice(order.shape[1])
            rows[found] = np.take_along_axis(own, order, axis=1)
            scores[found] = np.take_along_axis(cosines, order, axis=1)
        return Hits(rows, scores)

    def score(self, texts: Sequence[str], rows: Ints2d) -> Floats2d:
        """Score names (n_texts, m) for each text; -1 rows score 0.

        RETURNS (Floats2d): (n_texts, m), cosine in 0..1.
        """
        scores: Floats2d = np.empty(rows.shape, dtype=np.float32)
        for first in range(0, len(texts), SCORED):
            part = slice(first, first + SCORED)
            ranks = np.where(rows[part] >= 0, self._ranks[rows[part]], -1)
            scores[part] = self._cosines(texts[part], self._names, ranks)
        return scores

    def _candidates(
        self, texts: Sequence[str], names: _Names, mask: Mask | None, most: int
    ) -> Ints2d:
        """Find the ranks of names that are probably most similar: (n_texts, <= most), or -1."""
        scratch = self._borrow()
        found = [self._nearest(text, names, mask, most, scratch) for text in texts]
        self._scratch.append(scratch)
        ranks = np.full((len(texts), max(map(len, found))), -1, dtype=np.int64)
        for index, own in enumerate(found):
            ranks[index, : len(own)] = own
        return ranks

    def _nearest(
        self, text: str, names: _Names, mask: Mask | None, most: int, scratch: _Scratch
    ) -> NDArray[Any]:
        """Find names of high cosine; read more until as many as wanted have the level's cosine."""
        if len(names.rows) <= _FEW:
            is_one = True if mask is None else mask.passes(names.rows.astype(np.int64))
            return np.flatnonzero(np.broadcast_to(is_one, len(names.rows)))
        expansion = self._expand(Counter(words_of(text)), scratch)
        if not len(expansion.words):
            return expansion.words
        share = 1.0 if mask is None else mask.count / len(names.rows)
        plan, before = self._plan(expansion, names), -1
        for room in _READ:
            level = plan.deepest(room / share)
            if level == before:
                continue
            places, products = plan.read(level, _READ[-1] / share, names)
            ranks, cosines = self._score_read(expansion, names, mask, places, products, scratch)
            if np.count_nonzero(cosines >= _LEVELS[level]) >= most // _RESCORED:
                break
            before = level
        return best(ranks, cosines, most)

    def _score_read(
        self, expansion: _Expansion, names: _Names, mask: Mask | None, places: Ints1d,
        products: Floats1d, scratch: _Scratch,
    ) -> tuple[NDArray[Any], NDArray[Any]]:  # fmt: skip
        """Score names by their words: those that what was read of them makes probable."""
        ranks = names.by_word.items[places]
        if mask is not None:
            passes = mask.passes(names.rows[ranks].astype(np.int64))
            ranks, products = ranks[passes], products[passes]
        np.add.at(scratch.names, ranks, products)
        cosines = scratch.names[ranks] / names.norms[ranks]
        scratch.names[ranks] = 0
        ranks = distinct(best(ranks, cosines, _NARROWED))
        # Now with the words whose lists were not read, or not to their ends.
        np.add.at(scratch.words, expansion.words, expansion.products)
        places, lengths = names.words.places(ranks)
        norm = np.sqrt(np.square(expansion.norms).sum())
        whole = sums(scratch.words[names.words.items[places]], lengths) / names.norms[ranks] / norm
        scratch.words[expansion.words] = 0
        return ranks, whole

    def _plan(self, expansion: _Expansion, names: _Names) -> "_Plan":
        """Find for each level the lists to read, and how far."""
        words, products, group, norms = expansion
        norm = float(np.sqrt(np.square(norms).sum()))
        lengths = names.by_word.lengths(words)
        # The highest cosine of a name with this word: it has all other words of the text.
        others = np.maximum(norm**2 - norms[group] ** 2, 0)
        bound = (products + others) / (norm * np.sqrt(self._words.norms[words] ** 2 + others))
        # What the words with the longest lists can give without the others.
        order = np.argsort(-np.bincount(group, lengths, len(norms)))
        alone = np.sqrt(np.cumsum(norms[order] ** 2)) / norm
        place = np.argsort(order)[group]
        levels = np.array(_LEVELS)[:, None]
        skipped = np.minimum(np.searchsorted(alone, levels), len(norms) - 1)
        picked = (bound >= levels) & (place >= skipped)
        # A name with that cosine can not be longer; a coarse table says where such names end.
        step = max(1, len(names.norms) // _STEPS)
        highest = (_highest(expansion) / (levels * norm)).astype(np.float32)
        limits = (np.searchsorted(names.norms[::step], highest) + 1) * step
        share = np.minimum(limits / len(names.norms), 1)
        return _Plan(words, products, lengths, picked, limits, (picked * share) @ lengths)

    def _expand(self, words: Counter[str], scratch: _Scratch) -> _Expansion:
        """Find similar words for the words of a text, or for its first ones."""
        found = [self._words.find(word, scratch.words) for word in islice(words, _EXPANDED)]
        times = np.fromiter(words.values(), dtype=np.float32)[:_EXPANDED]
        group = np.repeat(np.arange(len(found)), [len(one.words) for one in found])
        own = np.concatenate([np.empty(0, np.int32), *(one.words for one in found)])
        products = np.concatenate([np.empty(0, np.float32), *(one.products for one in found)])
        norms = times * np.array([one.norm for one in found], dtype=np.float32)
        return _Expansion(own, products * times[group], group, norms)

    def _cosines(self, texts: Sequence[str], names: _Names, ranks: Ints2d) -> Floats2d:
        """Compute the cosines of texts with names, (n_texts, m); -1 has 0."""
        weights, column = dense_columns(weigh(count(texts), self._words.idf))
        flat = ranks.ravel()
        lengths = np.where(flat < 0, 0, names.words.lengths(flat))
        places = spread(names.words.offsets[flat], lengths)
        words, which = np.unique(names.words.items[places], return_inverse=True)
        products = self._words.trigrams_of(words, column, weights.shape[1]) @ weights.T
        text = np.repeat(np.repeat(np.arange(len(ranks)), ranks.shape[1]), lengths)
        cosines = sums(products[which, text], lengths) / names.norms[flat]
        return cosines.astype(np.float32).reshape(ranks.shape)

    def _part(self, mask: Mask) -> _Names:
        return self._names.part(np.sort(self._ranks[mask.rows()]))

    def _borrow(self) -> _Scratch:
        """Take the zeros of a search that has ended, or new ones."""
        try:
            return self._scratch.pop()
        except IndexError:
            sizes = len(self._ranks), len(self._words)
            return _Scratch(*(np.zeros(size, dtype=np.float32) for size in sizes))


def _highest(expansion: _Expansion) -> Floats1d:
    """Bound the product of the text with a name that has a word, for each word."""
    best = np.zeros(len(expansion.norms), dtype=np.float32)
    np.maximum.at(best, expansion.group, expansion.products)
    highest: Floats1d = expansion.products + best.sum() - best[expansion.group]
    return highest
