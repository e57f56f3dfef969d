"""Short forms of a lexicon in a Doc, where what they mean is a name of the dictionary."""

from functools import cached_property

from spacy.tokens import Doc

from ...retrieval.exact import ExactIndex
from ...text.abbreviations import find_definitions
from ...text.lexicon import Lexicon, Sense, Surroundings
from ...text.normalisation import hash_keys, key
from .kept import Kept
from .words import Match


class ShortForms:
    """Finds the short forms of a lexicon, and corrects what was found in their places.

    exact (ExactIndex): the dictionary. lexicon (Lexicon): of the linker, which reads them alike.
    kept (Kept): which names of the dictionary are found.
    """

    def __init__(self, exact: ExactIndex, lexicon: Lexicon, kept: Kept) -> None:
        self._exact, self._lexicon, self._kept = exact, lexicon, kept

    def corrected(self, doc: Doc, found: list[Match]) -> list[Match]:
        """Add the short forms to what was found, without names that they do not mean here.

        A short form that the document itself defines is left as it is, and so is one of which
        nothing tells what it means.
        """
        if not len(self._lexicon):
            return found
        around = _Text(doc.text)
        new: dict[tuple[int, int], Match | None] = {}
        for start, end in self._lexicon.occurrences(around.text):
            span = doc.char_span(start, end)
            short = around.text[start:end]
            if span is None or around.defines(short):
                continue
            sense = self._lexicon.sense(short, around.at(start, end))
            if sense is None or not sense.longs:
                continue
            rows = self._rows(sense)
            if rows:
                words = frozenset(range(span.start, span.end))
                new[span.start, span.end] = Match(span.start, span.end, words, rows)
            elif not (sense.is_concept and sense.is_only):
                new[span.start, span.end] = None  # a name of something else
        kept = [one for one in found if (one.start, one.end) not in new]
        return [*kept, *filter(None, new.values())]

    def _rows(self, sense: Sense) -> tuple[int, ...]:
        """List the rows of the names that the first long form that is a name is."""
        longs = sense.expansions
        places = self._exact.find(hash_keys(map(key, longs))).tolist() if longs else []
        for long, place in zip(longs, places, strict=True):
            found = self._exact.rows_of(place, long) if place >= 0 else []
            rows = self._kept.rows([row for row, _ in found])
            if rows:
                return rows
        return ()


class _Text(Surroundings):
    """A document whose definitions are looked for when there is a short form to ask about."""

    def defines(self, short: str) -> bool:
        return short in self._defined or short.removesuffix("s") in self._defined

    @cached_property
    def _defined(self) -> dict[str, str]:
        return find_definitions(self.text)
