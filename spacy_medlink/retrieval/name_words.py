"""Words of names and the weights of their trigrams, to build a WordNgramIndex."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..types import Floats1d
from .grams import BUCKETS, csr, trigrams, words_of
from .names_read import Numbers
from .ragged import Ragged, offsets_of, sums
from .word_texts import encoded

CHUNK = 1 << 18  # names whose trigrams are held at once


def number_words(names: Iterable[str]) -> tuple[list[str], Ragged]:
    """Number the distinct words of names, in the order of their letters, and list each name's."""
    numbers = Numbers()
    # Names are made of few tokens, which stand between blanks: each distinct one is read once.
    of_token = cache(lambda token: [numbers[word] for word in words_of(token)])
    items, lengths = array("i"), array("i")
    for name in names:
        words = list(chain.from_iterable(map(of_token, name.lower().split())))
        items.extend(words)
        lengths.append(len(words))
    texts = sorted(numbers, key=encoded)
    place_of = np.empty(len(texts), dtype=np.int32)
    place_of[[numbers[text] for text in texts]] = np.arange(len(texts), dtype=np.int32)
    name_words = _ragged(items, lengths)
    return texts, Ragged(name_words.offsets, place_of[name_words.items])


def count_trigrams(words: Sequence[str]) -> sparse.csr_matrix:
    """Count the trigrams of words: csr_matrix (n_words, BUCKETS), float32."""
    items, lengths = array("i"), array("i")
    for word in words:
        grams = trigrams(word)
        items.extend(grams)
        lengths.append(len(grams))
    lists = _ragged(items, lengths)
    ones = np.ones(len(lists.items), dtype=np.float32)
    # A copy: scipy sums duplicates in place, and the memory belongs to the array.
    counts = csr((ones, lists.items.copy(), lists.offsets), (len(lists), BUCKETS))
    counts.sum_duplicates()
    return counts


def count_names(name_words: Ragged, counts: sparse.csr_matrix) -> NDArray[np.int64]:
    """Count the names that have each trigram, (BUCKETS,).

    counts (csr_matrix): of the trigrams of words.
    """
    counts_of: NDArray[np.int64] = np.zeros(BUCKETS, dtype=np.int64)
    for product in _products(name_words, counts):
        counts_of += np.bincount(product.indices, minlength=BUCKETS)
    return counts_of


def norms_of(name_words: Ragged, weighted: sparse.csr_matrix) -> Floats1d:
    """Compute the norms of the names' vectors, (n_names,), above 0.

    weighted (csr_matrix): the trigrams of words, weighted.
    """
    norms: Floats1d = np.empty(len(name_words), dtype=np.float32)
    for chunk, product in enumerate(_products(name_words, weighted)):
        squares = sums(product.data.astype(np.float64) ** 2, np.diff(product.indptr))
        norms[chunk * CHUNK : (chunk + 1) * CHUNK] = np.sqrt(np.maximum(squares, 1e-12))
    return norms


def _products(name_words: Ragged, matrix: sparse.csr_matrix) -> Iterator[sparse.csr_matrix]:
    """Multiply names x words by words x trigrams, a chunk of names at a time."""
    for first in range(0, len(name_words), CHUNK):
        offsets = name_words.offsets[first : first + CHUNK + 1]
        items = name_words.items[offsets[0] : offsets[-1]]
        ones = np.ones(len(items), dtype=np.float32)
        shape = (len(offsets) - 1, matrix.shape[0])
        yield sparse.csr_matrix((ones, items, offsets - offsets[0]), shape) @ matrix


def _ragged(items: "array[int]", lengths: "array[int]") -> Ragged:
    arrays = [
        np.frombuffer(numbers, dtype=np.int32) if numbers else _NONE for numbers in (items, lengths)
    ]
    return Ragged(offsets_of(arrays[1]), arrays[0])


_NONE: NDArray[np.int32] = np.empty(0, dtype=np.int32)
