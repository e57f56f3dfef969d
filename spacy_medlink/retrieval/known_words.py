"""KnownWords: the words of texts, as the names of a dictionary know them.

Most words of texts come again. So each is asked about once, together with the other new words of
its text, and then remembered: a text is read by one look-up for each of its words.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..text.any_order import LINK_KEYS
from ..text.normalisation import hash_keys
from ..text.pieces import piece_key
from ..text.said_otherwise import phrases_of
from ..text.word_forms import Forms
from ..text.written_forms import is_ordinary, names_of_form, words_within
from ..types import Hashes1d
from .vocabulary import Vocabulary

_REMEMBERED = 1 << 15
_SHORT_FORM = 6  # letters of a word in capitals that is taken for a short form


class Word(NamedTuple):
    """A word of a text.

    key (str): of the word. hash (int): the sum of the hashes of its forms, by which it is found
    in any order; 0 for words that link others. position (int): of the word alone among the keys of
    the dictionary, -1 where it is no name. is_known (bool): whether names have it.
    forms (Sequence[Tuple[str, str, int]]): names that its ending stands for, with their keys and
    the positions of these.
    near (Sequence[str]): of a word that no name has, those that differ in one letter.
    begins (bool): whether it begins phrases of a list.
    is_short (bool): whether it stands for longer words within a name.
    """

    key: str
    hash: int
    position: int
    is_known: bool
    forms: Sequence[tuple[str, str, int]]
    near: Sequence[str]
    begins: bool
    is_short: bool


class KnownWords:
    """The words of texts in a language.

    find (Callable): gives the positions of hashes among the keys of the dictionary, -1 for none.
    vocabulary (Vocabulary), forms (Forms): of the names. lang (str): of the texts.
    """

    def __init__(
        self,
        find: Callable[[Hashes1d], NDArray[np.int64]],
        vocabulary: Vocabulary,
        forms: Forms,
        lang: str,
    ) -> None:
        self._find, self._vocabulary, self._forms, self._lang = find, vocabulary, forms, lang
        self._words: dict[str, Word] = {}

    def of(self, texts: Sequence[str]) -> list[Word]:
        """Look up the words of a text, as `Pieces` cuts them."""
        words = self._words
        new = list(set(texts).difference(words))
        if new:
            if len(words) > _REMEMBERED:
                words = self._words = {}
                new = list(set(texts))
            words |= zip(new, self._asked(new), strict=True)
        return list(map(words.__getitem__, texts))

    def _asked(self, texts: list[str]) -> Iterable[Word]:
        """Ask the dictionary about words."""
        lang, vocabulary = self._lang, self._vocabulary
        keys = list(map(piece_key, texts))
        knows = vocabulary.knows(keys)
        forms, slips = list[Sequence[tuple[str, str]]](), list[str]()
        for text, key, is_known in zip(texts, keys, knows, strict=True):
            lower, is_short_form = text.lower(), len(text) <= _SHORT_FORM and text.isupper()
            its_forms = () if is_short_form or not key else names_of_form(lower, lang)
            differs = (its_forms or not is_known) and not (
                is_short_form or is_ordinary(lower, lang)
            )
            forms.append(its_forms if differs else ())
            slips.append((lower if lower.isalpha() else key) if differs and not is_known else "")
        phrases, short = phrases_of(lang), words_within(lang)
        return map(
            Word,
            keys,
            self._hashes(keys),
            self._positions(keys, knows),
            knows,
            self._names_among(forms),
            vocabulary.near(slips),
            map(phrases.firsts.__contains__, keys),
            map(short.__contains__, texts),
        )

    def _names_among(
        self, forms: Sequence[Sequence[tuple[str, str]]]
    ) -> list[list[tuple[str, str, int]]]:
        """Keep the texts that are names, with their positions."""
        every = list(chain.from_iterable(forms))
        positions = iter(self._find(hash_keys([key for _, key in every])).tolist())
        names = list[list[tuple[str, str, int]]]()
        for its_forms in forms:
            names.append([])
            for form in its_forms:
                if (position := next(positions)) >= 0:
                    names[-1].append((*form, position))
        return names

    def _hashes(self, keys: Sequence[str]) -> list[int]:
        """Add up the hashes of the forms of each key's words."""
        form, forms, owners = self._forms.get, list[str](), list[int]()
        for index, key in enumerate(keys):
            if key not in LINK_KEYS:
                for word in key.split():
                    forms.append(form(word, word))
                    owners.append(index)
        hashes = np.zeros(len(keys), dtype=np.uint64)
        np.add.at(hashes, owners, hash_keys(forms))  # wraps round, as all sums of hashes do
        sums: list[int] = hashes.tolist()
        return sums

    def _positions(self, keys: Sequence[str], knows: Sequence[bool]) -> list[int]:
        positions: list[int] = self._find(hash_keys(keys)).tolist()
        return [
            position if known and _may_be_name(key) else -1
            for key, known, position in zip(keys, knows, positions, strict=True)
        ]


def _may_be_name(key: str) -> bool:
    """Tell whether a word alone may be a name: no letter and no number is."""
    return len(key) > 1 and not key.replace(" ", "").isdigit()
