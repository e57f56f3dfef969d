"""Cues: phrases that mark mentions as negated, past, feared, uncertain, or about a relative.

docs/context.md says what a line of a file of cues means.
"""

import re
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import NamedTuple

from ...errors import Errors
from ..tables import read_table, table_lines
from .answers import answer_pattern

KINDS = ("negated", "historical", "hypothetical", "family", "uncertain")
SECTION = "section"  # the attribute with the name of a mention's section
END = "end"
_PSEUDO, _SECTION, _SET, _ANSWER = "pseudo", "section", "set", "answer"
_OF_TITLES = {"family", "historical"}  # what a heading says of the rest of its sentence
_LONG = 10  # letters: "Familienanamnese"
_FUNCTION = "function"  # the set of words before which no heading stands
_WAYS = ("forward", "backward", "both")
_EXPECTED = 'kind, tab, way, tab, phrases with ";" between them'
_WORD = re.compile(r"[^\W\d_]+(?:['’](?:t|re|ve|ll|d|m)(?!\w))?|\d+|[^\w\s]")
_GROUP = re.compile(r"\[([^\]]*)\]|\{(\w+)\}")
YEAR, _NUMBER = "1999", "0"
_YEARS = re.compile(r"(?:19|20)\d\d")
_DIRECTORY = Path(__file__).parent

Words = str | frozenset[str]  # a place in a phrase: one word, or any of several


class Cue(NamedTuple):
    """The effect of a phrase.

    kind (str): one of KINDS, "end" or "pseudo". forward, backward (bool): direction of the cue.
    reach (int): number of words; 0 for the sentence. ends (FrozenSet[str]): the kinds of cues that
        an "end" stops. is_title (bool): a heading within a sentence, as in dictation.
    """

    kind: str
    forward: bool = False
    backward: bool = False
    reach: int = 0
    ends: frozenset[str] = frozenset()
    is_title: bool = False

    @property
    def looks_back(self) -> bool:
        """Whether it speaks only of what is before it."""
        return self.backward and not self.forward

    @property
    def negates(self) -> bool:
        """Whether it negates what is behind it."""
        return self.kind == KINDS[0] and self.forward


class Section(NamedTuple):
    """A section of a note: its name, and the kinds of all mentions in it."""

    name: str
    said: frozenset[str] = frozenset()


class Phrase(NamedTuple):
    """A phrase, place by place, and its effect."""

    places: tuple[Words, ...]
    cue: Cue

    @property
    def begins(self) -> int:
        """The first word that it takes up: an end phrase begins behind its first mention."""
        first = self.places[0]
        return int(self.cue.kind == END and "" in ([first] if isinstance(first, str) else first))

    def is_at(self, words: list[str], start: int) -> bool:
        """Tell whether the phrase stands at a place in a list of words."""
        if start + len(self.places) > len(words):
            return False
        return all(
            words[start + offset] == allowed
            if isinstance(allowed, str)
            else words[start + offset] in allowed
            for offset, allowed in enumerate(self.places)
        )


