"""What is found fast is what is found by asking for everything, one thing after the other."""

from collections.abc import Iterator
from unittest import mock

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_medlink.assets.dictionary import any_order_key, name_words
from spacy_medlink.components.finding import coordinations as cutting
from spacy_medlink.components.finding import names as finding
from spacy_medlink.components.finding.coordinations import coordinations
from spacy_medlink.components.finding.names import NameFinder
from spacy_medlink.components.finding.words import Match, Tokens
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

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def joined(self) -> Iterator[Match]:
        tokens = self._tokens
        for place in tokens.hyphens:
            for start in range(max(0, place - LONGEST), place):
                for end in range(place + 2, min(len(tokens), start + LONGEST) + 1):
                    ends = not (tokens.is_punct[end - 1] or tokens.is_space[end - 1])
                    if tokens.is_punct[start] or not ends:
                        continue
                    own_key = key(self._without_hyphens(start, end))
                    own = self._place(own_key)
                    first, last = tokens.with_brackets(start, end)
                    text = self._without_hyphens(first, last)
                    if own < 0 or tokens.falls_apart(first, last):
                        continue
                    if rows := FINDER._rows(own, text, own_key):
                        yield Match(first, last, tokens.saying(range(first, last)), rows, text)

    def in_any_order(self, found: set[tuple[int, int]]) -> Iterator[Match]:
        tokens = self._tokens
        for start, end in tokens.clause_runs(LONGEST):
            own_key = any_order_key(tokens.texts[start:end])
            own = self._place(own_key)
            if (start, end) not in found and own >= 0:
                names = FINDER._exact.names_at(own, FINDER._having(own_key))
                words = {word for text in tokens.texts[start:end] for word in name_words(text)}
                rows = finding._nearest(words, names)
                said = tokens.saying(range(start, end))
                yield Match(start, end, said, rows, names[rows[0]])

    def _without_hyphens(self, start: int, end: int) -> str:
        return "".join(
            "" if start < place < end - 1 and place in self._tokens.hyphens
            else self._tokens.spaced[place]
            for place in range(start, end)
        ).strip()  # fmt: skip

    def _place(self, own: str) -> int:
        return int(FINDER._exact.find(finding.hash_keys([own]))[0]) if own else -1


@given(TEXTS)
def test_lists_of_tokens_say_what_tokens_say(text: str) -> None:
    doc = NLP(text)
    tokens = Tokens(doc)
    assert (tokens.text, len(tokens)) == (doc.text, len(doc))
    assert tokens.texts == [token.text for token in doc]
    assert tokens.spaced == [token.text_with_ws for token in doc]
    assert tokens.lower == [token.lower_ for token in doc]
    assert tokens.says == [not (token.is_stop or token.is_punct or token.is_space) for token in doc]
    assert tokens.hyphens == [
        token.i
        for token in doc[1:-1]
        if token.text == "-" and not token.whitespace_
        and token.nbor(-1).text[-1].isalnum() and not token.nbor(-1).whitespace_
    ]  # fmt: skip
    for start in range(0, len(doc), 3):
        for end in range(start + 1, len(doc) + 1, 5):
            assert tokens.between(start, end) == doc[start:end].text


@given(TEXTS)
def test_names_around_hyphens(text: str) -> None:
    tokens = Tokens(NLP(text))
    # Those that are found twice are found once.
    assert list(FINDER._joined(tokens)) == list(dict.fromkeys(Plain(tokens).joined()))


@given(TEXTS)
def test_names_in_any_order(text: str) -> None:
    tokens = Tokens(NLP(text))
    found = {(match.start, match.end) for match in FINDER._as_written(tokens)}
    assert list(FINDER._in_any_order(tokens, found)) == list(Plain(tokens).in_any_order(found))


@given(TEXTS)
def test_coordinations_with_partners_however_far(text: str) -> None:
    tokens = Tokens(NLP(text))
    with mock.patch.object(cutting, "_BESIDE", -(10**9)):
        every = list(coordinations(tokens))
    assert list(coordinations(tokens)) == every


@settings(max_examples=60)
@given(TEXTS, st.integers(1, 20))
def test_parts_of_a_document_are_looked_up_as_the_whole(text: str, together: int) -> None:
    tokens = Tokens(NLP(text * 3))
    whole = FINDER.find(tokens), FINDER.find_coordinated(tokens)
    with mock.patch.object(finding, "_TOGETHER", together):
        assert (FINDER.find(tokens), FINDER.find_coordinated(tokens)) == whole


@pytest.mark.parametrize("text", ["palmar and plantar pits", "pre-auricular pit", "skin of pits"])
def test_something_is_found(text: str) -> None:
    tokens = Tokens(NLP(text))
    assert FINDER.find(tokens) + FINDER.find_coordinated(tokens)
