"""Short forms in a Doc: those that the document defines, and those of a lexicon.

A short form that the document defines means its long form in the whole document. If the long form
is a mention, so is the short form; if not, a name with the same text is no mention either.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from spacy.tokens import Span

from ...retrieval.exact import ExactIndex
from ...text.abbreviations import find_definitions
from ...text.lexicon import Lexicon, Sense, Surroundings
from ...text.normalisation import hash_keys, key
from .kept import Kept
from .words import Match, Tokens

_BEGINNING = re.compile(r"\b\w")
_ENDING = re.compile(r"s?(?!\w)")
_Places = dict[tuple[int, int], Match | None]


class ShortForms:
    """The finder of short forms, which corrects the matches in their places.

    exact (ExactIndex): the dictionary. lexicon (Lexicon): of the linker, so that both agree.
    kept (Kept): which names of the dictionary are found.
    """

    def __init__(self, exact: ExactIndex, lexicon: Lexicon, kept: Kept) -> None:
        self._exact, self._lexicon, self._kept = exact, lexicon, kept

    def corrected(self, tokens: Tokens, found: list[Match]) -> list[Match]:
        """Add the short forms to the matches, and remove names that they do not mean here.

        A short form of the lexicon stays as it is where its meaning is not clear.
        """
        around = _Text(tokens.text)
        new = self._of_lexicon(tokens, around) | _of_document(tokens, around.defined, found)
        if not new:
            return found
        kept = [one for one in found if (one.start, one.end) not in new]
        return [*kept, *filter(None, new.values())]

    def _of_lexicon(self, tokens: Tokens, around: "_Text") -> _Places:
        """Find the short forms of the lexicon; None where one means something else."""
        new: _Places = {}
        if not len(self._lexicon):
            return new
        for start, end in self._lexicon.occurrences(around.text):
            span = tokens.doc.char_span(start, end)
            short = around.text[start:end]
            if span is None or around.defines(short):
                continue
            sense = self._lexicon.sense(short, around.at(start, end))
            if sense is None or not sense.longs:
                continue
            rows, long = self._rows(sense)
            if rows:
                start = _spelled_out(tokens, span, sense.longs)
                reading = long if start < span.start else ""
                new[start, span.end] = _match(tokens.doc[start : span.end], rows, reading)
            elif not (sense.is_concept and sense.is_only):
                new[span.start, span.end] = None
        return new

    def _rows(self, sense: Sense) -> tuple[tuple[int, ...], str]:
        """List the name rows of the first long form that the dictionary has, and that form."""
        longs = sense.expansions
        places = self._exact.find(hash_keys(map(key, longs))).tolist() if longs else []
        for long, place in zip(longs, places, strict=True):
            found = self._exact.rows_of(place, long) if place >= 0 else []
            rows = self._kept.rows([row for row, _ in found])
            if rows:
                return rows, long
        return (), ""


def _spelled_out(tokens: Tokens, span: Span, longs: Sequence[str]) -> int:
    """Find where a long form begins that the text spells out: "skin" of "skin lesions"."""
    for long in longs:
        start = span.end - len(long.split())
        if 0 <= start < span.start and key(tokens.between(start, span.end)) == key(long):
            return start
    return span.start


def _of_document(tokens: Tokens, defined: Mapping[str, str], found: Sequence[Match]) -> _Places:
    """Find the short forms that a document defines; None where the long form was not found."""
    new: _Places = {}
    if not defined:
        return new
    by_key: dict[str, Match] = {}
    for match in found:
        for text in (tokens.between(match.start, match.end), match.reading):
            by_key.setdefault(key(text), match)
    meant = {short: by_key.get(key(long)) for short, long in defined.items()}
    for start, end, short in _occurrences(tokens.text, tokens.starts, meant):
        span = tokens.doc.char_span(start, end)
        # "As" at the beginning of a sentence is a word, even if the text defines "(As)".
        if span is not None and (span.text.isupper() or not span[0].is_stop):
            own = meant[short]
            new[span.start, span.end] = own and _match(span, own.rows, own.reading)
    return new


def _occurrences(
    text: str, starts: Iterable[int], shorts: Collection[str]
) -> Iterator[tuple[int, int, str]]:
    """Find the short forms in a text, also in the plural: (start, end, short form).

    One look-up for each word and length, since a document may define thousands.

    starts (Iterable[int]): of the tokens.
    """
    first, lengths = {short[:1] for short in shorts}, sorted({len(short) for short in shorts})
    for start in starts:
        if text[start] not in first or not _BEGINNING.match(text, start):
            continue
        for length in lengths:
            short = text[start : start + length]
            if short in shorts and (ending := _ENDING.match(text, start + length)):
                yield start, ending.end(), short


def _match(span: Span, rows: tuple[int, ...], reading: str = "") -> Match:
    return Match(span.start, span.end, frozenset(range(span.start, span.end)), rows, reading)


class _Text(Surroundings):
    """A document whose definitions are read at the first question about a short form."""

    def defines(self, short: str) -> bool:
        return short in self.defined or short.removesuffix("s") in self.defined

    @cached_property
    def defined(self) -> dict[str, str]:
        return find_definitions(self.text)
