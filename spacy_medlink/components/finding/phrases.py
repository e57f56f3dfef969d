"""Phrases: a mention is a whole noun phrase, and no part of another thing's name.

"Fever" is no mention in "yellow fever", nor "chest" in "chest tube", nor "stroke" in "Stroke Unit".
What words do is learned from the names of the terminology: a word that others mostly follow
("chest", "pulmonary") modifies them, one that mostly ends names ("fever") is their head.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...text.pieces import Border, Pieces
from ...text.qualifiers import BEHIND, QUALIFIERS
from .match import Match

if TYPE_CHECKING:
    from ...retrieval.vocabulary import Vocabulary

# What has, treats, or is called after a problem, and is none: people, places, tests, things.
_THINGS = frozenset(
    "alert appointment association avenue bay brochure camp care center centre charity class "
    "clinic clinics coach consult consultant control counseling counselling department dept "
    "diary doctor education foundation group guideline guidelines handout hospital hotline "
    "inhaler institute kit laboratory leaflet line log medication medications nurse pathway "
    "pharmacy poster prevention program programme prophylaxis protocol questionnaire rehab "
    "research road scale school score screen screening service services shot society specialist "
    "street study support surgeon swab team test testing tests therapist therapy trial tube "
    "unit vaccination vaccine ward website week workup".split()
)
_ADJECTIVE = re.compile(r"[a-z]{3,}(?:al|ic|ous|ar|ary|oid)")
_SHORT_FORM = 6  # letters
_SHARE, _LEAST = 0.5, 2  # of the names with a word, those that go on behind it; names at least


def without_parts(
    pieces: Pieces, matches: Sequence[Match], vocabulary: "Vocabulary"
) -> list[Match]:
    """Leave out the mentions that are only a part of a phrase."""
    phrases = _Phrases(pieces, matches, vocabulary)
    return [match for match in matches if not phrases.is_part(match)]


class _Phrases:
    """The words beside the matches of a text."""

    def __init__(self, pieces: Pieces, matches: Sequence[Match], vocabulary: "Vocabulary") -> None:
        self._pieces, self._vocabulary = pieces, vocabulary
        self._starts = {match.start for match in matches}
        self._ends = {match.end for match in matches}

    def is_part(self, match: Match) -> bool:
        """Tell whether a longer phrase, which is no name, says something else than a match."""
        if not match.is_name:
            return False
        return self._has_another_head(match) or self._is_another_kind(match)

    def _has_another_head(self, match: Match) -> bool:
        pieces, end = self._pieces, match.end
        if not self._goes_on(end):
            return False
        following = pieces.lower[end]
        if following in _THINGS:
            return True
        if following in BEHIND or not _is_one_word(match) or self._is_short_form(match):
            return False
        return self._modifies(pieces.keys[match.start])

    def _is_another_kind(self, match: Match) -> bool:
        pieces, place = self._pieces, match.start - 1
        if place < 0 or not self._goes_on(match.start) or not pieces.says[place]:
            return False
        before = pieces.lower[place]
        # "Drug-induced", "late-stage", "attenuated", "increasingly"
        is_course = place in pieces.hyphens or before.endswith(("ed", "ing", "ly"))
        if before in QUALIFIERS or is_course or self._is_short_form(match):
            return False
        if match.start in self._ends:  # what stands before is a mention: "fever cough"
            return self._modifies(pieces.keys[place])
        return self._modifies(pieces.keys[place]) or _ADJECTIVE.fullmatch(before) is not None

    def _is_short_form(self, match: Match) -> bool:
        text = self._pieces.between(match.start, match.end)
        return text.isupper() and len(text) <= _SHORT_FORM

    def _goes_on(self, place: int) -> bool:
        """Tell whether a word with a meaning stands at a place, only a space behind another."""
        pieces = self._pieces
        return (
            place < len(pieces)
            and pieces.says[place]
            and pieces.borders[place] <= Border.SPACE
            and pieces.keys[place].isalpha()
        )

    def _modifies(self, word: str) -> bool:
        """Tell whether other words mostly follow a word in names."""
        inside, last = self._vocabulary.uses(word)
        return inside >= _LEAST and inside >= _SHARE * (inside + last)


def _is_one_word(match: Match) -> bool:
    return match.end - match.start == 1
