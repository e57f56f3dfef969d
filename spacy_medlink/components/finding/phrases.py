"""Phrases: a mention is a whole noun phrase, and no part of another thing's name.

"Chest" is no mention in "chest tube", nor "fever" in "yellow fever". Of "bone pain", where the head
alone is known, the whole is the mention, and narrower than its head. What words do is learned from
the names: a word that others mostly follow ("chest", "pulmonary") modifies them.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...assets.languages import common_words, words_beside
from ...text.context.cues import shipped_cues
from ...text.pieces import Border, Pieces
from ...text.qualifiers import BEHIND, LEVELS, QUALIFIERS, SITES, VAGUE
from .matches import Match

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
    r"edema|bleeding|swelling|infection|abscess|cyst|nodule|lesion|rash|polyp|ache|"
    r"discharge|asthma|stroke|iasis|embolism|aneurysm|hernia|obstruction|perforation|hypotension|"
    r"seizure|pneumonia|effusion|hemorrhage|collapse|thromb(?:us|i))s?"
)
# A word form that says how something is, and may be a part of a name: "asthmatic bronchitis".
_QUALITY = re.compile(r"[a-z]{3,}(?:ic|al|ous|ile|ed|ent|ant|oid|ive|(?:isch|ös|il|iv)e?[rsnm]?)")
# Whom a disease is called after, but for relatives: "swimmer's ear".
_EPONYM = re.compile(r"([a-z]{3,}(?:er|or|ist|maid|ete|man|men))['’]s")
_COLOURS, _PARTICIPLES = words_beside()["colours"], frozenset(["induced", "related"])
_OF_A_SITE = re.compile(r"[a-z]{3,}(?:al|ian|ar|ic)")  # "ovarian", "pelvic"
_PLURAL = re.compile(r".{3,}(?:[^aeiou]ies|ides|oses|ases|omas|mata)")
# Beside these, a word form is a finding of its own: "migrainous headache".
_SYMPTOM = re.compile(r".*(?:ache|pain|rash|cough|wheeze|seizure|plaque|lesion|itch)s?")
_SHOWN = words_beside()["shown"] | _PERSONS
_NO_EPONYMS = words_beside()["relations"] | _PERSONS
_SHORT_FORM, _LEAST = 6, 2  # letters; names that show what a word does
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
        self._pieces, self._vocabulary, self._common = pieces, vocabulary, common_words(lang)
        self._cues = shipped_cues(lang).phrases  # "denies", "possible"
        self._is_english = lang.lower().startswith("en")
        self._is_head_first = lang[:2].lower() in _HEAD_FIRST
        self._starts, self._forms = set[int](), set[int]()
        self._modified: dict[int, bool] = {}
        self._first: dict[int, int] = {}  # where the longest match up to each end begins
        for match in matches:
            self._starts.add(match.start)
            self._first[match.end] = min(match.start, self._first.get(match.end, match.start))
            if self._is_quality(match):
                self._forms.add(match.start)
        self._parts = frozenset(start for start in self._forms if self._is_of_a_noun(start + 1))
        self.matches = [whole for match in matches if (whole := self._whole(match)) is not None]

    def _whole(self, match: Match) -> Match | None:
        """Get the phrase of a match; None where the phrase means something else."""
        if not match.is_name:
            return match
        if match.start in self._forms and self._is_quality(match):
            return None if match.start in self._parts else match
        start, end = match.start, match.end
        is_form = match.reading and _OF_A_SITE.fullmatch(self._pieces.lower[end - 1])
        if is_form and self._is_of_a_noun(end):  # "left ovarian" of something unknown
            return None
        is_short = match.is_short or self._is_short_form(start, end)
        if self._has_another_head(match, is_short) or self._is_of_a_thing(match):
            return None
        if match.reading or is_short or self._first[match.end] < start or not self._common:
            return match
        while start + _MOST >= match.start and self._is_modified(start):
            start -= 1
        if start == match.start or start + _MOST < match.start:
            return match
        # All of a site, whose last word is before: "right lower lobe pneumonia".
        start = min(start, self._first.get(match.start, start))
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
        if _PLURAL.fullmatch(pieces.lower[end - 1]):  # no noun follows: "Neuropathies clinic"
            return False
        is_noun, behind = self._is_noun(end), pieces.lower[end + 1 : end + 2]
        if is_noun and not (is_short or _THINGS.isdisjoint(behind)) and self._goes_on(end + 1):
            return True
        if following in (_CHECKS if is_short else _THINGS):
            return True
        if is_short or any(following in words for words in (BEHIND, _PERSONS, LEVELS, QUALIFIERS)):
            return False
        is_common = key in self._common
        if is_common and _VERB.fullmatch(following):  # "the brain shows"
            return False
        if pieces.lower[end - 1] in SITES and not (is_common and not _KIND.fullmatch(following)):
            inside, last = self._vocabulary.uses(key)
            # A site of metastases is one, though nobody knows the word.
            is_new = is_noun and not (inside + last or following.startswith("metasta"))
            is_new &= pieces.keys[end - 1] == pieces.lower[end - 1]
            if following in VAGUE or _KIND.fullmatch(following) or last >= _LEAST or is_new:
                return True
        is_agent = not is_common and _AGENT.fullmatch(following) is not None
        is_word = match.start + 1 == end
        return is_word and (is_agent or self._modifies(pieces.keys[match.start]))

    def _is_noun(self, index: int) -> bool:
        """Tell whether a word is no mention and, by its shape, rather a noun than anything else."""
        word, pieces = self._pieces.lower[index], self._pieces
        return (
            index not in self._starts
            and pieces.keys[index] not in self._common
            and not pieces.texts[index].isupper()
            and not any(shape.fullmatch(word) for shape in (_VERB, _ADJECTIVE, _QUALITY))
            and not any(word in words for words in (QUALIFIERS, BEHIND, LEVELS, _PERSONS, SITES))
            and _NOUN.fullmatch(word) is not None
        )

    def _is_quality(self, match: Match) -> bool:
        """Tell whether a match is a word form that may qualify another word: "septic"."""
        word = self._pieces.lower[match.start]
        is_form = match.is_name and bool(match.reading) and match.start + 1 == match.end
        says = _QUALITY.fullmatch(word) is not None or match.reading.startswith(word)
        return is_form and not self._is_head_first and says

    def _is_of_a_noun(self, index: int) -> bool:
        """Tell whether a word form makes a name with what follows, other than of a person's arm."""
        end = index + _MOST
        while index < end and self._goes_on(index) and self._pieces.lower[index] in SITES:
            index += 1
        word = self._pieces.lower[index] if self._goes_on(index) else ""
        if not word or word in BEHIND | _SHOWN or index in self._forms or _SYMPTOM.fullmatch(word):
            return False
        is_problem = word in VAGUE or _KIND.fullmatch(word) is not None
        return is_problem or word in _THINGS or index in self._starts or self._is_noun(index)

    def _is_of_a_thing(self, match: Match) -> bool:
        """Tell whether a part of the body is one of something else: "the foot of the bed"."""
        pieces, end = self._pieces, match.end
        is_site = match.start + 1 == end and pieces.lower[match.start] in SITES
        if not is_site or pieces.lower[end : end + 1] != ["of"] or pieces.gaps[end] != " ":
            return False
        behind = range(end + 1, min(end + 5, len(pieces.keys)))  # they say of what
        are_named = (pieces.lower[at] in SITES or not pieces.keys[at].isalpha() for at in behind)
        return self._starts.isdisjoint(behind) and not any(are_named)

    def _is_modified(self, index: int) -> bool:
        """Tell whether the word before a word belongs to its phrase; each is looked at once."""
        if index not in self._modified:
            is_modified = index > 0 and self._goes_on(index) and self._is_modifier(index - 1)
            self._modified[index] = is_modified
        return self._modified[index]

    def _is_modifier(self, index: int) -> bool:
        """Tell whether a word before a match says which one, not merely how it is."""
        pieces, word, key = self._pieces, self._pieces.lower[index], self._pieces.keys[index]
        if word in SITES | _COLOURS or index in self._parts:
            return True
        if word in _PARTICIPLES:  # "exercise induced asthma"
            is_first = index == 0 or index - 1 in pieces.hyphens or not pieces.says[index - 1]
            return not is_first and self._goes_on(index)
        if pieces.lower[index + 1] in _PARTICIPLES:
            return True
        if eponym := _EPONYM.fullmatch(word):
            return eponym[1] not in _NO_EPONYMS
        if not (pieces.says[index] and word.isalpha()) or index in pieces.hyphens or word == "ø":
            return False
        phrases = self._cues.get(word, ())
        is_cue = word in _PERSONS or any(len(phrase.places) == 1 for phrase in phrases)
        is_quality = any(word in words for words in (QUALIFIERS, BEHIND, LEVELS))
        if is_cue or is_quality or self._is_short_form(index, index + 1):
            return len(word) == 1 and not is_quality  # "Q fever"
        begins = pieces.borders[index] >= Border.SEPARATOR and word.endswith("ing")
        if _VERB.fullmatch(word) and not begins:  # but "Walking pneumonia"
            return False
        if self._modifies(key) or index + 1 in self._first:  # not a mention: "fever cough"
            return self._modifies(key)
        is_noun = self._is_english and _NOUN.fullmatch(word) and key not in self._common
        return bool(_ADJECTIVE.fullmatch(word) or is_noun)

    def _is_narrower(self, match: Match, modifiers: range) -> bool:
        """Tell whether words before a match leave it what it is: "bone pain" is a pain."""
        lower, last = self._pieces.lower, self._pieces.lower[match.end - 1]
        if match.start + 1 < match.end or _KIND.fullmatch(last):
            return True
        return last not in SITES and not any(
            lower[index] not in SITES | _PARTICIPLES
            and (
                lower[index] in _COLOURS
                or self._modifies(self._pieces.keys[index])
                or _ADJECTIVE.fullmatch(lower[index])
            )
            for index in modifiers
        )

    def _is_short_form(self, start: int, end: int) -> bool:
        text = self._pieces.between(start, end)
        return text.isupper() and len(text) <= _SHORT_FORM

    def _goes_on(self, index: int) -> bool:
        """Tell whether a word with a meaning stands at a place, only a space behind another."""
        pieces = self._pieces
        return (
            index < len(pieces.keys)
            and pieces.says[index]
            and pieces.borders[index] <= Border.SPACE
            and pieces.keys[index].isalpha()
        )

    def _modifies(self, word: str) -> bool:
        """Tell whether other words mostly follow a word in names.

        Without the common words of the language ("con", "eine"), and where heads come first, it
        says nothing.
        """
        inside, last = self._vocabulary.uses(word)
        may_say = self._common and not self._is_head_first
        return bool(may_say) and inside >= _LEAST and inside > last
