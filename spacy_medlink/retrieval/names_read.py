"""NamesRead: what the exact tier needs to know of the words of all names, read in one pass.

Names are made of few tokens, which stand between blanks: each distinct one is read once.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from ..text.any_order import LINK_KEYS
from ..text.normalisation import hash_keys, key, without_tag
from ..text.word_forms import NO_FORMS, Forms
from ..types import Hashes1d
from .ragged import sums

_CHUNK = 4096


class Numbers(dict[str, int]):
    """Numbers texts in the order in which they come, and lists them."""

    def __init__(self) -> None:
        self.texts = list[str]()

    def __missing__(self, text: str) -> int:
        self.texts.append(text)
        number = self[text] = len(self)
        return number


class NamesRead:
    """Reads names as they pass: which words they have, and the sums of the hashes of these words.

    forms (Forms): that stand for the words of names in the sums (`text.any_order`).
    """

    def __init__(self, forms: Forms = NO_FORMS) -> None:
        self._forms = forms
        self._numbers, self._keys = Numbers(), list[str]()  # of tokens
        # Of each token: the sum of the hashes of its words, the words, and those that do not link.
        self._hash, self._words, self._meant = array("Q"), array("q"), array("q")
        # The names in which another token follows it, and those in which none does.
        self._inside, self._last = array("q"), array("q")
        self._sums: list[Hashes1d] = [np.zeros(0, dtype=np.uint64)]
        self._rows: list[NDArray[np.uint32]] = [np.zeros(0, dtype=np.uint32)]

    def passing(self, names: Iterable[str]) -> Iterator[str]:
        """Pass names on, unchanged."""
        first, names = 0, iter(names)
        while chunk := list(islice(names, _CHUNK)):
            yield from chunk
            self._read(chunk, first)
            first += len(chunk)

    @property
    def in_any_order(self) -> tuple[Hashes1d, NDArray[np.uint32]]:
        """The sums of names of two words or more, and the row of each, ascending."""
        return np.concatenate(self._sums), np.concatenate(self._rows)

    @property
    def spellings(self) -> Iterator[str]:
        """The words as names spell them, where their keys differ: "stenosis" has "stenose"."""
        for token, its_key in zip(self._numbers.texts, self._keys, strict=True):
            word = token.strip(",;:()")
            if word.isalpha() and its_key != word:
                yield word

    @property
    def uses(self) -> dict[str, tuple[int, int]]:
        """The keys of the words made of letters alone.

        With the number of names in which another word follows, and of those in which none does.
        """
        uses: dict[str, tuple[int, int]] = {}
        for its_key, *more in zip(self._keys, self._inside, self._last, strict=True):
            for word in its_key.split(" "):
                if len(word) > 1 and word.isalpha():
                    inside, last = uses.get(word, (0, 0))
                    uses[word] = inside + more[0], last + more[1]
        return uses

    def _read(self, names: Sequence[str], first: int) -> None:
        tokens = [without_tag(name).lower().split() for name in names]
        lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
        numbers = np.fromiter(map(self._numbers.__getitem__, chain.from_iterable(tokens)), np.int64)
        self._read_tokens()
        # A name of an index says its last words first: "Neoplasms, Lung".
        is_turned = np.fromiter(("," in name for name in names), np.bool_, len(names))
        ends = np.cumsum(lengths)
        is_last = np.zeros(len(numbers), dtype=np.bool_)
        is_last[np.where(is_turned, ends - lengths, ends - 1)[lengths > 0]] = True
        np.add.at(np.frombuffer(self._inside, np.int64), numbers[~is_last], 1)
        np.add.at(np.frombuffer(self._last, np.int64), numbers[is_last], 1)
        words, meant, hashes = (
            sums(np.frombuffer(of, of.typecode)[numbers], lengths, of.typecode)
            for of in (self._words, self._meant, self._hash)
        )
        rows = np.flatnonzero((words > 1) & (meant > 0))
        self._sums.append(hashes[rows])
        self._rows.append((rows + first).astype(np.uint32))

    def _read_tokens(self) -> None:
        """Read the tokens that have come since the last time."""
        new = list(map(key, self._numbers.texts[len(self._keys) :]))
        self._keys += new
        words = [its_key.split() for its_key in new]
        meant = [[self._forms.get(it, it) for it in of if it not in LINK_KEYS] for of in words]
        counts = [np.fromiter(map(len, lists), np.int64, len(words)) for lists in (words, meant)]
        hashes = hash_keys(chain.from_iterable(meant))
        self._hash.frombytes(sums(hashes, counts[1], np.uint64).tobytes())
        for of, more in ((self._words, counts[0]), (self._meant, counts[1])):
            of.frombytes(more.tobytes())
        for none in (self._inside, self._last):
            none.frombytes(bytes(8 * len(new)))
