"""CapitalWords: what a word with a capital is shows in its shape, its place, and its neighbours."""

import re
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ...assets.languages import words_beside
from ...text.normalisation import hash_keys
from ...text.pieces import Border, Pieces
from .matches import Match

if TYPE_CHECKING:
    from ...retrieval.exact import ExactIndex

_WORDS = words_beside()
_ADJECTIVE = re.compile(r".{3,}(?:al|ic|ous|ary|oid|ive)")
_OFTEN = 12  # names with a word from which on it is a word of the terminology
_NEAR = 30  # pieces of a line or a sentence that are looked at on a side


class CapitalWords:
    """The words of a text and its matches, to tell names of persons and places from problems.

    matches (Sequence[Match]): all of the text. exact (ExactIndex): the names that are found.
    common (Collection[str]): keys of ordinary words.
    """

    def __init__(
        self, pieces: Pieces, matches: Sequence[Match], exact: "ExactIndex", common: Collection[str]
    ) -> None:
        self.pieces, self.common, self._matches, self._exact = pieces, common, matches, exact

    @cached_property
    def taken(self) -> frozenset[int]:
        """The pieces of names, as they are written."""
        written = (
            match for match in self._matches if match.end - match.start > 1 or not match.reading
        )
        return frozenset(index for match in written for index in range(match.start, match.end))

    def word(self, index: int) -> str:
        """Get a word in small letters; "" before and behind the text."""
        return self.pieces.lower[index] if 0 <= index < len(self.pieces) else ""

    def uses(self, index: int) -> tuple[int, int]:
        """Count the names in which another word follows a word, and those that it ends."""
        return self._exact.vocabulary.uses(self.pieces.keys[index])

    def is_capital(self, index: int) -> bool:
        """Tell whether a word begins with a capital."""
        return self.pieces.texts[index][0].isupper()

    def is_initial(self, index: int) -> bool:
        """Tell whether a word is one capital."""
        return len(self.pieces.texts[index]) == 1 and self.is_capital(index)

    def is_known(self, index: int) -> bool:
        """Tell whether a piece is a word of general language, or one of many names."""
        pieces = self.pieces
        return (
            pieces.is_stop[index]
            or pieces.keys[index] in self.common
            or pieces.lower[index] in _WORDS["spelled"]
            or sum(self.uses(index)) > _OFTEN
        )

    def is_proper(self, index: int) -> bool:
        """Tell whether a piece with a capital is no word that is known."""
        pieces, text = self.pieces, self.pieces.texts[index]
        return (
            self.is_capital(index)
            and len(text) > 1
            and text.isalpha()
            and index not in self.taken
            and pieces.lower[index] not in _WORDS["titles"]
            and not _ADJECTIVE.fullmatch(pieces.lower[index])
            and not self.is_known(index)
        )

    def is_ordinary(self, match: Match) -> bool:
        """Tell whether a short form is an ordinary word of a sentence written in capitals."""
        pieces, start, end = self.pieces, match.start, match.end
        if end - start > 1 or not (self.is_known(start) and self._is_shouted(start)):
            return False
        is_apart = (
            pieces.borders[start] >= Border.COMMA or pieces.lower[start - 1] in _WORDS["before"]
        ) and (pieces.borders[end] >= Border.COMMA or pieces.lower[end] in _WORDS["behind"])
        if is_apart:
            return False
        # A word that is a name in small letters, too, is no short form: "LEG PAIN".
        position = int(self._exact.find(hash_keys([pieces.keys[start]]))[0])
        rows = self._exact.rows_of(position, pieces.lower[start]) if position >= 0 else []
        return {row for row, _ in rows}.isdisjoint(match.rows)

    def _is_shouted(self, index: int) -> bool:
        """Tell whether the words beside a place, up to the sentence's ends, are capitals."""
        pieces, start, end = self.pieces, index, index + 1
        while index - start < _NEAR and pieces.borders[start] < Border.SEPARATOR:
            start -= 1
        while end - index < _NEAR and pieces.borders[end] < Border.SEPARATOR:
            end += 1
        others = [*range(start, index), *range(index + 1, end)]
        return pieces.between(start, end).isupper() and any(map(self.is_known, others))
