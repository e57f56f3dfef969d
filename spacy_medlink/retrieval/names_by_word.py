"""NamesByWord: the names of a WordNgramIndex, listed by their words in the order of their norms."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..types import Floats1d, Ints1d
from .mask import Mask
from .name_words import CHUNK
from .ragged import Ragged, taken

_LONG = 3  # one list may take at most this part of the entries read
_STEP = 1024  # ranks that share one stored norm
_PART = 8  # a mask that passes less than this part of the names gets lists of its own


class NamesByWord(NamedTuple):
    """Names by *rank*: their places in the order of their norms.

    rows (NDArray[int32]): of each rank. norms (Floats1d): of the names' vectors. words (Ragged): of
    each name. by_word (Ragged): the ranks of the names of each word. steps (Floats1d): the norm of
    every 1024th rank: few enough for a processor's cache, and close to the norms between them.
    allowed (Optional[NDArray[bool]]): whether each name may be an answer; None where all may.
    share (float): of the names that may.
    """

    rows: NDArray[np.int32]
    norms: Floats1d
    words: Ragged
    by_word: Ragged
    steps: Floats1d
    allowed: NDArray[np.bool_] | None = None
    share: float = 1.0

    @classmethod
    def of(
        cls, rows: NDArray[np.int32], norms: Floats1d, words: Ragged, by_word: Ragged
    ) -> "NamesByWord":
        """Make it of arrays, mapped or not."""
        return cls(rows, norms, words, by_word, norms[::_STEP].copy())

    def within(self, mask: Mask, ranks: NDArray[np.int32]) -> "NamesByWord":
        """Allow the names of a mask only; few of them get lists of their own.

        ranks (NDArray[int32]): of each row.
        """
        if mask.count * _PART < len(self.rows):
            kept = np.sort(ranks[mask.rows()])
            words = self.words.taken(kept, CHUNK)
            by_word = words.transposed(len(self.by_word))
            return NamesByWord.of(self.rows[kept], self.norms[kept], words, by_word)
        allowed = np.unpackbits(mask.bits, count=mask.size, bitorder="little").view(np.bool_)
        return self._replace(allowed=allowed[self.rows], share=mask.count / max(1, mask.size))

    def size(self) -> int:
        """Tell about how much memory a part takes, in eight bytes."""
        return len(self.words.items) if self.allowed is None else len(self.allowed) // 8

    def allowed_ranks(self) -> Ints1d:
        """List the ranks of all names that may be answers."""
        is_one = True if self.allowed is None else self.allowed
        return np.flatnonzero(np.broadcast_to(is_one, len(self.rows)))

    def read(
        self, words: NDArray[np.int32], products: Floats1d, norm: float, room: int
    ) -> tuple[NDArray[np.int32], Floats1d]:
        """Read at most `room` entries of the lists of words, from the first word on.

        Of a long list, only the part around the norm is read, where names are about as long as the
        text.

        products (Floats1d): of the text with each word. norm (float): of the text.
        RETURNS (Tuple[NDArray[int32], Floats1d]): ranks, some repeated, and the products of the
            text with the words that gave them.
        """
        room = int(room / self.share)
        lengths, longest = self.by_word.lengths(words), max(1, room // _LONG)
        last = int(np.searchsorted(np.cumsum(np.minimum(lengths, longest)), room, side="right"))
        begins = self.by_word.offsets[words[:last]].astype(np.int64)
        lengths, items = lengths[:last], self.by_word.items
        middle = np.int32(np.searchsorted(self.norms, np.float32(norm)))
        for at in np.flatnonzero(lengths > longest).tolist():
            ranks_of = items[begins[at] : begins[at] + lengths[at]]
            first = int(np.searchsorted(ranks_of, middle)) - longest // 2
            begins[at] += min(max(first, 0), len(ranks_of) - longest)
            lengths[at] = longest
        ranks = taken(items, begins, lengths)
        of_each = np.repeat(products[:last], lengths)
        if self.allowed is None:
            return ranks, of_each
        places = np.flatnonzero(self.allowed.take(ranks))
        return ranks.take(places), of_each.take(places)

    def about_norms(self, ranks: NDArray[np.int32]) -> Floats1d:
        """Look up the norms of names, nearly: faster than reading them."""
        return self.steps.take(ranks // _STEP)
