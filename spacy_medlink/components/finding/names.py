"""NameFinder: finds names of the dictionary in a Doc, as written, joined up, and in any order."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import TypeVar

import numpy as np
from spacy.tokens import Doc

from ...assets.dictionary import (
    any_order_key,
    any_order_key_of,
    name_has_key,
    name_words,
)
from ...retrieval.exact import SAME_STRING, ExactIndex
from ...text.normalisation import hash_keys, is_short_form, key
from ...text.word_forms import NO_FORMS, Forms
from .coordinations import Reading, coordinations
from .kept import Kept
from .words import (
    Match,
    clause_runs,
    falls_apart,
    is_hyphen,
    part,
    runs,
    saying,
    with_brackets,
)

_ONE_WORD_MORE = 2  # tokens: a hyphen and the word behind it
# Keys looked up together: all keys of a long document take a hundred times its memory.
_TOGETHER = 1 << 16

Item = TypeVar("Item")


class NameFinder:
    """The finder of the names of a dictionary.

    exact (ExactIndex): the dictionary. longest (int): words of a match at most.
    any_order (bool): also find names by their words in any order; needs a dictionary with such
        keys. kept (Kept): which names are found. forms (Forms): of the words of such keys.
    """

    def __init__(
        self,
        exact: ExactIndex,
        longest: int,
        any_order: bool,
        kept: Kept = Kept(),  # noqa: B008  # immutable
        forms: Forms = NO_FORMS,
    ) -> None:
        self._exact, self._longest, self._any_order = exact, longest, any_order
        self._kept, self._forms = kept, forms

    def find(self, doc: Doc) -> list[Match]:
        """Find all matches, overlapping ones too, each span once.

        No match begins after the hyphen of a word: "pre-auricular pit" is no "auricular pit".
        """
        found = {(match.start, match.end): match for match in self._as_written(doc)}
        for match in self._joined(doc):
            found.setdefault((match.start, match.end), match)
        if self._any_order:
            for match in self._in_any_order(doc, set(found)):
                found[match.start, match.end] = match
        return [
            match
            for match in found.values()
            if not (match.start > 1 and is_hyphen(doc, match.start - 1))
        ]

    def find_coordinated(self, doc: Doc) -> list[Match]:
        """Find the names that a coordination stands for, each span once."""
        readings = ((one, _text_of(doc, one)) for one in coordinations(doc))
        as_written: list[tuple[Reading, str, str, int]] = []
        any_order: list[tuple[Reading, str, str, int]] = []
        for (one, text, is_any), own, place in self._known(self._with_keys(readings)):
            (any_order if is_any else as_written).append((one, text, own, place))
        found: dict[tuple[int, str], Match] = {}
        for one, text, own, place in as_written + any_order:
            rows = self._rows(place, text, own)
            if rows:
                start, end = one.tokens[0], one.tokens[-1] + 1
                match = Match(start, end, saying(doc, one.tokens), rows, text, False)
                # Of two readings of one text, the one that ends first stays.
                said = found.get((start, text))
                if said is None or end < said.end:
                    found[start, text] = match
        by_span: dict[tuple[int, int], Match] = {}
        for match in found.values():
            by_span.setdefault((match.start, match.end), match)
        return list(by_span.values())

    def _as_written(self, doc: Doc) -> Iterator[Match]:
        # Punctuation has no key and takes no part: "type-2" and "type 2" are one.
        parts = [part(token.text) for token in doc]
        places = [index for index, (own, _) in enumerate(parts) if own]
        words = [parts[index][0] for index in places]
        for length, first, own, found in sorted(self._runs(words)):
            if length == 1 and (parts[places[first]][1] or doc[places[first]].is_stop):
                continue
            start, end = places[first], places[first + length - 1] + 1
            first_token, end = with_brackets(doc, start, end)
            rows = self._rows(
                found, doc[first_token:end].text, own,
                as_written=first_token < start or falls_apart(doc, first_token, end),
            )  # fmt: skip
            if rows:
                yield Match(first_token, end, saying(doc, range(first_token, end)), rows)

    def _runs(self, words: list[str]) -> Iterator[tuple[int, int, str, int]]:
        """Look up all runs of words: (length, first word, key, place in the dictionary)."""
        size = max(self._longest, _TOGETHER // self._longest)
        for begin in range(0, len(words), size):
            grams, ends = runs(words[begin : begin + size + self._longest - 1], self._longest)
            found = self._exact.find(hash_keys(grams))
            for gram in np.flatnonzero(found >= 0).tolist():
                length = bisect_right(ends, gram) + 1
                first = gram - (ends[length - 2] if length > 1 else 0)
                if first < size:  # a run that begins later belongs to the next part
                    yield length, begin + first, grams[gram], int(found[gram])

    def _joined(self, doc: Doc) -> Iterator[Match]:
        """Find "pre-auricular pit" where the dictionary has "preauricular pit"."""
        hyphens = [one.i for one in doc if one.text == "-" and is_hyphen(doc, one.i)]
        if not hyphens:
            return
        joined = [token.text_with_ws for token in doc]
        for place in hyphens:
            joined[place] = ""
        spans = self._around(doc, hyphens)
        keys = ((span, key(_joined_text(joined, *span))) for span in spans)
        for span, own, place in self._known(keys):
            start, end = with_brackets(doc, *span)
            text = _joined_text(joined, start, end)
            rows = () if falls_apart(doc, start, end) else self._rows(place, text, own)
            if rows:
                yield Match(start, end, saying(doc, range(start, end)), rows, text)

    def _around(self, doc: Doc, hyphens: list[int]) -> Iterator[tuple[int, int]]:
        """List the spans around hyphens, each once, for the first hyphen in the span."""
        is_punct = [token.is_punct for token in doc]
        ends = [not (punct or token.is_space) for punct, token in zip(is_punct, doc, strict=True)]
        for before, place in pairwise([-1, *hyphens]):
            for start in range(max(0, place - self._longest, before + 1), place):
                if is_punct[start]:
                    continue
                for end in range(place + _ONE_WORD_MORE, min(len(doc), start + self._longest) + 1):
                    if ends[end - 1]:
                        yield start, end

    def _in_any_order(self, doc: Doc, found: set[tuple[int, int]]) -> Iterator[Match]:
        """Find names whose words stand in another order, within a clause."""
        words = [name_words(token.text) for token in doc]
        keys = (
            ((start, end), self._any_order_key([one for own in words[start:end] for one in own]))
            for start, end in clause_runs(doc, self._longest)
            if (start, end) not in found
        )
        for (start, end), own, place in self._known(keys):
            names = self._exact.names_at(place, self._having(own))
            rows = self._kept.rows(list(names))
            if rows:
                own_words = {one for its in words[start:end] for one in its}
                rows = _nearest(own_words, {row: names[row] for row in rows})
                yield Match(start, end, saying(doc, range(start, end)), rows, names[rows[0]])

    def _with_keys(
        self, readings: Iterable[tuple[Reading, str]]
    ) -> Iterator[tuple[tuple[Reading, str, bool], str]]:
        """Make the keys of readings: ((reading, text, whether words may be in any order), key)."""
        for one, text in readings:
            yield (one, text, False), key(text)
            if self._any_order and one.is_whole:
                yield (one, text, True), any_order_key(text.split(), self._forms)

    def _known(self, asked: Iterable[tuple[Item, str]]) -> Iterator[tuple[Item, str, int]]:
        """List the items whose key the dictionary has by its hash, with the key and its place."""
        waiting = (one for one in asked if one[1])
        while batch := list(islice(waiting, _TOGETHER)):
            found = self._exact.find(hash_keys(own for _, own in batch))
            for number in np.flatnonzero(found >= 0).tolist():
                yield *batch[number], int(found[number])

    def _any_order_key(self, parts: Sequence[str]) -> str:
        return any_order_key_of(parts, self._forms)

    def _having(self, own: str) -> Callable[[str], bool]:
        """Make the function that tells whether a name has a key."""
        return lambda name: name_has_key(name, own, self._forms)

    def _rows(self, place: int, text: str, own: str, as_written: bool = False) -> tuple[int, ...]:
        """List the rows of the kept names that a text may be.

        own (str): the key that was found at the place. as_written (bool): only names of exactly
            the same text.
        """
        if place in self._kept.common:
            if not is_short_form(text):
                return ()
            as_written = True  # "WAS" is a syndrome only where a name is written the same
        least = SAME_STRING if as_written else 0.0
        found = self._exact.rows_of(place, text, self._having(own))
        return self._kept.rows(
            [row for row, score in found if score >= least],
            is_word=not any(map(str.isspace, text)),
        )


def _nearest(words: set[str], names: dict[int, str]) -> tuple[int, ...]:
    """Choose the rows of the names with the most words of a mention."""
    common = {row: len(words.intersection(name_words(name))) for row, name in names.items()}
    most = max(common.values())
    return tuple(row for row, count in common.items() if count == most)


def _text_of(doc: Doc, reading: Reading) -> str:
    return " ".join(doc[place].text for place in reading.tokens)


def _joined_text(joined: list[str], start: int, end: int) -> str:
    return "".join(joined[start:end]).strip()
