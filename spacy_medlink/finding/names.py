"""Names of the dictionary in a Doc: as they are written, joined up, and in any order."""

from bisect import bisect_right
from collections.abc import Callable, Iterator

import numpy as np
from spacy.tokens import Doc

from ..dictionary import any_order_key, name_has_key
from ..retrieval.exact import SAME_STRING, ExactIndex
from ..text import hash_keys, key
from .coordinations import coordinations
from .words import Match, clause_runs, falls_apart, is_hyphen, part, runs, saying, with_brackets

_ONE_WORD_MORE = 2  # tokens of a hyphen and what it joins


class NameFinder:
    """Finds names of a dictionary.

    exact (ExactIndex): the dictionary. longest (int): words of a match at most.
    any_order (bool): names by their words in any order, too; the dictionary must have such keys.
    """

    def __init__(self, exact: ExactIndex, longest: int, any_order: bool) -> None:
        self._exact, self._longest, self._any_order = exact, longest, any_order

    def find(self, doc: Doc) -> list[Match]:
        """Find all matches, overlapping ones too, each span once.

        None begins after the hyphen of a word: "pre-auricular pit" is no "auricular pit".
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
        readings = list(coordinations(doc))
        texts = [" ".join(doc[place].text for place in one.tokens) for one in readings]
        keys = [key(text) for text in texts]
        if self._any_order:
            keys += [
                any_order_key(text.split()) if one.is_whole else ""
                for one, text in zip(readings, texts, strict=True)
            ]
        found: dict[tuple[int, str], Match] = {}
        for number, place in self._known(keys):
            own = keys[number]
            number %= len(readings)
            one, text = readings[number], texts[number]
            rows = self._rows(place, text, own)
            if rows:
                start, end = one.tokens[0], one.tokens[-1] + 1
                match = Match(start, end, saying(doc, one.tokens), rows, text, False)
                # What is said twice is said where it ends first.
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
        grams, ends = runs([parts[index][0] for index in places], self._longest)
        found = self._exact.find(hash_keys(grams))
        for number, index in enumerate(places):
            if parts[index][1] or doc[index].is_stop:
                found[number] = -1  # the runs of one word come first
        for gram in np.flatnonzero(found >= 0).tolist():
            length = bisect_right(ends, gram) + 1
            first = gram - (ends[length - 2] if length > 1 else 0)
            start, end = places[first], places[first + length - 1] + 1
            first_token, end = with_brackets(doc, start, end)
            rows = self._rows(
                int(found[gram]), doc[first_token:end].text, grams[gram],
                as_written=first_token < start or falls_apart(doc, first_token, end),
            )  # fmt: skip
            if rows:
                yield Match(first_token, end, saying(doc, range(first_token, end)), rows)

    def _joined(self, doc: Doc) -> Iterator[Match]:
        """Find "pre-auricular pit" where the dictionary has "preauricular pit"."""
        hyphens = [place for place in range(1, len(doc) - 1) if is_hyphen(doc, place)]
        spans, texts = [], []
        for place in hyphens:
            for start in range(max(0, place - self._longest), place):
                for end in range(place + _ONE_WORD_MORE, min(len(doc), start + self._longest) + 1):
                    if doc[start].is_punct or doc[end - 1].is_punct or doc[end - 1].is_space:
                        continue
                    spans.append((start, end))
                    texts.append(_without_hyphens(doc, start, end))
        keys = [key(text) for text in texts]
        for number, place in self._known(keys):
            start, end = with_brackets(doc, *spans[number])
            text = _without_hyphens(doc, start, end)
            rows = () if falls_apart(doc, start, end) else self._rows(place, text, keys[number])
            if rows:
                yield Match(start, end, saying(doc, range(start, end)), rows, text)

    def _in_any_order(self, doc: Doc, found: set[tuple[int, int]]) -> Iterator[Match]:
        """Find what is a name's words in another order, within a clause."""
        spans, keys = [], []
        for start, end in clause_runs(doc, self._longest):
            if (start, end) not in found:
                spans.append((start, end))
                keys.append(any_order_key(token.text for token in doc[start:end]))
        for number, place in self._known(keys):
            start, end = spans[number]
            rows = self._exact.names_at(place, _having(keys[number]))
            if rows:
                yield Match(start, end, saying(doc, range(start, end)), tuple(rows))

    def _known(self, keys: list[str]) -> Iterator[tuple[int, int]]:
        """List (number, place in the dictionary) of the keys that it has."""
        asked = [number for number, one in enumerate(keys) if one]
        found = self._exact.find(hash_keys(keys[number] for number in asked))
        for place in np.flatnonzero(found >= 0).tolist():
            yield asked[place], int(found[place])

    def _rows(self, place: int, text: str, own: str, as_written: bool = False) -> tuple[int, ...]:
        """List the rows of the names that a text is; of the same text alone, if as_written.

        own (str): the key that was found at the place.
        """
        least = SAME_STRING if as_written else 0.0
        found = self._exact.rows_of(place, text, _having(own))
        return tuple(row for row, score in found if score >= least)


def _having(own: str) -> Callable[[str], bool]:
    """Make what tells whether a name has a key."""
    return lambda name: name_has_key(name, own)


def _without_hyphens(doc: Doc, start: int, end: int) -> str:
    return "".join(
        "" if token.text == "-" and start < token.i < end - 1 and is_hyphen(doc, token.i)
        else token.text_with_ws
        for token in doc[start:end]
    ).strip()  # fmt: skip
