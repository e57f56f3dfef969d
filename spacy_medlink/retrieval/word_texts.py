"""WordTexts: the words of names in the order of their letters, and those that begin with some."""

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import check, check_offsets, load_arrays, save_arrays
from .ragged import Ragged, spread, sums

_ERRORS = "surrogatepass"
_BEHIND = b"\xff"  # behind all letters of UTF-8
_READ, _READ_ALONE = 1 << 17, 1 << 13  # entries of lists to read for a search; for one word


class WordTexts(NamedTuple):
    """Distinct words, sorted by their UTF-8 bytes; the number of a word is its place.

    start (NDArray[uint64]): (n_words + 1,), where each word begins in `text` (NDArray[uint8]).
    """

    start: NDArray[np.uint64]
    text: NDArray[np.uint8]

    @classmethod
    def of(cls, words: Sequence[bytes]) -> "WordTexts":
        """Make it of sorted words."""
        start = np.cumsum([0, *map(len, words)], dtype=np.uint64)
        return cls(start, np.frombuffer(b"".join(words), dtype=np.uint8))

    def save(self, directory: Path) -> None:
        """Write the arrays into a directory."""
        save_arrays(directory, {"word_start": self.start, "word_text": self.text})

    @classmethod
    def load(cls, directory: Path, n_words: int) -> "WordTexts":
        """Map the arrays of a directory. RAISES (MedlinkError): E202 when one is damaged."""
        start, text = load_arrays(directory, word_start=np.uint64, word_text=np.uint8)
        check_offsets(directory, "word_start", start, len(text))
        check(directory, "word_start", len(start) == n_words + 1, f"not {n_words} words")
        return cls(start, text)

    def beginning(self, letters: str) -> tuple[int, int]:
        """Find the words that begin with some letters: the first, and the one behind the last."""
        wanted, words = letters.encode(errors=_ERRORS), range(len(self.start) - 1)
        first = bisect_left(words, wanted, key=self._at)
        return first, bisect_left(words, wanted + _BEHIND, lo=first, key=self._at)

    def _at(self, word: int) -> bytes:
        begin, end = int(self.start[word]), int(self.start[word + 1])
        return self.text[begin:end].tobytes()


def encoded(word: str) -> bytes:
    """Encode a word as WordTexts sorts it."""
    return word.encode(errors=_ERRORS)


def lists_with(
    spans: Sequence[Sequence[tuple[int, int]]], lists: Ragged, by_item: Ragged
) -> NDArray[np.int32]:
    """Find lists that have, for each of several sets of items, an item of the set.

    spans: of each set, the runs of its items (first, one behind the last). lists (Ragged): items of
        each list. by_item (Ragged): the lists of each item, ascending.
    RETURNS (NDArray[int32]): ascending. Of a set with very many lists, the first of each item.
    """
    sizes = [sum(int(by_item.offsets[b] - by_item.offsets[a]) for a, b in runs) for runs in spans]
    if not sizes or not min(sizes):
        return np.empty(0, dtype=np.int32)
    rarest = sizes.index(min(sizes))
    items = np.concatenate([np.arange(a, b) for a, b in spans[rarest]])
    lengths = by_item.lengths(items)
    room = _READ if len(spans) > 1 else _READ_ALONE
    most = lengths if min(sizes) <= room else np.minimum(lengths, 1 + room // len(items))
    found = np.unique(by_item.items[spread(by_item.offsets[items].astype(np.int64), most)])
    for place, runs in enumerate(spans):
        if place != rarest and len(found):
            places, of_each = lists.places(found)
            others = lists.items[places]
            is_in = np.zeros(len(others), dtype=np.bool_)
            for first, behind in runs:
                is_in |= (others >= first) & (others < behind)
            found = found[sums(is_in, of_each) > 0]
    return found
