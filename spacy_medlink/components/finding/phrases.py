"""Phrases: a mention is a whole noun phrase, and no part of another thing's name.

"Chest" is no mention in "chest tube", nor "fever" in "yellow fever". Of "bone pain", where the head
alone is known, the whole is the mention, and narrower than its head. What words do is learned from
the names: a word that others mostly follow ("chest", "pulmonary") modifies them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...assets.languages import common_words
from ...text.pieces import Pieces
from .matches import Match
from .neighbours import SHORT, YES, Neighbours

if TYPE_CHECKING:
    from ...retrieval.vocabulary import Vocabulary

_MOST = 8  # words that say which one; before a name, more are no phrase


class Phrases:
    """Makes matches whole phrases, and leaves out those that are a part of another thing's.

    lang (str): of the pipeline. In English alone the words before a match lengthen it, and where
        the common words of a language are not known, they leave it as it is.
    matches (List[Match]): those that stay.
    """

    def __init__(
        self, pieces: Pieces, matches: Sequence[Match], vocabulary: "Vocabulary", lang: str
    ) -> None:
        self._pieces, self._has_common = pieces, bool(common_words(lang))
        self._words = Neighbours(pieces, matches, vocabulary, common_words(lang), lang)
        self._is_english = lang.lower().startswith("en")
        self._modified: dict[int, bool] = {}
        forms = [match.start for match in matches if self._is_quality(match)]
        self._words.mark(forms, "form")
        self._parts = frozenset(start for start in forms if self._is_part("form", start))
        self._words.mark(self._parts, "part")
        self.matches = [whole for match in matches if (whole := self._whole(match)) is not None]

    def _whole(self, match: Match) -> Match | None:
        """Get the phrase of a match; None where the phrase means something else."""
        start, end = match.start, match.end
        if not match.is_name:
            return match
        if self._is_quality(match):
            return None if start in self._parts else match
        is_form = match.reading and self._words.has(end - 1, "ofsite")
        if is_form and self._is_part("form", end - 1):  # "left ovarian" of something unknown
            return None
        text = self._pieces.between(start, end)
        is_short = match.is_short or (text.isupper() and len(text) <= SHORT)
        if self._words.score("phrase", start, end, "abbreviated" * is_short) > YES:
            return None
        is_known = match.reading or is_short or self._words.firsts[end] < start
        if is_known or not self._has_common:
            return match
        while start + _MOST >= match.start and self._is_modified(start):
            start -= 1
        if start == match.start or start + _MOST < match.start:
            return match
        # All of a site, whose last word is before: "right lower lobe pneumonia".
        start = min(start, self._words.firsts.get(match.start, start))
        if not (self._is_english and self._is_narrower(match, range(start, match.start))):
            return None
        words = match.words.union(range(start, match.start))
        return match._replace(start=start, words=words, reading=text)

    def _is_part(self, question: str, index: int) -> bool:
        return self._words.score(question, index, index + 1) > YES

    def _is_quality(self, match: Match) -> bool:
        """Tell whether a match is a word form that may qualify another word: "septic"."""
        word = self._pieces.lower[match.start]
        is_form = match.is_name and bool(match.reading) and match.start + 1 == match.end
        says = self._words.has(match.start, "quality") or match.reading.startswith(word)
        return is_form and not self._words.is_head_first and says

    def _is_modified(self, index: int) -> bool:
        """Tell whether the word before a word belongs to its phrase; each is looked at once."""
        if index not in self._modified:
            self._modified[index] = index > 0 and self._is_part("modifier", index - 1)
        return self._modified[index]

    def _is_narrower(self, match: Match, modifiers: range) -> bool:
        """Tell whether words before a match leave it what it is: "bone pain" is a pain."""
        has, last = self._words.has, match.end - 1
        if match.start < last or has(last, "kind"):
            return True
        return not has(last, "sites") and not any(
            any(has(index, name) for name in ("colours", "modifies", "adjective"))
            and not (has(index, "sites") or has(index, "participle"))
            for index in modifiers
        )
