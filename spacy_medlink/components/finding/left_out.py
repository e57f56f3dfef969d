"""What is a name and no mention: in headings, idioms, addresses, codes, and names of others.

"FAMILY HISTORY:" heads a section, "fever pitch" is no fever, and "als@hospital.org" no sclerosis.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import TYPE_CHECKING

from ...assets.languages import common_words, heading_words, words_beside
from ...text.pieces import Border, Pieces
from ...text.word_lists import lines_of
from .capitals import CapitalWords
from .matches import Match
from .persons import DEGREES, is_called, is_degree, is_person, is_surname_behind_ms
from .places import is_place, is_state
from .settings import HEADINGS, PARTS

if TYPE_CHECKING:
    from ...retrieval.exact import ExactIndex

_WORDS = words_beside()
Idioms = dict[str, tuple[re.Pattern[str], re.Pattern[str]]]
_LONGEST_HEADING = 8  # pieces before its colon
_BEFORE_IDIOM = 24  # characters that a phrase before a word may have
_LONGEST_ADDRESS = 80  # characters of an address of the web before and behind a match
_ADDRESS = re.compile(
    r"://|\bwww\.|\w@[\w-]+\.[a-z]{2,}|@\w+_|\\\w+\\|\w\.(?:com|org|net|edu|gov|uk|"
    r"csv|dcm|docx?|html?|jpe?g|pdf|png|pptx?|tiff?|txt|xlsx?|zip)\b",
    re.I,
)
_TIGHT = frozenset("./@_-:=\\")
_CODE = re.compile(r"-?\d{2,}-\d")  # "RA-22-1182"
_DIGITS = re.compile(r"[ -]?\d[\d-]{2,}")
_GLUED = re.compile(r"_\w|\d")
_LABEL = 4  # pieces before a code that may say what it is
_LITRES = re.compile(r"\d*l|lpm")
_ROMAN = re.compile(r"(?=X*[IV])(?=..)X{0,2}(?:IX|IV|V?I{0,3})")
_SHORT = 6  # letters of a short form


def mentions_among(
    pieces: Pieces,
    matches: list[Match],
    exact: "ExactIndex",
    lang: str,
    rules: Collection[str],
) -> list[Match]:
    """Leave out the matches that are no mentions.

    exact (ExactIndex): the names that are found. lang (str): of the text.
    rules (Collection[str]): HEADINGS, PARTS, both or none.
    """
    if PARTS in rules:
        words = CapitalWords(pieces, matches, exact, common_words(lang))
        idioms = _idioms(lang)
        matches = [
            match
            for match in matches
            if not (
                _is_address(pieces, match)
                or _is_code(pieces, match)
                or _is_idiom(pieces, match, idioms)
                or _is_other_name(words, match)
            )
        ]
    if HEADINGS in rules and (headings := heading_words(lang)):
        matches = [match for match in matches if not _is_in_heading(pieces, match, headings)]
    return matches


def _is_address(pieces: Pieces, match: Match) -> bool:
    """Tell whether a match lies in an address of the web or of e-mail."""
    before, behind = pieces.gaps[match.start], pieces.gaps[match.end]
    if not (before[-1:] in _TIGHT or behind[:1] in _TIGHT):
        return False
    text, first, last = pieces.text, pieces.starts[match.start], pieces.ends[match.end - 1]
    left = text[max(0, first - _LONGEST_ADDRESS) : first].rpartition(" ")[2]
    right = text[last : last + _LONGEST_ADDRESS].partition(" ")[0]
    address = _ADDRESS.search(whole := f"{left}{text[first:last]}{right}")
    return address is not None and not re.search(r"\s", whole)


def _is_code(pieces: Pieces, match: Match) -> bool:
    """Tell whether a match begins the number of a thing, or a user's name."""
    text, last = pieces.between(match.start, match.end), pieces.ends[match.end - 1]
    if text.isupper() and _CODE.match(pieces.text, last):
        return True
    is_apart = not {",", ";", "\n"}.isdisjoint(pieces.gaps[match.start])
    before = [] if is_apart else pieces.lower[max(0, match.start - _LABEL) : match.start]
    if text.isupper() and _DIGITS.match(pieces.text, last):
        return not _WORDS["numbered"].isdisjoint(before)
    is_glued = _GLUED.match(pieces.text, last) or pieces.gaps[match.start].endswith("_")
    return bool(is_glued) and not _WORDS["accounts"].isdisjoint(before)


