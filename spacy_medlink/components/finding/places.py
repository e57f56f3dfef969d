"""Places: "Detroit, MI 48201", "Palsy Street" and "the Cramp Family Clinic" name no problem."""

import re

from ...assets.languages import words_beside
from ...text.pieces import Border
from .capitals import CapitalWords
from .matches import Match

_WORDS = words_beside()
_SHORT_STREETS = _WORDS["streets"] | _WORDS["short_streets"]
_HOUSES = _WORDS["houses"] | _WORDS["founded"]
_LABELS = _WORDS["labels"] | _WORDS["streets"] | _HOUSES
# A zip code, the number of a licence or a telephone; no dose: "MI 10000 units".
_NUMBER = re.compile(
    r"[\s,.:]*(?:(?:[A-Z]\d{5,}|\d{5}(?:-\d{4})?)(?![\w%]|\s*(?:units?|mg|ml|iu|cells)\b)"
    r"|\(?\d{3}\)?[-. ]{1,2}\d{3}\b)"
)
_SPECIALTY = re.compile(r".+(?:ology|iatrics)")
_NEAR = 30  # pieces of a line that are looked at before a state
_LABEL = 4  # pieces before a state that may say who lives there


def is_place(words: CapitalWords, match: Match) -> bool:
    """Tell whether a street, an institution or a department is called after a match."""
    pieces, index = words.pieces, match.end
    if words.word(index) and pieces.gaps[index] == " " and words.is_capital(index):
        has_number = match.start and pieces.texts[match.start - 1].isdigit()
        if pieces.lower[index] in (_SHORT_STREETS if has_number else _WORDS["streets"]):
            return True
    is_joined = False
    while index < min(match.end + 5, len(pieces.keys)) and _in_name(words, index, index):
        word = pieces.lower[index]
        if word in _HOUSES or (is_joined and _SPECIALTY.fullmatch(word)):
            return True
        is_joined |= word == "and" or "&" in pieces.gaps[index]
        index += 1
    index, is_joined = match.start - 1, False
    while index >= max(match.start - 5, 0) and _in_name(words, index + 1, index):
        is_joined |= pieces.lower[index] in ("of", "for")
        if is_joined and pieces.lower[index] in _WORDS["founded"]:
            return True
        index -= 1
    return False


def _in_name(words: CapitalWords, behind: int, index: int) -> bool:
    """Tell whether a piece goes on with a name. behind (int): the later one of the two."""
    pieces = words.pieces
    return pieces.gaps[behind] in (" ", " & ", "-") and (
        words.is_capital(index) or pieces.lower[index] in _WORDS["links"]
    )


def is_state(words: CapitalWords, start: int, end: int) -> bool:
    """Tell whether a zip code, a telephone or a city says that a state is meant."""
    pieces = words.pieces
    if _NUMBER.match(pieces.text, pieces.ends[end - 1]):
        return True
    before = words.word(start - 1)
    if before in _WORDS["ways"] and pieces.borders[start] == Border.SPACE:
        near = pieces.lower[max(0, start - _LABEL) : start]
        if not _WORDS["living"].isdisjoint(near):
            return True
    if ":" in pieces.gaps[start] and before in _WORDS["state_labels"]:
        return True
    if pieces.gaps[end] == " " and words.word(end) in _WORDS["of_states"]:
        return True
    city = start
    while (
        city
        and start - city < 3
        and words.is_proper(city - 1)
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
    if words.word(city - 1) in _WORDS["prepositions"] and pieces.gaps[city] == " ":
        return True
    line = city
    while line and city - line < _NEAR and "\n" not in pieces.gaps[line]:
        line -= 1
    has_label = not _LABELS.isdisjoint(pieces.lower[line:city])
    is_address = words.word(line).isdigit() or has_label
    return pieces.borders[end] >= Border.COMMA and is_address