class Cues:
    """The cues and headings of a language.

    phrases (Dict[str, List[Phrase]]): by first word, the longest first.
    sections (Dict[str, Section]): by the words of the heading. answers (Dict[str, bool]): words
        that answer for the mention before them, and whether they are yes. shortened (Set[str]):
        words at the end of phrases whose full stop ends no sentence: "z.n". sets (Dict[str,
        FrozenSet[str]]): named words; docs/context.md says what some of the names mean.
    """

    def __init__(self) -> None:
        self.phrases: dict[str, list[Phrase]] = {}
        self.sections: dict[str, Section] = {}
        self.answers: dict[str, bool] = {}
        self.shortened: set[str] = set()
        self.sets: dict[str, frozenset[str]] = {}

    @cached_property
    def answer_pattern(self) -> re.Pattern[str]:
        """The pattern of an answer behind a mention."""
        return answer_pattern(self.answers)

    @cached_property
    def closing_words(self) -> frozenset[str]:
        """The first words of cues that speak of what is before them."""
        return frozenset(
            word
            for word, phrases in self.phrases.items()
            if any(phrase.cue.backward for phrase in phrases)
        )

    @cached_property
    def last_words(self) -> frozenset[str]:
        """The last words of headings that have several."""
        titles = (title.split() for title in self.sections)
        return frozenset(words[-1] for words in titles if len(words) > 1)

    def find(self, words: list[str], first: int) -> list[tuple[int, int, Cue]]:
        """Find cues from left to right, the longest at each place; cues do not overlap.

        An end phrase that follows a negation is negated itself: "never diagnosed with".
        first (int): place of the first mention: a cue before it does not look back.
        RETURNS: the first word of each cue, the word after it, and the cue.
        """
        cues: list[tuple[int, int, Cue]] = []
        index = 0
        while index < len(words):
            end, recent = index, range(max(0, len(cues) - 9), len(cues))
            negations = [row for row in recent if cues[row][1] == index and cues[row][2].negates]
            for phrase in self.phrases.get(words[index], ()):
                cue, stop = phrase.cue, index + len(phrase.places)
                if stop < end:
                    break
                if (cue.looks_back and index <= first) or not phrase.is_at(words, index):
                    continue
                end = index + 1 if phrase.begins else stop
                is_negated = bool(negations) and not phrase.begins and "negated" in cue.ends
                if is_negated and len(cue.ends) < len(KINDS):
                    start, _, negation = cues[negations[0]]
                    cues[negations[0]] = (start, end, negation)
                elif not cue.is_title or self._begins_section(words, index, bool(negations)):
                    cues.append((index + phrase.begins, stop, cue))
            index = max(end, index + 1)
        return cues

    def _begins_section(self, words: list[str], index: int, is_negated: bool) -> bool:
        """Tell whether a heading ends what was said: not in "no past history", "of the history"."""
        return index > 0 and not is_negated and words[index - 1] not in self.sets.get(_FUNCTION, ())

    def has_title(self, words: list[str]) -> bool:
        """Tell whether words have a heading that needs no colon: "past medical history"."""
        return any(
            phrase.cue.is_title and phrase.is_at(words, index)
            for index, word in enumerate(words)
            for phrase in self.phrases.get(word, ())
        )

    @cached_property
    def beside(self) -> frozenset[str]:
        """The words of cues that are no part of the mention behind them."""
        phrases = [phrase for listed in self.phrases.values() for phrase in listed]
        near = [phrase.places[-1] for phrase in phrases if phrase.cue.forward]
        near += [phrase.places[0] for phrase in phrases if len(phrase.places) == 1]
        near += [self.sets.get(name, frozenset()) for name in ("heading", "outside", "comma")]
        return frozenset(word for one in near for word in ([one] if isinstance(one, str) else one))

    @classmethod
    def parse(cls, text: str, path: str | Path = "cues") -> "Cues":
        """Read the lines of a file; empty lines and lines that begin with # are skipped.

        RAISES (MedlinkError): E401 for an invalid line.
        """
        made, sets = cls(), dict[str, str]()
        for row, line in table_lines(text):
            try:
                made._add(line, sets)
            except ValueError as error:
                raise Errors.wrong_line(
                    path=path, line=row, problem="this is not a cue", expected=_EXPECTED
                ) from error
        for phrases in made.phrases.values():
            phrases.sort(key=lambda phrase: -len(phrase.places))
        made.sets = {name: frozenset(words.lower().split("|")) for name, words in sets.items()}
        return made

    def _add(self, line: str, sets: dict[str, str]) -> None:
        context, way, listed = (field.strip() for field in line.split("\t"))
        if context == _SET:
            words = [word.strip() for word in listed.split(";")]
            sets[way] = "|".join([sets[way], *words] if way in sets else words)
            return
        if context == _ANSWER:
            _check(way in ("yes", "no"))
            self.answers |= {word.strip().lower(): way == "yes" for word in listed.split(";")}
            return
        phrases = [words for text in listed.split(";") for words in _expand(text, sets)]
        if context == _SECTION:
            section = _section(way)
            self.sections |= {" ".join(map(str, places)): section for places in phrases}
            titles = [Cue(END, ends=frozenset(KINDS), is_title=True)]
            titles += [Cue(kind, forward=True) for kind in sorted(section.said & _OF_TITLES)]
            phrases = [places for places in phrases if _is_title(places, section)]
        else:
            titles = [_cue(context, way)]
        for cue, places in product(titles, phrases):
            if cue.forward and places[-1] == "." and len(places) > 1:
                self.shortened.add("".join(map(str, places[-4:-1])))
            first = places[0]
            for word in [first] if isinstance(first, str) else first:
                self.phrases.setdefault(word, []).append(Phrase(places, cue))


