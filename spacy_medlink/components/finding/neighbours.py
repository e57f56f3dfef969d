"""Neighbours: what the words in and around a match are, and what a table says of that.

A row of a table has a pattern, a weight and an example. The weights of the rows that fit are added
up, as in logistic regression; `python -m benchmarks.neighbours` fits them to marked sentences.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property, lru_cache
from math import exp
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from ...assets.languages import words_beside
from ...text.context.cues import shipped_cues
from ...text.pieces import Border, Pieces
from ...text.qualifiers import BEHIND, LEVELS, QUALIFIERS, SITES, VAGUE
from ...text.tables import read_table, table_lines
from .matches import Match

if TYPE_CHECKING:
    from ...retrieval.vocabulary import Vocabulary

TABLE = Path(__file__).with_suffix(".tsv")
BIAS = -1.0  # where no row fits, a match is a mention
_BEFORE, _BEHIND_IT = 10, 7  # words that are looked at
_OFTEN, _RARE, _LEAST = 12, 30, 2  # names with a word
SHORT, YES = 6, 0.5  # letters of a short form; the probability that is a yes
_REMEMBERED = 1 << 15  # words
# How a pattern that fits at one place alone begins, and the place: see `Row.place`.
_PLACES = {
    "sign": re.compile(r"\[[^]]*\]«"), "first": re.compile("«"),
    "last": re.compile("<[^<>]*>»"), "end": re.compile("»"),
}  # fmt: skip
_BLANKS = " \x1f\t\xa0"
_MACRO, _WORD = re.compile(r"\{([a-z]+)\}"), re.compile("<([^<>]*)>")
_HEAD_FIRST = frozenset("es fr it pt ca ro gl".split())  # "céphalée intense" is a headache


class Row(NamedTuple):
    """A line of the table.

    asks (str): the question that it is of. needs (str): a class that a word near has. example
    (str): a text with the match between « and ». place (str): where alone the pattern may fit: from
    the sign before the match, its start, its last word or its end; "" for anywhere.
    """

    asks: str
    weight: float
    needs: str
    pattern: str
    example: str
    fits: re.Pattern[str]
    place: str


@lru_cache
def _table() -> tuple[dict[str, list[Row]], dict[str, re.Pattern[str]], dict[str, frozenset[str]]]:
    """Read the table: the rows of each question, the shapes, and the words that patterns name."""
    rows, shapes, macros = dict[str, list[Row]](), dict[str, re.Pattern[str]](), dict[str, str]()
    words = {**words_beside(), "sites": SITES, "vague": VAGUE, "levels": LEVELS}
    words |= {"after": BEHIND, "qualifiers": QUALIFIERS}
    text = read_table(TABLE)
    for _, line in table_lines(text):
        kind, name, *fields = line.split("\t")
        if kind == "shape":
            shapes[name] = re.compile(fields[0])
        elif kind == "set":
            macros[name] = fields[0]
        else:
            needs, pattern, example = fields
            filled = _MACRO.sub(lambda macro: macros[macro[1]], pattern)
            fits = re.compile(_WORD.sub(_unit, filled))
            place = next((name for name, begin in _PLACES.items() if begin.match(filled)), "")
            row = Row(kind, float(name), f" {needs} ", pattern, example, fits, place)
            rows.setdefault(kind, []).append(row)
    words |= {f"={word}": frozenset([word]) for word in re.findall(r"=(\w+)", text)}
    return rows, shapes, words


def rows_of(question: str) -> list[Row]:
    """List the rows of a question."""
    return _table()[0][question]


def _unit(listed: re.Match[str]) -> str:
    """Make the pattern of a word: `<a+!b|c>` is one with class a, not b, or with class c."""
    ways = (
        "".join(f"(?{'!' if one[0] == '!' else '='}[^}}]* {one.strip('!')} )" for one in way)
        for way in (way.split("+") for way in listed[1].split("|") if way)
    )
    return rf"\{{(?:{'|'.join(ways)})[^}}]*\}}"


@lru_cache(65536)
def _classes(text: str) -> frozenset[str]:
    """List the classes of a word that hang on nothing but how it is written."""
    _, shapes, words = _table()
    lower, found = text.lower(), set[str]()
    for name, listed in words.items():
        if lower in listed:
            found.add(name)
    for name, shape in shapes.items():
        if shape.fullmatch(text):
            found.add(name)
    return frozenset(found)


# By the names that are found: the classes of words, wherever they stand.
_WORD_CLASSES: "WeakKeyDictionary[Vocabulary, dict[str, dict[tuple[str, bool], str]]]" = (
    WeakKeyDictionary()
)


class Neighbours:
    """The words of a text and its matches, as classes.

    matches (Sequence[Match]): all of the text. vocabulary (Vocabulary): of the names that are
        found. common (Collection[str]): keys of ordinary words. lang (str): of the text.
    """

    def __init__(
        self,
        pieces: Pieces,
        matches: Sequence[Match],
        vocabulary: "Vocabulary",
        common: Collection[str],
        lang: str,
    ) -> None:
        self.pieces, self._common, self._vocabulary = pieces, common, vocabulary
        self._matches, self._cues = matches, shipped_cues(lang)
        self.is_head_first = lang[:2].lower() in _HEAD_FIRST
        self._lang, self._is_english = lang, lang.lower().startswith("en")
        self._hyphens = frozenset(pieces.hyphens)
        self._of_words = _WORD_CLASSES.setdefault(vocabulary, {})
        self.starts = {match.start for match in matches}
        self.firsts: dict[int, int] = {}  # where the longest match up to each end begins
        for match in matches:
            self.firsts[match.end] = min(match.start, self.firsts.get(match.end, match.start))

    @cached_property
    def taken(self) -> frozenset[int]:
        """The pieces of names, as they are written."""
        taken = set[int]()
        for match in self._matches:
            if match.end - match.start > 1 or not match.reading:
                taken.update(range(match.start, match.end))
        return frozenset(taken)

    def score(self, question: str, start: int, end: int, extra: str = "") -> float:
        """Give the probability of a yes to a question of the table about some words.

        start, end (int): their pieces. extra (str): a further class that they have.
        """
        around, total = self.around(start, end, extra), BIAS
        first, behind = around.index("«"), around.index("»")
        last = around.rindex("{", 0, behind)
        places = {"sign": first - 1, "first": first, "last": last, "end": behind, "": None}
        for row in rows_of(question):
            place = places[row.place]
            if place is None:  # such a pattern is slow where it does not fit
                fits = row.needs in around and row.fits.search(around)
            else:
                fits = row.fits.match(around, place)
            if fits:
                total += row.weight
        return 1 / (1 + exp(-total))

    def around(self, start: int, end: int, extra: str) -> str:
        """Write a match and its neighbours: a sign for each gap, and each word with its classes."""
        pieces, words = self.pieces, self._words
        first, last = max(0, start - _BEFORE), min(len(pieces.texts), end + _BEHIND_IT)
        own = "".join(words[start:end])
        text = "".join(pieces.texts[start:end])
        if end - start > 1 and text.isupper() and len(text) <= SHORT:
            extra = " ".join((extra, *_classes(text)))  # "B.S."
        if extra:
            own = own.replace(" }", f" {extra} }}")
        sign, _, unit = own.partition("{")
        before, behind = "".join(words[first:start]), "".join(words[end:last])
        return f"{before}{sign}«{{{unit}»{behind}{self.sign(last)}"

    @cached_property
    def _words(self) -> list[str]:
        """Each word with its classes, and the sign before it."""
        signs = [
            " " if gap == " " and index else self.sign(index)
            for index, gap in enumerate(self.pieces.gaps)
        ]
        return list(map(add, signs, self._units))

    def sign(self, index: int) -> str:
        """Write what stands before a piece as one sign."""
        gap, border = self.pieces.gaps[index], self.pieces.borders[index]
        if index == 0 or (index == len(self.pieces.texts) and not gap.strip(_BLANKS)):
            return "¶"
        return _sign(gap, border)

    def mark(self, places: Iterable[int], name: str) -> None:
        """Give words a further class."""
        for index in places:
            self._units[index] = self._units[index].replace(" }", f" {name} }}")
            self._words[index] = self.sign(index) + self._units[index]

    def has(self, index: int, name: str) -> bool:
        """Tell whether a word is of a class."""
        return f" {name} " in self._units[index]

    @cached_property
    def _units(self) -> list[str]:
        """The classes of each word."""
        pieces, kept = self.pieces, self._of_words.setdefault(self._lang, {})
        words = list(zip(pieces.texts, pieces.is_stop, strict=True))
        if len(kept) > _REMEMBERED:  # another thread may still read the old ones
            kept = self._of_words[self._lang] = {}
        for index, word in enumerate(words):
            if word not in kept:
                kept[word] = f"{{ {' '.join(self._classes_of(index))} }}"
        units = list(map(kept.__getitem__, words))
        hyphens = pieces.hyphens
        beside = [*hyphens, *[index - 1 for index in hyphens], *[end - 1 for end in self.firsts]]
        for index in self.taken.union(self.starts, beside):
            unit = units[index].replace(" }", f"{self._of_place(index)} }}")
            units[index] = unit.replace(" proper ", " ") if index in self.taken else unit
        return units

    def _of_place(self, index: int) -> str:
        """Write the classes that a word has where it stands."""
        pieces, found = self.pieces, ""
        if index in self.taken:
            found += " taken"
        if index in self.starts:
            found += " begins"
        if index + 1 in self.firsts:
            found += " ends"
        if index in self._hyphens:
            found += " hyphened"
        if index + 1 in self._hyphens:  # "x-ray", "PA-C"
            joined = _classes(f"{pieces.texts[index]}-{pieces.texts[index + 1]}")
            found += "".join(f" {name}" for name in joined & {"things", "sure_degrees"})
        return found

    def _classes_of(self, index: int) -> set[str]:
        pieces = self.pieces
        text, key = pieces.texts[index], pieces.keys[index]
        found = set(_classes(text))
        inside, last = self._vocabulary.uses(key)
        may_modify = bool(self._common) and not self.is_head_first
        holds = {
            "stop": pieces.is_stop[index],
            "common": key in self._common,
            "goes": pieces.says[index] and key.isalpha(),
            "english": self._is_english,
            "brief": text.isupper() and len(text) <= SHORT,
            "plain": key == pieces.lower[index],
            "cue": pieces.lower[index] in self._cues.beside,
            "closes": pieces.lower[index] in self._cues.closing_words,
            "heading": pieces.lower[index] in self._cues.sets.get("heading", ()),
            "unused": inside + last == 0,
            "rare": inside + last <= _RARE,
            "headed": last >= _LEAST,
            "modifies": may_modify and inside >= _LEAST and inside > last,
        }
        for name, is_so in holds.items():
            if is_so:
                found.add(name)
        if found & {"stop", "common", "spelled"} or inside + last > _OFTEN:
            found.add("known")
        elif "name" in found and "titles" not in found:
            found.add("proper")  # where it is in no match
        return found


@lru_cache(4096)
def _sign(gap: str, border: Border) -> str:
    if "\n" in gap:
        return "¶"
    signs = gap.strip(_BLANKS)
    if border <= Border.SPACE:
        return " " if gap else "~"
    if border == Border.SEPARATOR and ":" not in gap:
        return "#"
    return ":" if ":" in gap else "," if "," in gap else signs[:1] if signs else "#"
