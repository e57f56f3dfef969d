"""The words that people type around what a term names, and their ways to write words shorter.

`words.tsv` has them by kind: sides, specimens, units, dose forms, schedules and the like.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from rapidfuzz.distance import OSA, Postfix

from ...assets.languages import common_words
from ...text.context import Cues, shipped_cues
from ...text.lexicon import Lexicon, Surroundings
from ...text.normalisation import key
from ...text.written_forms import names_of_form

EXACT, CLOSE, BROADER, RELATED = MATCHES = ("exact", "close", "broader", "related")
EDGES = " \t\r\n,;:.?!/|+>*=()[]{}-\u2013\u2014\"'"
_LOOSE = r"of|on|the|a|an|in|to|and|with|for|at|or"  # at an edge, they join nothing
_LOOSE_EDGE = re.compile(rf"^(?:{_LOOSE})\s+|\s+(?:{_LOOSE}|w/)$", re.IGNORECASE)
_LOWER = re.compile(r"(?<![\w/-])[a-z]{2,5}(?![\w/-])")
_ALIKE = 6  # letters of an end that two compounds have in common
_ENDING = 3  # letters; what lacks more of a word's beginning is the last part of a compound
_NAMED = ("disease", "syndrome", "disorder", "infection")  # may be missing: "Carpal tunnel"


def _read() -> dict[str, list[str]]:
    """Read the words of each kind from the table beside this file."""
    table = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in table.splitlines() if not line.startswith("#")]
    return {word_type: words.split("; ") for word_type, words in rows}


def _pairs(words: Iterable[str]) -> dict[str, str]:
    return dict(pair.split("=") for pair in words)


_WORDS = _read()
_LONG, SAMPLES = _pairs(_WORDS["words"]), _pairs(_WORDS["sample"])


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
SCALE = re.compile(
    r"(?<![\w-])(?:stadium|stade|estadio|stage|grad|grade|grado|gold|nyha|fontaine|ccs|child|imc|bmi|"
    r"ecog)\.?\s+[\w.,]+|(?<![\w-])[CTLS]\d{1,2}(?:\s?[-/]\s?[CTLS]?\d{1,2})?(?![\w-])",
    re.IGNORECASE,
)
CODE = re.compile(r"^(?!B12 )[A-TV-Z]\d\d(?:\.\d{1,4})?[*+!]?[\s:-]+(?=\w{3})")
CHARGE = re.compile(r"(?<=[A-Za-z])\d?[+\u2212-]+(?=[\s,;)]|$)")
BEHIND = re.compile(
    rf"\s(?:{_any_of(_WORDS['behind'])})(?=\s|\d|$)|\sw/o?|\s\?|\s?>", re.IGNORECASE
)
SALT = re.compile(rf"(?<=\w)(?: (?:{_any_of(_WORDS['salt'])}))+$", re.IGNORECASE)
_SHORT = re.compile(rf"(?<![\w.])(?:{_any_of(_LONG)})(?!\w)", re.IGNORECASE)
_IDLE = _whole(_any_of(_WORDS["idle"]))


def untranslated(text: str) -> tuple[str, ...]:
    """Give no other names of a text."""
    return ()


@lru_cache
def _of_language(kind: str, lang: str) -> re.Pattern[str]:
    """Compile the words of a kind in a language; a pattern that never fits where there are none."""
    words = [word.partition("=")[0] for word in _WORDS.get(f"{kind} {lang}", ())]
    any_word = _any_of(words) or r"(?!)"
    if kind == "behind":
        return re.compile(rf"\s(?:{any_word})(?=\s)", re.IGNORECASE)
    return re.compile(rf"(?<![\w'.-])(?:{any_word})(?![\w'-])", re.IGNORECASE)


class Words(NamedTuple):
    """What is known of the words of terms in a language.

    cues (Cues): say that a problem is past, a relative's, or uncertain. lexicon (Lexicon): says
        what short forms within a term mean. common (FrozenSet[str]): keys of words that are no
        short forms in lower case. lang (str): the language. translated (Callable): gives the names
        that say what a text says in other words, () for none.
    """

    cues: Cues
    lexicon: Lexicon
    common: frozenset[str]
    lang: str
    translated: Callable[[str], tuple[str, ...]]

    @classmethod
    def of(
        cls,
        lang: str,
        lexicon: Lexicon,
        translated: Callable[[str], tuple[str, ...]] = untranslated,
    ) -> "Words":
        """Read the words of a language."""
        return cls(shipped_cues(lang), lexicon, common_words(lang), lang, translated)

    def spelt(self, text: str) -> str:
        """Write the shortened words of English and of this language out."""
        long = _pairs(_WORDS.get(f"words {self.lang}", ()))
        pattern = _of_language("words", self.lang)
        return spelt(pattern.sub(lambda match: long.get(match[0].lower(), match[0]), text))

    def without_aside(self, text: str, aside: list[str]) -> Iterator[str]:
        """List a text without the words that are set aside in this language, the shortest last.

        aside (List[str]): gets the words.
        """
        pattern, behind = _of_language("aside", self.lang), _of_language("behind", self.lang)
        aside += pattern.findall(text)
        for rest in (pattern.sub(" ", text), pattern.split(text)[0]):
            if tidy(rest):
                yield rest
                yield behind.split(rest)[0]


def written_out(text: str, name: str, words: Words) -> Iterator[tuple[str, str]]:
    """List a text, and the text with short forms and shortened words written out.

    name (str): the whole term, which may decide what a short form means.
    RETURNS (Iterator[Tuple[str, str]]): each with what a concept of this name is to the text.
    """
    lexicon, around = words.lexicon, Surroundings(f"{text}\n{name}")
    upper = _LOWER.sub(lambda word: _in_capitals(word[0], words), text)
    long, last = "", 0
    for start, end in lexicon.occurrences(upper):
        sense = lexicon.sense(upper[start:end], around.at(start, end))
        if sense is not None and sense.longs:
            long, last = f"{long}{upper[last:start]}{sense.longs[0]}", end
    long += upper[last:]
    full, long_in_full = words.spelt(text), words.spelt(long)
    for way in dict.fromkeys((text, full, upper, long, long_in_full)):
        if way in (full, long_in_full):  # before the way itself, which may be a wrong name
            yield from ((name, CLOSE) for name in words.translated(way))
        yield way, EXACT
        yield tidy(_IDLE.sub(" ", way)), EXACT
        yield from ((f"{way} {named}", EXACT) for named in _NAMED if " " in way)
        if way.count(" ") == 1:
            yield " ".join(reversed(way.split())), EXACT  # "ca prostate"
        for name, _ in names_of_form(way.lower(), words.lang) if " " not in way else ():
            is_head = len(name) < len(way) - _ENDING and way.lower().endswith(name)
            yield name, BROADER if is_head else CLOSE


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


def says_another(text: str, name: str) -> bool:
    """Tell whether a word of a text and one of a name end alike, but begin otherwise.

    "Herzinsuffizienz" is no "Niereninsuffizienz", and hypothyroidism no hyperthyroidism; a word
    that the name writes as two is the same.
    """
    others = key(name).split()
    joined = "".join(others)
    for word in key(text).split():
        near = [other for other in others if OSA.distance(word, other, score_cutoff=1) <= 1]
        if near or word in joined:
            continue
        for other in others:
            end = Postfix.similarity(word, other)
            begins = word[: len(word) - end], other[: len(other) - end]
            if end >= _ALIKE and OSA.distance(*begins) > 1:
                return True
    return False
