"""Persons: "Dr. Graves", "Jane Roe, RN, MS", "Pt. Cramp, Susan" and "a dog named Rash".

Titles, roles, degrees and relations beside a name show that it is a person's.
"""

import re

from ...assets.languages import words_beside
from ...text.normalisation import key
from ...text.pieces import Border
from .capitals import CapitalWords
from .matches import Match

_WORDS = words_beside()
DEGREES = _WORDS["degrees"] | _WORDS["sure_degrees"]
_OF_MS = frozenset(map(key, _WORDS["of_ms"]))
_HEAD = 2  # names that a word ends from which on it is the head of problems
_SURNAME = 30  # names with a word up to which it may be a surname, too
_VERB = re.compile(r"[a-z]{3,}[ds]|is|was|has")
_QUOTES = frozenset(["", '"', "'", "“", "‘"])


def is_person(words: CapitalWords, match: Match) -> bool:
    """Tell whether a title, a relation or a role says that a match is a person's name."""
    pieces, start, end = words.pieces, match.start, match.end
    if end - start > 2 or not start:
        return False
    first = start
    while (
        first
        and start - first < 2
        and pieces.gaps[first] in (" ", ". ")
        and (
            words.is_initial(first - 1)
            or (pieces.gaps[first] == " " and words.is_proper(first - 1))
        )
    ):
        first -= 1
    for index in {first, start} - {0}:
        before, gap = pieces.lower[index - 1], pieces.gaps[index]
        # "MS PAIN" may be of multiple sclerosis, and "Dr. C. Stroke" the end of a sentence.
        is_title = before in _WORDS["titles"] and (
            pieces.texts[index - 1] != "MS" or is_surname_behind_ms(words, index)
        )
        is_next = index == start or pieces.gaps[start] == " "
        if is_title and is_next and gap in (" ", ". "):
            return True
        is_first_name = index < start and gap in (" ", ", ")
        if is_first_name and before in _WORDS["relations"]:
            # "Mother, Ovarian Cancer"
            return words.uses(end - 1)[1] < _HEAD
        if index == start and gap == " " and before in _WORDS["relations"]:
            # "Daughter Angina is here"
            return words.word(end) in _WORDS["does"] and not pieces.texts[start].isupper()
        if before in ("patient", "pt") and gap.strip() in (".", ":", ""):
            # "Pt. Cramp, Susan"
            return pieces.gaps[end] == ", " and words.is_proper(end)
        is_role = before in _WORDS["roles"] or (
            before in ("name", "by") and words.word(index - 2) in _WORDS["named"] | _WORDS["roles"]
        )
        if is_role and (gap.strip() == ":" or before == "by"):
            return _ends_person(words, end)
    is_titled = words.word(end) in DEGREES and _joins(words, end)
    return first < start and is_titled and _begins_person(words, start)


def _ends_person(words: CapitalWords, end: int) -> bool:
    """Tell whether a person's name may end: "Bone, Michael", but not "Pain, chronic"."""
    pieces, border = words.pieces, words.pieces.borders[end]
    is_followed = border == Border.COMMA and pieces.texts[end][0].isupper()
    return border > Border.COMMA or (
        is_followed and (end not in words.taken or pieces.lower[end] in DEGREES)
    )


def _begins_person(words: CapitalWords, surname: int, is_sure: bool = False) -> bool:
    """Tell whether an initial, a first name or a title stands before a surname.

    is_sure (bool): whether any word with a capital will do for the first name.
    """
    pieces, before = words.pieces, surname - 1
    if before < 0 or not words.is_capital(surname) or pieces.gaps[surname] not in (" ", ". "):
        return False
    return (
        words.is_initial(before)
        or pieces.lower[before] in _WORDS["titles"]
        or (pieces.gaps[surname] == " " and words.is_proper(before))
        or (is_sure and pieces.texts[before].istitle() and before not in words.taken)
    )


def is_called(words: CapitalWords, match: Match) -> bool:
    """Tell whether something else is called so: "a dog named Rash"."""
    pieces, start = words.pieces, match.start
    is_near = start and pieces.gaps[start].strip() in _QUOTES
    if not is_near or pieces.texts[start].isupper() or match.end - start > 1:
        return False
    before = words.word(start - 1)
    bearer = words.word(start - 2) if before in ("is", "was", "by") else before
    return before in _WORDS["callers"] or bearer in _WORDS["bearers"]


def is_degree(words: CapitalWords, start: int, end: int) -> bool:
    """Tell whether a match stands in the titles behind a person: "Jane Roe, RN, MS, PT"."""
    pieces, first, last = words.pieces, start, end
    if _is_role(words, start, end):
        return True
    while first and _joins(words, first) and _is_degree_at(words, first - 1):
        first -= 1
    while last < len(pieces.keys) and _joins(words, last) and _is_degree_at(words, last):
        last += 1
    if not (first and _joins(words, first)) or pieces.texts[first - 1].isupper():
        return False
    others = {*pieces.lower[first:start], *pieces.lower[end:last]}
    is_sure = "".join(pieces.lower[start:end]) in _WORDS["sure_degrees"]
    if not _begins_person(words, first - 1, is_sure):
        return False
    goes_on = last < len(pieces.keys) and pieces.gaps[last] == ", " and last in words.taken
    return not goes_on or not _WORDS["sure_degrees"].isdisjoint(others)


def _is_role(words: CapitalWords, start: int, end: int) -> bool:
    """Tell whether a degree at the beginning of a line says who did it: "MA: Tina R."."""
    pieces = words.pieces
    is_label = pieces.borders[start] == Border.SENTENCE and pieces.gaps[end].strip() == ":"
    if not is_label or not words.word(end + 1) or pieces.gaps[end + 1] not in (" ", ". "):
        return False
    return all(words.is_initial(index) or words.is_proper(index) for index in (end, end + 1))


def _is_degree_at(words: CapitalWords, index: int) -> bool:
    """Tell whether a piece is a degree or a part of one: "PA-C", "B.S."."""
    gaps = words.pieces.gaps
    is_part = gaps[index] in ("-", ".") or gaps[index + 1] == "."
    return words.pieces.lower[index] in DEGREES or (is_part and words.is_initial(index))


def _joins(words: CapitalWords, index: int) -> bool:
    """Tell whether only a space, a comma, a hyphen or full stops stand before a degree."""
    return words.pieces.gaps[index] in (" ", ", ", ",", ".", "., ", ".,", "-", "/")


def is_surname_behind_ms(words: CapitalWords, index: int) -> bool:
    """Tell whether "MS" before a word is a title, and no disease: "MS Jones", "MS Lesions"."""
    pieces, word, behind = words.pieces, words.pieces.keys[index], words.word(index + 1)
    is_known = pieces.is_stop[index] or index in words.taken
    if is_known or word in _OF_MS or not words.is_capital(index):
        return False
    if word in words.common:
        return behind in _WORDS["does"] and pieces.texts[index].istitle()
    often = sum(words.uses(index))
    if not often or pieces.borders[index + 1] >= Border.COMMA or pieces.is_stop[index + 1]:
        return True
    return often <= _SURNAME and _VERB.fullmatch(behind) is not None
