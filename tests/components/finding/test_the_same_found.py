"""What is found fast is what is found by asking for everything, one thing after the other."""

from collections.abc import Iterator
from unittest import mock

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_medlink.assets.dictionary import any_order_key, name_words
from spacy_medlink.components.finding import coordinations as cutting
from spacy_medlink.components.finding import names as finding
from spacy_medlink.components.finding.coordinations import coordinations
from spacy_medlink.components.finding.names import NameFinder
from spacy_medlink.components.finding.words import (
    Match,
    clause_runs,
    falls_apart,
    is_hyphen,
    saying,
    with_brackets,
)
from spacy_medlink.retrieval.exact import ExactIndex
from spacy_medlink.text.normalisation import hash_key, key

NAMES = [
    "palmar pits", "plantar pits", "pits", "preauricular pit", "skin hypopigmentation", "facial",
    "a b", "b c", "c (b) a", "type 2 pits", "pits of skin", "(b)-pits", "ab", "abc", "c",
]  # fmt: skip
WORDS = (
    "palmar plantar pits pit pre-auricular auricular pre skin hypopigmentation of the and or , / - "
    "( ) [ ] . a b c a-b a-b-c type 2 facial \n \n\n $ & not"
).split(" ")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=40).flatmap(
    lambda words: st.sampled_from([" ".join(words), "".join(words)])
)
NLP = spacy.blank("en")
LONGEST = 5


def _finder() -> NameFinder:
    rows: list[tuple[int, int]] = []
    for row, name in enumerate(NAMES):
        for own in (key(name), any_order_key(name.split())):
            if own:
                value = hash_key(own)
                rows.append((value - (1 << 64) if value >> 63 else value, row))
    return NameFinder(ExactIndex.build(sorted(rows), NAMES), LONGEST, True)


FINDER = _finder()


class Plain:
    """Looks every run of tokens up by itself."""

    def __init__(self, doc: Doc) -> None:
        self._doc = doc

    def joined(self) -> Iterator[Match]:
        doc = self._doc
        for place in range(1, len(doc) - 1):
            if not is_hyphen(doc, place):
                continue
            for start in range(max(0, place - LONGEST), place):
                for end in range(place + 2, min(len(doc), start + LONGEST) + 1):
                    if doc[start].is_punct or doc[end - 1].is_punct or doc[end - 1].is_space:
                        continue
                    own_key = key(self._without_hyphens(start, end))
                    own = self._place(own_key)
                    first, last = with_brackets(doc, start, end)
                    text = self._without_hyphens(first, last)
                    if own < 0 or falls_apart(doc, first, last):
                        continue
                    if rows := FINDER._rows(own, text, own_key):
                        yield Match(first, last, saying(doc, range(first, last)), rows, text)

    def in_any_order(self, found: set[tuple[int, int]]) -> Iterator[Match]:
        doc = self._doc
        for start, end in clause_runs(doc, LONGEST):
            own_key = any_order_key(token.text for token in doc[start:end])
            own = self._place(own_key)
            if (start, end) not in found and own >= 0:
                names = FINDER._exact.names_at(own, FINDER._having(own_key))
                words = {word for token in doc[start:end] for word in name_words(token.text)}
                rows = finding._nearest(words, names)
                yield Match(start, end, saying(doc, range(start, end)), rows, names[rows[0]])

    def _without_hyphens(self, start: int, end: int) -> str:
        return "".join(
            "" if start < token.i < end - 1 and is_hyphen(self._doc, token.i)
            else token.text_with_ws
            for token in self._doc[start:end]
        ).strip()  # fmt: skip

    def _place(self, own: str) -> int:
        return int(FINDER._exact.find(finding.hash_keys([own]))[0]) if own else -1


@given(TEXTS)
def test_names_around_hyphens(text: str) -> None:
    doc = NLP(text)
    # Those that are found twice are found once.
    assert list(FINDER._joined(doc)) == list(dict.fromkeys(Plain(doc).joined()))


@given(TEXTS)
def test_names_in_any_order(text: str) -> None:
    doc = NLP(text)
    found = {(match.start, match.end) for match in FINDER._as_written(doc)}
    assert list(FINDER._in_any_order(doc, found)) == list(Plain(doc).in_any_order(found))


@given(TEXTS)
def test_coordinations_with_partners_however_far(text: str) -> None:
    doc = NLP(text)
    with mock.patch.object(cutting, "_BESIDE", -(10**9)):
        every = list(coordinations(doc))
    assert list(coordinations(doc)) == every


@settings(max_examples=60)
@given(TEXTS, st.integers(1, 20))
def test_parts_of_a_document_are_looked_up_as_the_whole(text: str, together: int) -> None:
    doc = NLP(text * 3)
    whole = FINDER.find(doc), FINDER.find_coordinated(doc)
    with mock.patch.object(finding, "_TOGETHER", together):
        assert (FINDER.find(doc), FINDER.find_coordinated(doc)) == whole


@pytest.mark.parametrize("text", ["palmar and plantar pits", "pre-auricular pit", "skin of pits"])
def test_something_is_found(text: str) -> None:
    doc = NLP(text)
    assert FINDER.find(doc) + FINDER.find_coordinated(doc)