@cache
def shipped_cues(language: str) -> Cues:
    """Read the package's cues for a language; empty for a language without any."""
    path = _DIRECTORY / f"{language.lower().replace('_', '-').partition('-')[0]}.tsv"
    return Cues.parse(read_table(path), path) if path.is_file() else Cues()


def find_words(text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
    """Find the words of a text, numbers, and signs."""
    return _WORD.finditer(text, start, len(text) if end is None else end)


def plain(word: str) -> str:
    """Write a word as in phrases: lower case, one form for all years and one for numbers."""
    if word[0].isdigit():
        return YEAR if _YEARS.fullmatch(word) else _NUMBER
    return word.lower().replace("’", "'")


def _cue(context: str, way: str) -> Cue:
    if context == END:
        ends = frozenset(name.strip() for name in way.split(",") if name.strip()) or frozenset(
            KINDS
        )
        _check(ends <= set(KINDS))
        return Cue(context, ends=ends)
    if context == _PSEUDO:
        _check(not way)
        return Cue(context)
    direction, _, reach = way.partition(" ")
    _check(context in KINDS and direction in _WAYS)
    return Cue(context, direction != "backward", direction != "forward", int(reach or 0))


def _is_title(places: tuple[Words, ...], section: Section) -> bool:
    """Tell whether a heading needs no colon: one of several words, or a long word."""
    is_long = len(places[0]) >= _LONG and not section.said.isdisjoint(_OF_TITLES)
    return len(places) > 1 or is_long


def _section(way: str) -> Section:
    name, _, listed = (part.strip() for part in way.partition(":"))
    kinds = frozenset(context.strip() for context in listed.split(",") if context.strip())
    _check(bool(name) and kinds <= set(KINDS))
    return Section(name, kinds)


def _expand(phrase: str, sets: dict[str, str]) -> Iterator[tuple[Words, ...]]:
    """List the phrases that a pattern stands for, place by place."""
    options: list[list[tuple[Words, ...]]] = []
    last = 0
    for group in _GROUP.finditer(phrase):
        options.append([_plain_words(phrase[last : group.start()])])
        _check(group[2] is None or group[2] in sets)
        options.append(_alternatives(sets[group[2]] if group[2] else group[1], sets))
        last = group.end()
    options.append([_plain_words(phrase[last:])])
    for chosen in product(*options):
        places = tuple(words for part in chosen for words in part)
        _check(bool(places) or not phrase.strip())
        if places:
            yield places


def _alternatives(listed: str, sets: dict[str, str]) -> list[tuple[Words, ...]]:
    """List the alternatives at a place of a phrase; single words together form one alternative."""
    filled = re.sub(r"\{(\w+)\}", lambda name: sets.get(name[1], name[0]), listed)
    every = [_plain_words(text) for text in filled.split("|")]
    singles = frozenset(str(words[0]) for words in every if len(words) == 1)
    others = dict.fromkeys(words for words in every if len(words) != 1)
    return [*([(singles,)] if singles else []), *others]


def _plain_words(text: str) -> tuple[Words, ...]:
    words = re.findall(f"_|{_WORD.pattern}", text)
    return tuple("" if word == "_" else plain(word) for word in words)


def _check(is_right: bool) -> None:
    """Refuse a line.

    RAISES (ValueError): which `Cues.parse` says with its number.
    """
    if not is_right:
        raise ValueError
