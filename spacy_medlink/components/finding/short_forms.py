"""Short forms in a Doc: those that the document defines, and those of a lexicon.

A short form that the document defines means its long form in the whole document. If the long form
is a mention, so is the short form; if not, a name with the same text is no mention either.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from ...retrieval.exact import ExactIndex
from ...text.abbreviations import Definitions, find_definitions
from ...text.lexicon import Lexicon, Surroundings
from ...text.normalisation import hash_keys, key
from ...text.pieces import Border, Pieces
from .matches import Match
from .name_facts import Kept

_BEGINNING = re.compile(r"\b\w")
_ENDING = re.compile(r"s?(?!\w)")
_LISTED = re.compile(", | and ")  # parts the words of "nausea, vomiting, diarrhea"
_LENGTHS = range(1, 9)  # words of a part of a long form
_Places = dict[tuple[int, int], Match | None]
_Rows = Mapping[tuple[int, int], tuple[int, ...]]


class ShortForms:
    """The finder of short forms, which corrects the matches in their places.

    exact (ExactIndex): the dictionary. lexicon (Lexicon): of the linker, so that both agree.
    kept (Kept): which names of the dictionary are found.
    """

    def __init__(self, exact: ExactIndex, lexicon: Lexicon, kept: Kept) -> None:
        self._exact, self._lexicon, self._kept = exact, lexicon, kept

    def corrected(self, pieces: Pieces, matches: list[Match]) -> list[Match]:
        """Add the short forms to the matches, and remove names that they do not mean here.

        A short form of the lexicon stays as it is where its meaning is not clear.
        """
        around = _Text(pieces.text)
        rows_at = {(match.start, match.end): match.rows for match in matches}
        new = self._of_lexicon(pieces, around, rows_at)
        new |= self._of_document(pieces, around.defined, matches, rows_at)
        if not new:
            return matches
        kept = [match for match in matches if (match.start, match.end) not in new]
        return [*kept, *filter(None, new.values())]

    def _of_lexicon(self, pieces: Pieces, around: "_Text", rows_at: _Rows) -> _Places:
        """Find the short forms of the lexicon; None where one means something else."""
        new: _Places = {}
        if not len(self._lexicon):
            return new
        for first, last in self._lexicon.occurrences(around.text):
            span = pieces.at(first, last)
            short = around.text[first:last]
            if span is None or around.defines(short):
                continue
            sense = self._lexicon.sense(short, around.at(first, last))
            if sense is None or not sense.longs:
                continue
            rows, long = self._rows(sense.longs)
            if rows and sense.is_concept:
                start = _spelled_out(pieces, span, sense.longs)
                reading = long if start < span[0] else ""
                is_word = short[1:].islower() and any(self._exact.vocabulary.uses(key(short)))
                match = _match((start, span[1]), rows, reading, is_short=not is_word)
                new[match.start, match.end] = match
            elif parts := self._of_letters(span, sense.longs):
                new |= parts
            elif not ((sense.is_concept and sense.is_only) or self._share(rows_at.get(span), rows)):
                new[span] = None
        return new

    def _of_letters(self, span: tuple[int, int], longs: Sequence[str]) -> _Places:
        """Read a short form piece by piece: "n/v/d" is nausea, vomiting, and diarrhea."""
        words = next((words for long in longs if len(words := _LISTED.split(long)) > 1), [])
        if len(words) != span[1] - span[0]:
            return {}
        places = ((index, index + 1) for index in range(*span))
        readings = [(index, self._rows([word])) for index, word in zip(places, words, strict=True)]
        return {index: _match(index, rows, word) for index, (rows, word) in readings if rows}

    def _rows(self, longs: Sequence[str]) -> tuple[tuple[int, ...], str]:
        """List the name rows of the first long form that the dictionary has, and that form."""
        places = self._exact.find(hash_keys(map(key, longs))).tolist() if longs else []
        for long, position in zip(longs, places, strict=True):
            names = self._exact.rows_of(position, long) if position >= 0 else []
            rows = self._kept.rows([row for row, _ in names])
            if rows:
                return rows, long
        return (), ""

    def _share(self, rows: Sequence[int] | None, others: Sequence[int]) -> bool:
        """Tell whether two names, which may be of several concepts, share one."""
        if not (rows and others and self._kept.facts):
            return False
        first, second, both = map(self._kept.facts.count_concepts, (rows, others, (*rows, *others)))
        return both < first + second

    def _of_document(
        self, pieces: Pieces, defined: Definitions, matches: Sequence[Match], rows_at: _Rows
    ) -> _Places:
        """Find the short forms that a document defines; None where the long form was not found.

        A name stays if a part of the long form says the same: "Hypertension, essential (HTN)".
        """
        new: _Places = {}
        if not defined:
            return new
        by_key: dict[str, Match] = {}
        for match in matches:
            for text in (pieces.between(match.start, match.end), match.reading):
                by_key.setdefault(key(text), match)
        for first, last, short in _occurrences(pieces.text, pieces.starts, defined):
            span = pieces.at(first, last)
            # "As" at the beginning of a sentence is a word, even if the text defines "(As)".
            if span is None or (pieces.is_stop[span[0]] and not pieces.text[first:last].isupper()):
                continue
            long = key(defined.long(short, first))
            meant = by_key.get(long)
            if meant is None and span in rows_at:
                words = long.split()
                runs = (" ".join(words[a : a + n]) for a in range(len(words)) for n in _LENGTHS)
                if any(
                    run in by_key and self._share(rows_at[span], by_key[run].rows) for run in runs
                ):
                    continue
            new[span] = meant and _match(span, meant.rows, meant.reading)
        return new


def _match(
    span: tuple[int, int], rows: tuple[int, ...], reading: str, is_short: bool = True
) -> Match:
    return Match(*span, frozenset(range(*span)), rows, reading, is_short=is_short)


def _spelled_out(pieces: Pieces, span: tuple[int, int], longs: Sequence[str]) -> int:
    """Find where a long form begins that the text spells out: "skin" of "skin lesions"."""
    first, end = span
    for long in longs:
        start = end - len(long.split())
        if start < 0 or start >= first or pieces.widest(start, end) >= Border.COMMA:
            continue
        if key(pieces.between(start, end)) == key(long):
            return start
    return first


def _occurrences(
    text: str, starts: Iterable[int], shorts: Collection[str]
) -> Iterator[tuple[int, int, str]]:
    """Find the short forms in a text, also in the plural: (start, end, form)."""
    first, lengths = {short[:1] for short in shorts}, sorted({len(short) for short in shorts})
    for start in starts:
        if text[start] not in first or not _BEGINNING.match(text, start):
            continue
        for length in lengths:
            short = text[start : start + length]
            if short in shorts and (ending := _ENDING.match(text, start + length)):
                yield start, ending.end(), short


class _Text(Surroundings):
    """A document whose definitions are read at the first question about a short form."""

    def defines(self, short: str) -> bool:
        return short in self.defined or short.rstrip("s'’") in self.defined

    @cached_property
    def defined(self) -> Definitions:
        return find_definitions(self.text)
