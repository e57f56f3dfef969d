"""Persons and places: "Dr. Graves", "Detroit, MI 48201" and "Jane Roe, RN, MS" name no problem.

What a word is shows in its shape, its place, and the words beside it: titles, roles, degrees,
streets. In text written in capitals, an ordinary word is no short form: "SHE USES HEARING AIDS".
"""

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ...text.normalisation import hash_keys, key
from ...text.pieces import Border, Pieces
from .languages import words_beside
from .match import Match

if TYPE_CHECKING:
    from ...retrieval.exact import ExactIndex

_WORDS = words_beside()
_DEGREES = _WORDS["degrees"] | _WORDS["sure_degrees"]
_SHORT_STREETS = _WORDS["streets"] | _WORDS["short_streets"]
_HOUSES = _WORDS["houses"] | _WORDS["founded"]
_LABELS = _WORDS["labels"] | _WORDS["streets"] | _HOUSES
_OF_MS = frozenset(map(key, _WORDS["of_ms"]))
# A zip code, the number of a licence or a telephone; no dose: "MI 10000 units".
_NUMBER = re.compile(
    r"[\s,.:]*(?:(?:[A-Z]\d{5,}|\d{5}(?:-\d{4})?)(?![\w%]|\s*(?:units?|mg|ml|iu|cells)\b)"
    r"|\(?\d{3}\)?[-. ]{1,2}\d{3}\b)"
)
_SITE = re.compile(
    r"://|\bwww\.|\w@[\w-]+\.[a-z]{2,}|@\w+_|\\\w+\\|\w\.(?:com|org|net|edu|gov|uk|"
    r"csv|dcm|docx?|html?|jpe?g|pdf|png|pptx?|tiff?|txt|xlsx?|zip)\b",
    re.I,
)
_TIGHT = frozenset("./@_-:=\\")
_CODE = re.compile(r"-?\d{2,}-\d")  # "RA-22-1182"
_DIGITS = re.compile(r"[ -]?\d[\d-]{2,}")
_GLUED = re.compile(r"_\w|\d")
_LITRES = re.compile(r"\d*l|lpm")
_LONGEST_SITE = 80  # characters of an address of the web before and behind a match
_ADJECTIVE = re.compile(r".{3,}(?:al|ic|ous|ary|oid|ive)")
_SPECIALTY = re.compile(r".+(?:ology|iatrics)")
_ROMAN = re.compile(r"(?=X*[IV])(?=..)X{0,2}(?:IX|IV|V?I{0,3})")
_OFTEN = 12  # names with a word from which on it is a word of the terminology
_HEAD = 2  # names that a word ends from which on it is the head of problems
_SURNAME = 30  # names with a word up to which it may be a surname, too
_VERB = re.compile(r"[a-z]{3,}[ds]|is|was|has")
_NEAR = 30  # pieces of a line or a sentence that are looked at on a side
_SHORT = 6  # letters of a short form
_LABEL = 4  # pieces before a code that may say what it is
_QUOTES = frozenset(["", '"', "'", "“", "‘"])


def without_persons_and_places(
    pieces: Pieces, matches: Sequence[Match], exact: "ExactIndex", common: Collection[str]
) -> list[Match]:
    """Leave out the matches that lie in names of persons, places and institutions, or are none.

    exact (ExactIndex): the names that are found. common (Collection[str]): keys of ordinary words.
    """
    around = _Surroundings(pieces, matches, exact, common)
    return [match for match in matches if not around.is_other(match)]


