"""Vocabulary: the words of names, and which of them a misspelt word may be.

Two words that differ in one letter (left out, added, another, or two neighbours in the wrong order)
share a text that is one of them, or lacks one of its letters: these texts are looked up by hash, as
in Garbe's SymSpell, and the words found are compared.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike, NDArray
from rapidfuzz.distance import OSA

from ..text.normalisation import hash_keys
from ..types import Array, Hashes1d
from .arrays import check, check_below, check_offsets, load_arrays

_TYPES: dict[str, DTypeLike] = {
    "word_start": np.uint64, "word_text": np.uint8,
    "word_inside": np.uint32, "word_last": np.uint32,
    "deletion_hash": np.uint64, "deletion_word": np.uint32,
}  # fmt: skip
LEAST, MOST = 5, 40  # letters of a word that may be misspelt
_MOST_WORDS = 1_000_000  # of a larger terminology those of several names may be misspelt
_CHUNK = 1 << 16
_REMEMBERED = 1 << 15


class Vocabulary:
    """The words of names, by their keys, and the spellings that have other keys.

    word_start (NDArray[uint64]): (n_words + 1,), where each word begins in `word_text`
    (NDArray[uint8]). word_inside, word_last (NDArray[uint32]): (n_words,), in how many names
    another word follows it, and in how many it is the last. deletion_hash (Hashes1d): ascending,
    of words and of words without a letter;
    deletion_word (NDArray[uint32]): the word of each.
    """

    def __init__(
        self,
        word_start: NDArray[np.uint64],
        word_text: NDArray[np.uint8],
        word_inside: NDArray[np.uint32],
        word_last: NDArray[np.uint32],
        deletion_hash: Hashes1d,
        deletion_word: NDArray[np.uint32],
    ) -> None:
        self._start, self._text = word_start, word_text
        self._inside, self._last = word_inside, word_last
        self._hash, self._word = deletion_hash, deletion_word
        # Of words of texts, most of which come again; None for a word of names.
        self._found: dict[str, list[str] | None] = {}
        self._uses: dict[str, tuple[int, int]] = {}

    @classmethod
    def of(cls, uses: Mapping[str, tuple[int, int]], spellings: Iterable[str] = ()) -> "Vocabulary":
        """Make the vocabulary of words with their uses and spellings, as `NamesRead` gives them."""
        words = sorted({*uses, *spellings})
        least = 2 if len(words) > _MOST_WORDS else 0
        hashes, owners = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint32)]
        for begin in range(0, len(words), _CHUNK):
            texts, owner = list[str](), list[int]()
            for index, word in enumerate(words[begin : begin + _CHUNK], begin):
                is_asked = LEAST <= len(word) <= MOST and sum(uses.get(word, (2, 0))) >= least
                forms = deletions(word) if is_asked else [word]
                texts += forms
                owner += [index] * len(forms)
            hashes.append(hash_keys(texts))
            owners.append(np.array(owner, dtype=np.uint32))
        every, owner_of = np.concatenate(hashes), np.concatenate(owners)
        order = np.argsort(every, kind="stable")
        encoded = [text.encode() for text in words]
        start = np.cumsum([0, *map(len, encoded)], dtype=np.uint64)
        letters = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        counts = [uses.get(word, (0, 0)) for word in words]
        inside, last = np.array(counts, np.uint32).reshape(-1, 2).T
        return cls(start, letters, inside.copy(), last.copy(), every[order], owner_of[order])

    @classmethod
    def load(cls, directory: Path) -> "Vocabulary":
        """Map the arrays of a directory. RAISES (MedlinkError): E202 when one is damaged."""
        start, text, inside, last, hash, word = load_arrays(directory, **_TYPES)
        check_offsets(directory, "word_start", start, len(text))
        check(directory, "deletion_hash", bool((hash[1:] >= hash[:-1]).all()), "does not ascend")
        check(directory, "deletion_word", len(word) == len(hash), "not as many as hashes")
        check_below(directory, "deletion_word", word, len(start) - 1)
        for name, counts in (("word_inside", inside), ("word_last", last)):
            check(directory, name, len(counts) == len(start) - 1, "not as many as words")
        return cls(start, text, inside, last, hash, word)

    @property
    def arrays(self) -> dict[str, Array]:
        """The arrays, by their names."""
        values = (
            self._start, self._text, self._inside, self._last, self._hash, self._word
        )  # fmt: skip
        return dict(zip(_TYPES, values, strict=True))

    def words(self) -> Iterator[str]:
        """Read all words, in their order."""
        return map(self._at, range(len(self._start) - 1))

    def uses(self, word: str) -> tuple[int, int]:
        """Count the names in which another word follows a word, and those that it ends."""
        if word not in self._uses:
            if len(self._uses) > _REMEMBERED:
                self._uses.clear()
            hash = hash_keys([word])[0]
            first, last = np.searchsorted(self._hash, [hash, hash + np.uint64(1)])
            numbers = self._word[first:last].tolist()
            uses = 0, 0
            for at in numbers:
                if self._at(at) == word:
                    uses = int(self._inside[at]), int(self._last[at])
            self._uses[word] = uses
        return self._uses[word]

    def knows(self, words: Sequence[str]) -> list[bool]:
        """Tell of each key whether a name may have it: numbers and signs are not counted."""
        return [near is None for near in self._all_found(words)]

    def near(self, words: Sequence[str]) -> list[list[str]]:
        """List for each unknown word, if it is long enough, those that differ in one letter."""
        return [near or [] for near in self._all_found(words)]

    def near_one(self, word: str) -> list[str]:
        """List what `near` lists for one word."""
        return self.near([word])[0]

    def _all_found(self, words: Sequence[str]) -> list[list[str] | None]:
        kept = self._found
        new = [word for word in dict.fromkeys(words) if word not in kept]
        if new:
            if len(kept) > _REMEMBERED:
                kept = self._found = {}
                new = list(dict.fromkeys(words))
            asked = [word for word in new if len(word) > 1 and word.isalpha()]
            kept |= dict.fromkeys(new)
            kept |= zip(asked, self._find(asked), strict=True)
        return [kept[word] for word in words]

    def _find(self, words: Sequence[str]) -> list[list[str] | None]:
        if not words:
            return []
        texts = [deletions(word) if LEAST <= len(word) <= MOST else [word] for word in words]
        hashes = hash_keys([text for forms in texts for text in forms])
        first = np.searchsorted(self._hash, hashes, side="left").tolist()
        last = np.searchsorted(self._hash, hashes, side="right").tolist()
        near_words, at = list[list[str] | None](), 0
        for word, forms in zip(words, texts, strict=True):
            spans = zip(first[at : at + len(forms)], last[at : at + len(forms)], strict=True)
            numbers = set[int]()
            for begin, end in spans:
                if begin < end:
                    numbers.update(self._word[begin:end].tolist())
            others = sorted(map(self._at, numbers))
            near = [other for other in others if len(forms) > 1 and _differs_once(word, other)]
            near_words.append(None if word in others else near)
            at += len(forms)
        return near_words

    def _at(self, index: int) -> str:
        begin, end = int(self._start[index]), int(self._start[index + 1])
        return self._text[begin:end].tobytes().decode(errors="replace")


def deletions(word: str) -> list[str]:
    """List a word, and the word without each of its letters."""
    return [word, *[word[:at] + word[at + 1 :] for at in range(len(word))]]


def _differs_once(word: str, other: str) -> bool:
    return bool(OSA.distance(word, other, score_cutoff=1) == 1)


def is_inflected(word: str, other: str) -> bool:
    """Tell whether a word that differs in one letter may be another form rather than a slip.

    Inflections have another last letter, or one more; a last letter that is missing or doubled is
    none.
    """
    if word[:-1] == other:
        return word[-1] != word[-2]
    return len(word) == len(other) and word[:-1] == other[:-1]
