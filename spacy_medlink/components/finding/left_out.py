"""What is a name and no mention: in headings, idioms, addresses, codes, and names of others.

"FAMILY HISTORY:" heads a section, "fever pitch" is no fever, and "als@hospital.org" no sclerosis.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import TYPE_CHECKING

from ...assets.languages import common_words, heading_words, words_beside
from ...text.normalisation import hash_keys
from ...text.pieces import Border, Pieces
from ...text.word_lists import lines_of
from .matches import Match
from .neighbours import SHORT, YES, Neighbours
from .settings import HEADINGS, PARTS

if TYPE_CHECKING:
    from ...retrieval.exact import ExactIndex

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
_TITLES = words_beside()["titles"]
_NEAR = 30  # pieces of a sentence that are looked at on a side


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
    if PARTS in rules and matches:
        words = Neighbours(pieces, matches, exact.vocabulary, common_words(lang), lang)
        idioms = _idioms(lang)
        matches = [
            match
            for match in matches
            if not (
                _is_address(pieces, match)
                or _is_idiom(pieces, match, idioms)
                or _is_other_name(words, match, exact)
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


def _is_other_name(words: Neighbours, match: Match, exact: "ExactIndex") -> bool:
    """Tell whether a match names a person, a place, a degree, a unit, or an account."""
    pieces, start, end = words.pieces, match.start, match.end
    text = pieces.between(start, end)
    is_glued = {words.sign(start), words.sign(end)} & {"_", "~"}
    if not (text[0].isupper() or is_glued or _TITLES & {*pieces.lower[max(0, start - 2) : start]}):
        return False
    if words.score("name", start, end) > YES:
        return True
    if not text.isupper() or len(text) > SHORT:
        return False
    extra = "ordinary" * _is_ordinary(words, match, exact)
    return words.score("short", start, end, extra) > YES


def _is_ordinary(words: Neighbours, match: Match, exact: "ExactIndex") -> bool:
    """Tell whether a short form is an ordinary word of a sentence written in capitals."""
    pieces, start = words.pieces, match.start
    if match.end - start > 1 or not words.has(start, "known"):
        return False
    first, last = start, match.end
    while start - first < _NEAR and pieces.borders[first] < Border.SEPARATOR:
        first -= 1
    while last - start < _NEAR and pieces.borders[last] < Border.SEPARATOR:
        last += 1
    others = {*range(first, last)} - {start}
    is_upper = pieces.between(first, last).isupper()
    if not (is_upper and any(words.has(index, "known") for index in others)):
        return False
    # A word that is a name in small letters, too, is no short form: "LEG PAIN".
    position = int(exact.find(hash_keys([pieces.keys[start]]))[0])
    rows = exact.rows_of(position, pieces.lower[start]) if position >= 0 else []
    return {row for row, _ in rows}.isdisjoint(match.rows)


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