def _is_other_name(words: CapitalWords, match: Match) -> bool:
    """Tell whether a match with a capital names a person, a place, a degree, a unit ..."""
    if not words.is_capital(match.start):
        return False
    text = words.pieces.between(match.start, match.end)
    if text.isupper() and len(text) <= _SHORT and _is_no_short_form(words, match, text):
        return True
    return all(map(words.is_capital, range(match.start, match.end))) and (
        is_person(words, match) or is_place(words, match) or is_called(words, match)
    )


def _is_no_short_form(words: CapitalWords, match: Match, text: str) -> bool:
    """Tell whether a short text in capitals is a number, a unit, a state, a degree or a word."""
    pieces, start, end = words.pieces, match.start, match.end
    if _ROMAN.fullmatch(text) or (start and _is_unit(words, start, end)):
        return True
    if text.lower() in _WORDS["states"] and is_state(words, start, end):
        return True
    if "".join(pieces.lower[start:end]) in DEGREES and is_degree(words, start, end):
        return True
    if text == "MS" and pieces.gaps[end] in (" ", ". "):
        return is_surname_behind_ms(words, end)
    return words.is_ordinary(match)


def _is_unit(words: CapitalWords, start: int, end: int) -> bool:
    """Tell whether a short form is a unit, or a device for oxygen: "450 MS", "3L NC"."""
    before, text = words.pieces.lower[start - 1], "".join(words.pieces.lower[start:end])
    if _LITRES.fullmatch(before) or before in _WORDS["litres"]:
        return True
    is_end = words.pieces.borders[end] >= Border.COMMA
    return is_end and before.isdigit() and text in _WORDS["units"]


def _is_idiom(pieces: Pieces, match: Match, idioms: Idioms) -> bool:
    """Tell whether a word names nothing in its phrase; longer matches say what they mean."""
    start = match.start
    if match.end > start + 1 or (phrases := idioms.get(pieces.lower[start])) is None:
        return False
    before, behind = phrases
    if behind.match(pieces.text, pieces.ends[start]):
        return True
    first = pieces.starts[start]
    return before.search(pieces.text[max(0, first - _BEFORE_IDIOM) : first]) is not None


@lru_cache
def _idioms(lang: str) -> Idioms:
    """Read the idioms of a language: what stands before and behind each of their words."""
    idioms: Idioms = {}
    for line in lines_of("idioms", lang):
        words, before, behind = [*line.split("\t"), ""][:3]
        patterns = _pattern("(?<!\\w)(?:{})[ -]\\Z", before), _pattern("[ -](?:{})(?!\\w)", behind)
        idioms.update(dict.fromkeys(words.split(), patterns))
    return idioms


def _pattern(form: str, phrases: str) -> re.Pattern[str]:
    written = (re.escape(phrase.strip()) for phrase in phrases.split(",") if phrase.strip())
    listed = "|".join(phrase.replace("\\*", "\\w*").replace("\\#", "\\d+") for phrase in written)
    return re.compile(form.format(listed or "(?!)"), re.IGNORECASE)


def _is_in_heading(pieces: Pieces, match: Match, words: frozenset[str]) -> bool:
    """Tell whether a match lies in the heading of a section.

    A heading that names a problem, such as "Diabetes:", is a mention. So only headings made of
    words of a list are left out.

    words (FrozenSet[str]): keys of the words that headings are made of.
    """
    for start in range(match.start, max(match.start - _LONGEST_HEADING, -1), -1):
        is_sentence = start == 0 or pieces.borders[start] == Border.SENTENCE
        if is_sentence or "\n" in pieces.gaps[start]:
            return match.end <= _heading_end(pieces, start, words)
    return False


def _heading_end(pieces: Pieces, line: int, words: frozenset[str]) -> int:
    """Find the end of the heading at the start of a line or a sentence; the start without any."""
    has_words, is_upper = False, True
    for index in range(line, min(line + _LONGEST_HEADING, len(pieces.keys)) + 1):
        gap = pieces.gaps[index]
        if index == line and ":" in gap.rpartition("\n")[2]:
            return line
        if has_words:
            before_line = gap.partition("\n")[0]
            if ":" in before_line:
                return index
            if "\n" in gap or index == len(pieces.keys):
                begins_line = line == 0 or "\n" in pieces.gaps[line]
                is_alone = is_upper and not before_line.strip() and "\n" in gap
                return index if is_alone and begins_line else line
            if set(".;!?") & set(gap):
                return line
        if index == len(pieces.keys):
            break
        key = pieces.keys[index]
        if not key or key.isdigit():  # "2. ", "- "
            continue
        if not (pieces.is_stop[index] or words.issuperset(key.split())):
            return line
        has_words = True
        is_upper &= not any(map(str.islower, pieces.texts[index]))
    return line
