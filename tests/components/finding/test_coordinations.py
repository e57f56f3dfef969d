"""Coordinations: by example, and what is true of every reading."""

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_medlink.components.finding.coordinations import coordinations
from spacy_medlink.components.finding.words import Tokens

NLP = spacy.blank("en")


def readings(text: str) -> set[str]:
    tokens = Tokens(NLP(text))
    return {" ".join(tokens.texts[place] for place in one.tokens) for one in coordinations(tokens)}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("palmar and plantar pits", "palmar pits"),
        ("branchial, otic and renal anomalies", "branchial anomalies"),
        ("branchial, otic, and renal anomalies", "otic anomalies"),
        ("posterior subcapsular or capsular cataract", "posterior subcapsular cataract"),
        ("hypoplasia of the thumb and radius", "hypoplasia of radius"),
        ("hypoplasia of the thumb, radius or ulna", "hypoplasia of ulna"),
        ("hypopigmentation of skin or hair", "hypopigmentation of hair"),
        ("lip/palate clefts", "lip clefts"),
        ("Anomalien von Hand und Fuß", ""),  # "von" is no link: nothing is read into it
        ("renal and hepatic cysts were seen", "renal cysts"),
        ("fever. palmar and plantar pits", "palmar pits"),
    ],
)
def test_what_is_read(text: str, wanted: str) -> None:
    assert not wanted or wanted in readings(text)


@pytest.mark.parametrize(
    ("text", "unwanted"),
    [
        ("fever, cough", "fever cough"),  # nothing says that this is one
        ("palmar pits", "palmar pits"),
        ("palmar. And plantar pits", "palmar pits"),
        ("palmar (hand) and plantar pits", "palmar pits"),
        ("palmar\n\nand plantar pits", "palmar pits"),
        ("pits in the palmar and in the plantar area", "palmar area"),
        ("he and renal cysts", "he cysts"),
    ],
)
def test_what_is_not_read(text: str, unwanted: str) -> None:
    assert unwanted not in readings(text)


def test_whether_another_word_follows() -> None:
    doc = NLP("oral and unusual facial appearance")
    whole = {
        " ".join(doc[place].text for place in one.tokens): one.is_whole
        for one in coordinations(Tokens(doc))
    }
    assert whole["oral facial"] is False
    assert whole["oral facial appearance"] is True


WORDS = st.lists(
    st.sampled_from(["and", "or", ",", "/", "of", "the", "renal", "cysts", "ear", ".", "\n", "-"]),
    max_size=24,
)


@given(WORDS)
def test_readings_leave_out_a_conjunction_and_no_end_of_a_clause(words: list[str]) -> None:
    doc = Doc(NLP.vocab, words=words)
    for one in coordinations(Tokens(doc)):
        first, last = one.tokens[0], one.tokens[-1]
        left_out = set(range(first, last + 1)) - set(one.tokens)
        assert list(one.tokens) == sorted(set(one.tokens))
        assert {words[place] for place in left_out} & {"and", "or", "/"}
        assert "." not in words[first : last + 1]
        assert "\n" not in words[first : last + 1]
        assert not doc[first].is_stop and not doc[last].is_stop
        assert not doc[first].is_punct and not doc[last].is_punct
