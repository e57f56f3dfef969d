"""The words that people type around what a term names, and their ways to write words shorter.

`words.tsv` has them by kind: sides, specimens, units, dose forms, schedules and the like.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ...assets.languages import common_words
from ...text.context import Cues, shipped_cues
from ...text.lexicon import Lexicon, Surroundings
from ...text.normalisation import key
from ...text.written_forms import names_of_form

EDGES = " \t\r\n,;:.?!/|+>*=()[]{}-\u2013\u2014\"'"
_LOOSE = r"of|on|the|a|an|in|to|and|with|for|at|or"  # at an edge, they join nothing
_LOOSE_EDGE = re.compile(rf"^(?:{_LOOSE})\s+|\s+(?:{_LOOSE}|w/)$", re.IGNORECASE)
_LOWER = re.compile(r"(?<![\w/-])[a-z]{2,5}(?![\w/-])")
_NAMED = ("disease", "syndrome", "disorder", "infection")  # may be missing: "Carpal tunnel"


def _read() -> dict[str, list[str]]:
    """Read the words of each kind from the table beside this file."""
    table = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in table.splitlines() if not line.startswith("#")]
    return {word_type: words.split("; ") for word_type, words in rows}


_WORDS = _read()
_LONG = dict(pair.split("=") for pair in _WORDS["words"])
SAMPLES = dict(pair.split("=") for pair in _WORDS["sample"])


def _any_of(words: Iterable[str]) -> str:
    longest_first = sorted(set(words), key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in longest_first)


def _whole(expression: str) -> re.Pattern[str]:
    """Compile an expression that begins and ends with whole words."""
    return re.compile(rf"(?<![\w/.^+-])(?:{expression})(?![\w/^])", re.IGNORECASE)


_NUMBER, _BASE = r"\d[\d.,]*", _any_of(_WORDS["unit"])
_PER = rf"\s?/\s?(?:{_NUMBER}\s?)?(?:{_BASE})\b"
_POWER = r"x?\s?10\s?[\^*e]\s?\d+"
_TIME = r"(?:d|days?|wks?|weeks?|mos?|months?|y|yrs?|years?|min|minutes?|h|hrs?|hours?)"
_DATE = r"(?:(?:in|since|on) )?(?:\d{1,2}[/.-]){0,2}(?:19|20)\d\d|\d{1,2}/\d{1,2}/\d\d"
_USE = _any_of([*_WORDS["form"], *_WORDS["schedule"]])
TAKEN = {
    "strength": _whole(
        rf"{_NUMBER}(?:\s?[-/]\s?{_NUMBER})*\s?-?(?:{_any_of(_WORDS['dose'])})(?:{_PER})?"
    ),
    "unit": _whole(
        rf"(?:{_POWER}|\d*(?:{_BASE}))?(?:{_PER})+2?|{_POWER}|{_any_of(_WORDS['alone'])}"
    ),
    "specimen": _whole(_any_of(_WORDS["specimen"])),
    "side": _whole(_any_of(_WORDS["side"])),
}
OTHER = _whole(
    rf"{_USE}|{_any_of(_WORDS['method'])}|\d+\s?(?:{_USE})|q\s?\d+(?:-\d+)?\s?{_TIME}|"
    rf"x\s?\d+(?:\s?{_TIME})?|(?:for )?\d+\s?{_TIME}|{_NUMBER}\s?[cm]m|{_DATE}|"
    rf"(?<=\w ){_NUMBER}(?:-{_NUMBER})?$|(?<=\w )(?-i:[IVX]{{1,4}}[abc]?)$"
)
CHARGE = re.compile(r"(?<=[A-Za-z])\d?[+\u2212-]+(?=[\s,;)]|$)")
BEHIND = re.compile(
    rf"\s(?:{_any_of(_WORDS['behind'])})(?=\s|\d|$)|\sw/o?|\s\?|\s?>", re.IGNORECASE
)
SALT = re.compile(rf"(?<=\w)(?: (?:{_any_of(_WORDS['salt'])}))+$", re.IGNORECASE)
_SHORT = re.compile(rf"(?<![\w.])(?:{_any_of(_LONG)})(?!\w)", re.IGNORECASE)
_IDLE = _whole(_any_of(_WORDS["idle"]))


class Words(NamedTuple):
    """What is known of the words of terms in a language.

    cues (Cues): say that a problem is past, a relative's, or uncertain. lexicon (Lexicon): says
        what short forms within a term mean. common (FrozenSet[str]): keys of words that are no
        short forms in lower case. lang (str): the language.
    """

    cues: Cues
    lexicon: Lexicon
    common: frozenset[str]
    lang: str

    @classmethod
    def of(cls, lang: str, lexicon: Lexicon) -> "Words":
        """Read the words of a language."""
        return cls(shipped_cues(lang), lexicon, common_words(lang), lang)


def written_out(text: str, name: str, words: Words) -> Iterator[str]:
    """List a text, and the text with short forms and shortened words written out.

    name (str): the whole term, which may decide what a short form means.
    """
    lexicon, around = words.lexicon, Surroundings(f"{text}\n{name}")
    upper = _LOWER.sub(lambda word: _in_capitals(word[0], words), text)
    long, last = "", 0
    for start, end in lexicon.occurrences(upper):
        sense = lexicon.sense(upper[start:end], around.at(start, end))
        if sense is not None and sense.longs:
            long, last = f"{long}{upper[last:start]}{sense.longs[0]}", end
    long += upper[last:]
    for way in dict.fromkeys((text, spelt(text), upper, long, spelt(long))):
        yield way
        yield tidy(_IDLE.sub(" ", way))
        yield from (f"{way} {named}" for named in _NAMED if " " in way)
        if way.count(" ") == 1:
            yield " ".join(reversed(way.split()))  # "ca prostate"
        if " " not in way:
            yield from (name for name, _ in names_of_form(way.lower(), words.lang))


def _in_capitals(word: str, words: Words) -> str:
    """Write a word in capitals if only that is a short form, and the word no ordinary one."""
    is_short = word.upper() in words.lexicon and word not in words.lexicon
    return word.upper() if is_short and key(word) not in words.common else word


def spelt(text: str) -> str:
    """Write shortened words out."""
    return _SHORT.sub(lambda match: _LONG.get(" ".join(match[0].lower().split()), match[0]), text)


def tidy(text: str) -> str:
    """Take signs and joining words from the edges of a text."""
    text = " ".join(text.split()).strip(EDGES)
    while (rest := _LOOSE_EDGE.sub("", text)) != text:
        text = rest.strip(EDGES)
    return text
