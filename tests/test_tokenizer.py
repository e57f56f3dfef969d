"""The tokenizer of tests gives what spaCy's own gives."""

import pickle

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokenizer import Tokenizer

from tests.tokenizer import PatientTokenizer

PATIENT = {lang: spacy.blank(lang) for lang in ("en", "de", "fr", "es")}
OWN = {lang: pickle.loads(pickle.dumps(spacy.blank(lang).tokenizer)) for lang in PATIENT}
PARTS = [
    "I'm", "don't", "can't", "He's", "a.m.", "10am", "Dr.", "e.g.", ":)", "(", ")", "z.B.", "d'un",
    "qu'il", "c'est-à-dire", "aujourd'hui", "EE.UU.", " ", "  ", "\n", "heart", "mg/kg", "-", "'",
]  # fmt: skip


def tokens(tokenizer, text):
    return [(token.text, token.idx, token.norm_) for token in tokenizer(text)]


@pytest.mark.parametrize("lang", PATIENT)
@given(texts=st.lists(st.lists(st.sampled_from(PARTS) | st.text(max_size=3)).map("".join)))
def test_the_same_tokens(lang, texts):
    patient, own = PATIENT[lang].tokenizer, OWN[lang]
    assert isinstance(patient, PatientTokenizer) and type(own) is Tokenizer
    for text in texts:
        assert tokens(patient, text) == tokens(own, text)


def test_the_same_special_cases_and_bytes():
    one, other = (pickle.loads(pickle.dumps(spacy.blank("en").tokenizer)) for _ in range(2))
    patient = spacy.blank("en").tokenizer
    patient.add_special_case("I'm", [{"ORTH": "I'm"}])
    one.add_special_case("I'm", [{"ORTH": "I'm"}])
    assert patient.to_bytes(exclude=["vocab"]) == one.to_bytes(exclude=["vocab"])
    assert patient.rules == one.rules and tokens(patient, "I'm") == tokens(one, "I'm")
    patient.from_bytes(other.to_bytes())
    assert tokens(patient, "I'm") == tokens(other, "I'm") and patient.rules == other.rules