class _Surroundings:
    """What stands beside the matches of a text."""

    def __init__(
        self, pieces: Pieces, matches: Sequence[Match], exact: "ExactIndex", common: Collection[str]
    ) -> None:
        self._pieces, self._exact, self._common = pieces, exact, common
        written = (match for match in matches if match.end - match.start > 1 or not match.reading)
        self._taken = {place for match in written for place in range(match.start, match.end)}

    def is_other(self, match: Match) -> bool:
        """Tell whether a match names something else than a problem."""
        text = self._pieces.between(match.start, match.end)
        if self._is_site(match) or self._is_code(match, text):
            return True
        if not self._is_capital(match.start):
            return False
        if text.isupper() and len(text) <= _SHORT and self._is_no_short_form(match, text):
            return True
        return all(map(self._is_capital, range(match.start, match.end))) and (
            self._is_person(match) or self._is_place(match) or self._is_called(match)
        )

    def _is_site(self, match: Match) -> bool:
        """Tell whether a match lies in an address of the web or of e-mail."""
        gaps, text = self._pieces.gaps, self._pieces.text
        if not (gaps[match.start][-1:] in _TIGHT or gaps[match.end][:1] in _TIGHT):
            return False
        first, last = self._pieces.starts[match.start], self._pieces.ends[match.end - 1]
        before = text[max(0, first - _LONGEST_SITE) : first].rpartition(" ")[2]
        behind = text[last : last + _LONGEST_SITE].partition(" ")[0]
        site = _SITE.search(whole := f"{before}{text[first:last]}{behind}")
        return site is not None and not re.search(r"\s", whole)

    def _is_code(self, match: Match, text: str) -> bool:
        """Tell whether a match begins the number of a thing, or a user's name."""
        pieces, last = self._pieces, self._pieces.ends[match.end - 1]
        if text.isupper() and _CODE.match(pieces.text, last):
            return True
        is_apart = not {",", ";", "\n"}.isdisjoint(pieces.gaps[match.start])
        before = [] if is_apart else pieces.lower[max(0, match.start - _LABEL) : match.start]
        if text.isupper() and _DIGITS.match(pieces.text, last):
            return not _WORDS["numbered"].isdisjoint(before)
        is_glued = _GLUED.match(pieces.text, last) or pieces.gaps[match.start].endswith("_")
        return bool(is_glued) and not _WORDS["accounts"].isdisjoint(before)

    def _is_called(self, match: Match) -> bool:
        """Tell whether something else is called so: "a dog named Rash"."""
        pieces, start = self._pieces, match.start
        is_near = start and pieces.gaps[start].strip() in _QUOTES
        if not is_near or pieces.texts[start].isupper() or match.end - start > 1:
            return False
        before = self._word(start - 1)
        bearer = self._word(start - 2) if before in ("is", "was", "by") else before
        return before in _WORDS["callers"] or bearer in _WORDS["bearers"]

    def _is_no_short_form(self, match: Match, text: str) -> bool:
        pieces, start, end = self._pieces, match.start, match.end
        if _ROMAN.fullmatch(text) or (start and self._is_unit(start, end)):
            return True
        if text.lower() in _WORDS["states"] and self._is_state(start, end):
            return True
        if "".join(pieces.lower[start:end]) in _DEGREES and self._is_degree(start, end):
            return True
        if text == "MS" and pieces.gaps[end] in (" ", ". "):
            return self._is_surname_behind_ms(end)
        return self._is_ordinary(match)

    def _is_unit(self, start: int, end: int) -> bool:
        """Tell whether a short form is a unit, or a device for oxygen: "450 MS", "3L NC"."""
        before, text = self._pieces.lower[start - 1], "".join(self._pieces.lower[start:end])
        if _LITRES.fullmatch(before) or before in _WORDS["litres"]:
            return True
        is_end = self._pieces.borders[end] >= Border.COMMA
        return is_end and before.isdigit() and text in _WORDS["units"]

    def _is_surname_behind_ms(self, place: int) -> bool:
        """Tell whether "MS" before a word is a title, and no disease: "MS Jones", "MS Lesions"."""
        pieces, word, behind = self._pieces, self._pieces.keys[place], self._word(place + 1)
        is_known = pieces.is_stop[place] or place in self._taken
        if is_known or word in _OF_MS or not self._is_capital(place):
            return False
        if word in self._common:
            return behind in _WORDS["does"] and pieces.texts[place].istitle()
        often = sum(self._exact.vocabulary.uses(word))
        if not often or pieces.borders[place + 1] >= Border.COMMA or pieces.is_stop[place + 1]:
            return True
        return often <= _SURNAME and _VERB.fullmatch(behind) is not None

    def _is_state(self, start: int, end: int) -> bool:
        """Tell whether a zip code, a telephone or a city says that a state is meant."""
        pieces = self._pieces
        if _NUMBER.match(pieces.text, pieces.ends[end - 1]):
            return True
        before = self._word(start - 1)
        if before in _WORDS["ways"] and pieces.borders[start] == Border.SPACE:
            near = pieces.lower[max(0, start - _LABEL) : start]
            if not _WORDS["living"].isdisjoint(near):
                return True
        if ":" in pieces.gaps[start] and before in _WORDS["state_labels"]:
            return True
        if pieces.gaps[end] == " " and self._word(end) in _WORDS["of_states"]:
            return True
        city = start
        while (
            city
            and start - city < 3
            and self._is_proper(city - 1)
            and (pieces.gaps[city] == " " or (city == start and pieces.gaps[city] in (", ", "/")))
        ):
            city -= 1
        if city < start and pieces.gaps[start] == "/":
            return pieces.borders[end] >= Border.SIGN and not pieces.texts[start - 1].isupper()
        is_line = start - city > 1 and pieces.borders[start] == Border.COMMA
        if is_line and min(pieces.borders[city], pieces.borders[end]) >= Border.SEPARATOR:
            return True
        if city in (0, start):
            return False
        if self._word(city - 1) in _WORDS["prepositions"] and pieces.gaps[city] == " ":
            return True
        line = city
        while line and city - line < _NEAR and "\n" not in pieces.gaps[line]:
            line -= 1
        words = pieces.lower[line:city]
        is_address = self._word(line).isdigit() or not _LABELS.isdisjoint(words)
        return pieces.borders[end] >= Border.COMMA and is_address

    def _is_degree(self, start: int, end: int) -> bool:
        """Tell whether a match stands in the titles behind a person: "Jane Roe, RN, MS, PT"."""
        pieces, first, last = self._pieces, start, end
        if self._is_role(start, end):
            return True
        while first and self._joins(first) and self._is_degree_at(first - 1):
            first -= 1
        while last < len(pieces.keys) and self._joins(last) and self._is_degree_at(last):
            last += 1
        if not (first and self._joins(first)) or pieces.texts[first - 1].isupper():
            return False
        others = {*pieces.lower[first:start], *pieces.lower[end:last]}
        is_sure = "".join(pieces.lower[start:end]) in _WORDS["sure_degrees"]
        if not self._begins_person(first - 1, is_sure):
            return False
        goes_on = last < len(pieces.keys) and pieces.gaps[last] == ", " and last in self._taken
        return not goes_on or not _WORDS["sure_degrees"].isdisjoint(others)

    def _is_role(self, start: int, end: int) -> bool:
        """Tell whether a degree at the beginning of a line says who did it: "MA: Tina R."."""
        pieces = self._pieces
        is_label = pieces.borders[start] == Border.SENTENCE and pieces.gaps[end].strip() == ":"
        if not is_label or not self._word(end + 1) or pieces.gaps[end + 1] not in (" ", ". "):
            return False
        return all(self._is_initial(place) or self._is_proper(place) for place in (end, end + 1))

    def _begins_person(self, surname: int, is_sure: bool = False) -> bool:
        """Tell whether an initial, a first name or a title stands before a surname.

        is_sure (bool): whether any word with a capital will do for the first name.
        """
        pieces, before = self._pieces, surname - 1
        if before < 0 or not self._is_capital(surname) or pieces.gaps[surname] not in (" ", ". "):
            return False
        return (
            self._is_initial(before)
            or pieces.lower[before] in _WORDS["titles"]
            or (pieces.gaps[surname] == " " and self._is_proper(before))
            or (is_sure and pieces.texts[before].istitle() and before not in self._taken)
        )

    def _is_person(self, match: Match) -> bool:
        pieces, start, end = self._pieces, match.start, match.end
        if end - start > 2 or not start:
            return False
        first = start
        while (
            first
            and start - first < 2
            and pieces.gaps[first] in (" ", ". ")
            and (
                self._is_initial(first - 1)
                or (pieces.gaps[first] == " " and self._is_proper(first - 1))
            )
        ):
            first -= 1
        for place in {first, start} - {0}:
            before, gap = pieces.lower[place - 1], pieces.gaps[place]
            # "MS PAIN" may be of multiple sclerosis, and "Dr. C. Stroke" the end of a sentence.
            is_title = before in _WORDS["titles"] and (
                pieces.texts[place - 1] != "MS" or self._is_surname_behind_ms(place)
            )
            is_next = place == start or pieces.gaps[start] == " "
            if is_title and is_next and gap in (" ", ". "):
                return True
            is_first_name = place < start and gap in (" ", ", ")
            if is_first_name and before in _WORDS["relations"]:
                # "Mother, Ovarian Cancer"
                return self._exact.vocabulary.uses(pieces.keys[end - 1])[1] < _HEAD
            if place == start and gap == " " and before in _WORDS["relations"]:
                # "Daughter Angina is here"
                return self._word(end) in _WORDS["does"] and not pieces.texts[start].isupper()
            if before in ("patient", "pt") and gap.strip() in (".", ":", ""):
                # "Pt. Cramp, Susan"
                return pieces.gaps[end] == ", " and self._is_proper(end)
            is_role = before in _WORDS["roles"] or (
                before in ("name", "by")
                and self._word(place - 2) in _WORDS["named"] | _WORDS["roles"]
            )
            if is_role and (gap.strip() == ":" or before == "by"):
                return self._ends_person(end)
        is_titled = self._word(end) in _DEGREES and self._joins(end)
        return first < start and is_titled and self._begins_person(start)

    def _ends_person(self, end: int) -> bool:
        """Tell whether a person's name may end: "Bone, Michael", but not "Pain, chronic"."""
        pieces, border = self._pieces, self._pieces.borders[end]
        is_followed = border == Border.COMMA and pieces.texts[end][0].isupper()
        return border > Border.COMMA or (
            is_followed and (end not in self._taken or pieces.lower[end] in _DEGREES)
        )

    def _is_place(self, match: Match) -> bool:
        """Tell whether a street, an institution or a department is called after a match."""
        pieces, place = self._pieces, match.end
        if self._word(place) and pieces.gaps[place] == " " and self._is_capital(place):
            has_number = match.start and pieces.texts[match.start - 1].isdigit()
            if pieces.lower[place] in (_SHORT_STREETS if has_number else _WORDS["streets"]):
                return True
        is_joined = False
        while place < min(match.end + 5, len(pieces.keys)) and self._in_name(place, place):
            own = pieces.lower[place]
            if own in _HOUSES or (is_joined and _SPECIALTY.fullmatch(own)):
                return True
            is_joined |= own == "and" or "&" in pieces.gaps[place]
            place += 1
        place, is_joined = match.start - 1, False
        while place >= max(match.start - 5, 0) and self._in_name(place + 1, place):
            is_joined |= pieces.lower[place] in ("of", "for")
            if is_joined and pieces.lower[place] in _WORDS["founded"]:
                return True
            place -= 1
        return False

    def _is_ordinary(self, match: Match) -> bool:
        """Tell whether a short form is an ordinary word of a sentence written in capitals."""
        pieces, start, end = self._pieces, match.start, match.end
        if end - start > 1 or not (self._is_known(start) and self._is_shouted(start)):
            return False
        is_apart = (
            pieces.borders[start] >= Border.COMMA or pieces.lower[start - 1] in _WORDS["before"]
        ) and (pieces.borders[end] >= Border.COMMA or pieces.lower[end] in _WORDS["behind"])
        if is_apart:
            return False
        # A word that is a name in small letters, too, is no short form: "LEG PAIN".
        place = int(self._exact.find(hash_keys([pieces.keys[start]]))[0])
        rows = self._exact.rows_of(place, pieces.lower[start]) if place >= 0 else []
        return {row for row, _ in rows}.isdisjoint(match.rows)

    def _is_shouted(self, place: int) -> bool:
        """Tell whether the words beside a place, up to the sentence's ends, are capitals."""
        pieces, start, end = self._pieces, place, place + 1
        while place - start < _NEAR and pieces.borders[start] < Border.SEPARATOR:
            start -= 1
        while end - place < _NEAR and pieces.borders[end] < Border.SEPARATOR:
            end += 1
        others = [*range(start, place), *range(place + 1, end)]
        return pieces.between(start, end).isupper() and any(map(self._is_known, others))

    def _is_known(self, place: int) -> bool:
        """Tell whether a piece is a word of general language, or one of many names."""
        pieces, word = self._pieces, self._pieces.keys[place]
        return (
            pieces.is_stop[place]
            or word in self._common
            or pieces.lower[place] in _WORDS["spelled"]
            or (sum(self._exact.vocabulary.uses(word)) > _OFTEN)
        )

    def _is_proper(self, place: int) -> bool:
        """Tell whether a piece with a capital is no word that is known."""
        pieces, text = self._pieces, self._pieces.texts[place]
        return (
            self._is_capital(place)
            and len(text) > 1
            and text.isalpha()
            and place not in self._taken
            and pieces.lower[place] not in _WORDS["titles"]
            and not _ADJECTIVE.fullmatch(pieces.lower[place])
            and not self._is_known(place)
        )

    def _word(self, place: int) -> str:
        """Get a word in small letters; "" before and behind the text."""
        return self._pieces.lower[place] if 0 <= place < len(self._pieces.keys) else ""

    def _is_capital(self, place: int) -> bool:
        return self._pieces.texts[place][0].isupper()

    def _is_initial(self, place: int) -> bool:
        return len(self._pieces.texts[place]) == 1 and self._is_capital(place)

    def _in_name(self, behind: int, place: int) -> bool:
        """Tell whether a piece goes on with a name. behind (int): the later one of the two."""
        pieces = self._pieces
        return pieces.gaps[behind] in (" ", " & ", "-") and (
            self._is_capital(place) or pieces.lower[place] in _WORDS["links"]
        )

    def _is_degree_at(self, place: int) -> bool:
        """Tell whether a piece is a degree or a part of one: "PA-C", "B.S."."""
        gaps = self._pieces.gaps
        is_part = gaps[place] in ("-", ".") or gaps[place + 1] == "."
        return self._pieces.lower[place] in _DEGREES or (is_part and self._is_initial(place))

    def _joins(self, place: int) -> bool:
        """Tell whether only a space, a comma, a hyphen or full stops stand before a degree."""
        return self._pieces.gaps[place] in (" ", ", ", ",", ".", "., ", ".,", "-", "/")
