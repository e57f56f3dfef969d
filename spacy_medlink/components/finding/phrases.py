"""Phrases: a mention is a whole noun phrase, and no part of another thing's name.

"Chest" is no mention in "chest tube", nor "fever" in "yellow fever". Of "bone pain", where the head
alone is known, the whole is the mention, and narrower than its head. What words do is learned from
the names: a word that others mostly follow ("chest", "pulmonary") modifies them.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...text.context.cues import shipped_cues
from ...text.pieces import Border, Pieces
from ...text.qualifiers import BEHIND, LEVELS, QUALIFIERS, SITES, VAGUE
from .languages import common_words, words_beside
from .match import Match

if TYPE_CHECKING:
    from ...retrieval.vocabulary import Vocabulary

_THINGS, _PERSONS = words_beside()["things"], words_beside()["persons"]
_CHECKS = words_beside()["checks"]
_HEAD_FIRST = frozenset("es fr it pt ca ro gl".split())  # "céphalée intense" is a headache
_ADJECTIVE = re.compile(r"[a-z]{3,}(?:al|ic|ous|ar|ary|oid)")
_VERB = re.compile(r".*(?:ed|ing|ly|ies|[^aius]s)")  # "induced", "increasingly", "shows"
_NOUN = re.compile(r"(?=.*[aeiouy]).{3,}")
_AGENT = re.compile(r"[a-z]{3,}(?:er|or|ist|ologist|graphy|gram|scopy|ectomy|therapy|ology)s?")
# With a word before it, a problem of this kind is still one: no cardiomyopathy is anything else.
_KIND = re.compile(
    r".*(?:pathy|penia|itis|a?emia|oma|osis|algia|plegia|paresis|uria|rrh?o?ea|megaly|ectasi[as]|"
    r"trophy|plasia|phagia|pn[eo]a|oedema|pain|cancer|tumou?r|mass|ulcer|fracture|infarction|"
    r"edema|bleeding|swelling|infection|abscess|cyst|nodule|lesion|rash)s?"
)
_SHORT_FORM, _LEAST = 6, 2  # letters; names that show what a word does


class Phrases:
    """Makes matches whole phrases, and leaves out those that are a part of another thing's.

    lang (str): of the pipeline. In English alone the words before a match lengthen it.
    matches (List[Match]): those that stay.
    """

    def __init__(
        self, pieces: Pieces, matches: Sequence[Match], vocabulary: "Vocabulary", lang: str
    ) -> None:
        self._pieces, self._vocabulary, self._common = pieces, vocabulary, common_words(lang)
        self._cues = shipped_cues(lang).phrases  # "denies", "possible"
        self._is_english = lang.lower().startswith("en")
        self._is_head_first = lang[:2].lower() in _HEAD_FIRST
        self._starts = {match.start for match in matches}
        # Where the longest match up to each end begins: what it says is known.
        self._first = {match.end: match.start for match in sorted(matches, reverse=True)}
        self.matches = [whole for match in matches if (whole := self._whole(match)) is not None]

    def _whole(self, match: Match) -> Match | None:
        """Get the phrase of a match; None where the phrase means something else."""
        if not match.is_name:
            return match
        start, end = match.start, match.end
        is_short = match.is_short or self._is_short_form(start, end)
        if self._has_another_head(match, is_short) or self._is_of_a_thing(match):
            return None
        if match.reading or is_short or self._first[match.end] < start:
            return match
        while start and self._goes_on(start) and self._is_modifier(start - 1):
            start -= 1
        if start == match.start:
            return match
        if not (self._is_english and self._is_narrower(match, range(start, match.start))):
            return None
        words, head = range(start, match.start), self._pieces.between(match.start, match.end)
        return match._replace(start=start, words=match.words.union(words), reading=head)

    def _has_another_head(self, match: Match, is_short: bool) -> bool:
        pieces, end = self._pieces, match.end
        if not self._goes_on(end):
            return False
        following, key = pieces.lower[end], pieces.keys[end]
        if len(following) == 1 and pieces.gaps[end + 1] == "/":  # "s/p", "c/b", "d/t"
            return False
        if end + 1 in pieces.hyphens:  # "x-ray"
            following += f"-{pieces.lower[end + 1]}"
        if following in (_CHECKS if is_short else _THINGS):
            return True
        if following in BEHIND | _PERSONS or is_short:
            return False
        is_common = key in self._common
        if is_common and _VERB.fullmatch(following):  # "the brain shows"
            return False
        if pieces.lower[end - 1] in SITES and not is_common:
            is_head = following in VAGUE or _KIND.fullmatch(following)
            if is_head or self._vocabulary.uses(key)[1] >= _LEAST:
                return True
        is_agent = not is_common and _AGENT.fullmatch(following) is not None
        is_word = match.start + 1 == end
        return is_word and (is_agent or self._modifies(pieces.keys[match.start]))

    def _is_of_a_thing(self, match: Match) -> bool:
        """Tell whether a part of the body is one of something else: "the foot of the bed"."""
        pieces, end = self._pieces, match.end
        is_site = match.start + 1 == end and pieces.lower[match.start] in SITES
        if not is_site or pieces.lower[end : end + 1] != ["of"] or pieces.gaps[end] != " ":
            return False
        behind = range(end + 1, min(end + 5, len(pieces.keys)))  # they say of what
        known = (pieces.lower[at] in SITES or not pieces.keys[at].isalpha() for at in behind)
        return self._starts.isdisjoint(behind) and not any(known)

    def _is_modifier(self, place: int) -> bool:
        """Tell whether a word before a match says which one, not merely how it is."""
        pieces, word, key = self._pieces, self._pieces.lower[place], self._pieces.keys[place]
        if word in SITES:
            return True
        if not (pieces.says[place] and word.isalpha()) or place in pieces.hyphens or word == "ø":
            return False
        phrases = self._cues.get(word, ())
        is_cue = word in _PERSONS or any(len(phrase.places) == 1 for phrase in phrases)
        is_quality = any(word in words for words in (QUALIFIERS, BEHIND, LEVELS))
        if is_cue or is_quality or self._is_short_form(place, place + 1):
            return len(word) == 1 and not is_quality  # "Q fever"
        begins = pieces.borders[place] >= Border.SEPARATOR and word.endswith("ing")
        if _VERB.fullmatch(word) and not begins:  # but "Walking pneumonia"
            return False
        if self._modifies(key) or place + 1 in self._first:  # not a mention: "fever cough"
            return self._modifies(key)
        is_noun = self._is_english and _NOUN.fullmatch(word) and key not in self._common
        return bool(_ADJECTIVE.fullmatch(word) or is_noun)

    def _is_narrower(self, match: Match, modifiers: range) -> bool:
        """Tell whether words before a match leave it what it is: "bone pain" is a pain."""
        lower, last = self._pieces.lower, self._pieces.lower[match.end - 1]
        if match.start + 1 < match.end or _KIND.fullmatch(last):
            return True
        return last not in SITES and not any(
            lower[place] not in SITES
            and (self._modifies(self._pieces.keys[place]) or _ADJECTIVE.fullmatch(lower[place]))
            for place in modifiers
        )

    def _is_short_form(self, start: int, end: int) -> bool:
        text = self._pieces.between(start, end)
        return text.isupper() and len(text) <= _SHORT_FORM

    def _goes_on(self, place: int) -> bool:
        """Tell whether a word with a meaning stands at a place, only a space behind another."""
        pieces = self._pieces
        return (
            place < len(pieces.keys)
            and pieces.says[place]
            and pieces.borders[place] <= Border.SPACE
            and pieces.keys[place].isalpha()
        )

    def _modifies(self, word: str) -> bool:
        """Tell whether other words mostly follow a word in names."""
        inside, last = self._vocabulary.uses(word)
        return inside >= _LEAST and inside > last and not self._is_head_first
