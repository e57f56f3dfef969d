"""NameFinder: finds names of the dictionary in a Doc, as written, joined up, and in any order."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, islice, pairwise
from typing import TypeVar

import numpy as np

from ...assets.dictionary import any_order_key_of, name_has_key, name_words
from ...retrieval.exact import SAME_STRING, ExactIndex
from ...text.normalisation import hash_keys, is_short_form
from ...text.word_forms import NO_FORMS, Forms
from .coordinations import Reading, coordinations
from .kept import Kept
from .words import Match, Tokens, key_of, runs

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

    def find(self, tokens: Tokens) -> list[Match]:
        """Find all matches, overlapping ones too, each span once.

        No match begins after the hyphen of a word: "pre-auricular pit" is no "auricular pit".
        """
        found = {(match.start, match.end): match for match in self._as_written(tokens)}
        for match in self._joined(tokens):
            found.setdefault((match.start, match.end), match)
        if self._any_order:
            for match in self._in_any_order(tokens, set(found)):
                found[match.start, match.end] = match
        behind = {place + 1 for place in tokens.hyphens}
        return [match for match in found.values() if match.start not in behind]

    def find_coordinated(self, tokens: Tokens) -> list[Match]:
        """Find the names that a coordination stands for, each span once."""
        known = sorted(self._known(self._readings(tokens)), key=lambda one: one[0][1])
        found: dict[tuple[int, str], Match] = {}
        for (one, _), own, place in known:  # those in any order come last
            text = " ".join([tokens.texts[token] for token in one.tokens])
            rows = self._rows(place, text, own)
            if rows:
                start, end = one.tokens[0], one.tokens[-1] + 1
                match = Match(start, end, tokens.saying(one.tokens), rows, text, False)
                # Of two readings of one text, the one that ends first stays.
                said = found.get((start, text))
                if said is None or end < said.end:
                    found[start, text] = match
        by_span: dict[tuple[int, int], Match] = {}
        for match in found.values():
            by_span.setdefault((match.start, match.end), match)
        return list(by_span.values())

    def _as_written(self, tokens: Tokens) -> Iterator[Match]:
        # Punctuation has no key and takes no part: "type-2" and "type 2" are one.
        places = [place for place, own in enumerate(tokens.keys) if own]
        words = list(filter(None, tokens.keys))
        for length, first, own, found in sorted(self._runs(words)):
            start, end = places[first], places[first + length - 1] + 1
            is_short = len(own) < 2 or own.replace(" ", "").isdigit()
            if length == 1 and (is_short or tokens.is_stop[start]):
                continue
            first_token, end = tokens.with_brackets(start, end)
            rows = self._rows(
                found, tokens.between(first_token, end), own,
                as_written=first_token < start or tokens.falls_apart(first_token, end),
            )  # fmt: skip
            if rows:
                yield Match(first_token, end, tokens.saying(range(first_token, end)), rows)

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

    def _joined(self, tokens: Tokens) -> Iterator[Match]:
        """Find "pre-auricular pit" where the dictionary has "preauricular pit"."""
        if not tokens.hyphens:
            return
        joined = list(tokens.spaced)
        for place in tokens.hyphens:
            joined[place] = ""
        keys = (
            ((start, end), key_of("".join(joined[start:end]).split()))
            for start, end in self._around(tokens)
        )
        for span, own, place in self._known(keys):
            start, end = tokens.with_brackets(*span)
            text = "".join(joined[start:end]).strip()
            rows = () if tokens.falls_apart(start, end) else self._rows(place, text, own)
            if rows:
                yield Match(start, end, tokens.saying(range(start, end)), rows, text)

    def _around(self, tokens: Tokens) -> Iterator[tuple[int, int]]:
        """List the spans around hyphens, each once, for the first hyphen in the span."""
        is_punct, is_space = tokens.is_punct, tokens.is_space
        for before, place in pairwise([-1, *tokens.hyphens]):
            for start in range(max(0, place - self._longest, before + 1), place):
                last = min(len(tokens), start + self._longest)
                for end in range(place + _ONE_WORD_MORE, 0 if is_punct[start] else last + 1):
                    if not (is_punct[end - 1] or is_space[end - 1]):
                        yield start, end

    def _in_any_order(self, tokens: Tokens, found: set[tuple[int, int]]) -> Iterator[Match]:
        """Find names whose words stand in another order, within a clause."""
        words = self._formed(tokens.words)
        begins = list(accumulate(map(len, tokens.words), initial=0))
        keys = (
            ((start, end), any_order_key_of(words[begins[start] : begins[end]]))
            for start, end in tokens.clause_runs(self._longest)
            if (start, end) not in found
        )
        for (start, end), own, place in self._known(keys):
            names = self._exact.names_at(place, self._having(own))
            rows = self._kept.rows(list(names))
            if rows:
                own_words = {one for its in tokens.words[start:end] for one in its}
                rows = _nearest(own_words, {row: names[row] for row in rows})
                yield Match(start, end, tokens.saying(range(start, end)), rows, names[rows[0]])

    def _formed(self, words: Iterable[list[str]]) -> list[str]:
        """List the forms that stand for the words of tokens."""
        forms = self._forms
        return [forms.get(one, one) for own in words for one in own]

    def _readings(self, tokens: Tokens) -> Iterator[tuple[tuple[Reading, bool], str]]:
        """Read coordinations: ((reading, whether words may be in any order), key)."""
        for one in coordinations(tokens):
            yield (one, False), key_of(tokens.texts[place] for place in one.tokens)
            if self._any_order and one.is_whole:
                words = self._formed(tokens.words[place] for place in one.tokens)
                yield (one, True), any_order_key_of(words)

    def _known(self, asked: Iterable[tuple[Item, str]]) -> Iterator[tuple[Item, str, int]]:
        """List the items whose key the dictionary has by its hash, with the key and its place."""
        waiting = (one for one in asked if one[1])
        while batch := list(islice(waiting, _TOGETHER)):
            found = self._exact.find(hash_keys([own for _, own in batch]))
            for number in np.flatnonzero(found >= 0).tolist():
                yield *batch[number], int(found[number])

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
