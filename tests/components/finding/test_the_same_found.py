"""What is found fast is what is found by asking for everything, one thing after the other."""

from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.lang.en import English

from spacy_medlink.components.finding import coordinations as cutting
from spacy_medlink.components.finding import names as finding
from spacy_medlink.components.finding.coordinations import coordinations
from spacy_medlink.components.finding.names import NameFinder, WordsOfText
from spacy_medlink.components.finding.readings import readings
from spacy_medlink.retrieval.exact import ExactIndex
from spacy_medlink.text.any_order import any_order_key
from spacy_medlink.text.normalisation import hash_key, key
from spacy_medlink.text.pieces import Border, Pieces

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
STOP_WORDS = English.Defaults.stop_words
LONGEST = 5


def _finder() -> NameFinder:
    hashes = ((hash_key(key(name)), row) for row, name in enumerate(NAMES))
    rows = sorted((own - (1 << 64) if own >> 63 else own, row) for own, row in hashes)
    return NameFinder(ExactIndex.build(rows, NAMES), LONGEST)


FINDER = _finder()


def _readings(pieces):
    exact = FINDER._exact
    words = exact.known_words("en").of(pieces.texts)
    return readings(pieces, words, exact.vocabulary, LONGEST, (), "en")


@given(TEXTS)
def test_joined_words_are_names_without_their_hyphens(text):
    pieces = Pieces(text, STOP_WORDS)
    listed = _readings(pieces)
    for joined in (reading for reading in listed if reading.joints):
        inside = range(joined.start + 1, joined.end)
        assert set(inside) & set(pieces.hyphens) & joined.joints
        assert max(pieces.borders[place] for place in inside) <= Border.COMMA
        assert key(joined.text) == joined.key


@given(TEXTS)
def test_names_in_any_order_have_the_words_of_the_text(text):
    pieces = Pieces(text, STOP_WORDS)
    words_of_text = WordsOfText(pieces, FINDER._exact, "en")
    for match in filter(
        None, (FINDER._of_run(words_of_text, run) for run in words_of_text.runs(5))
    ):
        words = pieces.texts[match.start : match.end]
        assert any_order_key(words) in {any_order_key(NAMES[row].split()) for row in match.rows}
        if match.reading:
            assert max(pieces.borders[match.start + 1 : match.end]) <= Border.SIGN


@given(TEXTS)
def test_coordinations_with_partners_however_far(text):
    pieces = Pieces(text, STOP_WORDS)
    with mock.patch.object(cutting, "_BESIDE", -(10**9)):
        every = list(coordinations(pieces))
    assert list(coordinations(pieces)) == every


@settings(max_examples=60)
@given(TEXTS, st.integers(1, 20))
def test_parts_of_a_document_are_looked_up_as_the_whole(text, together):
    pieces = Pieces(text * 3, STOP_WORDS)
    whole = FINDER.find(pieces)
    with mock.patch.object(finding, "_TOGETHER", together):
        assert FINDER.find(pieces) == whole


@pytest.mark.parametrize("text", ["palmar and plantar pits", "pre-auricular pit", "skin of pits"])
def test_something_is_found(text):
    pieces = Pieces(text, STOP_WORDS)
    assert FINDER.find(pieces)
