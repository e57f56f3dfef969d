"""The tokenizer of tests gives what spaCy's own gives."""

import pickle

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokenizer import Tokenizer

from tests.tokenizer import PatientTokenizer

PARTS = [
    "I'm", "don't", "can't", "He's", "a.m.", "10am", "Dr.", "e.g.", ":)", "(", ")", "z.B.",
    "EE.UU.", " ", "  ", "\n", "heart", "mg/kg", "-", "'",
]  # fmt: skip


def own(lang):
    return pickle.loads(pickle.dumps(spacy.blank(lang).tokenizer))


def tokens(tokenizer, text):
    return [(token.text, token.idx, token.norm_) for token in tokenizer(text)]


@pytest.mark.parametrize("lang", ["en", "de", "es"])
def test_the_same_tokens(lang):
    patient, other = spacy.blank(lang).tokenizer, own(lang)
    assert type(patient) is PatientTokenizer and type(other) is Tokenizer

    @given(st.lists(st.sampled_from(PARTS) | st.text(max_size=3)).map("".join))
    def check(text):
        assert tokens(patient, text) == tokens(other, text)

    check()


def test_the_same_special_cases_and_bytes():
    patient, one, other = spacy.blank("en").tokenizer, own("en"), own("en")
    for tokenizer in (patient, one):
        tokenizer.add_special_case("I'm", [{"ORTH": "I'm"}])
    assert patient.to_bytes(exclude=["vocab"]) == one.to_bytes(exclude=["vocab"])
    assert patient.rules == one.rules and tokens(patient, "I'm") == tokens(one, "I'm")
    patient.from_bytes(other.to_bytes())
    assert tokens(patient, "I'm") == tokens(other, "I'm") and patient.rules == other.rules
