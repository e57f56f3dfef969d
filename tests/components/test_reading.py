"""Texts without white space are read in linear time, and stay as they are."""

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.annotate.worker import linked_docs
from spacy_medlink.components.pipelines import open_pipeline
from spacy_medlink.components.reading import LONGEST, make_doc
from tests.timing import cpu_seconds

NLP = spacy.blank("en")
RUNS = ["(", "'", '"', "[", "*", "_", "«", "$", "#", "😀", ",", "…", "):", "a-", "x(", "。咳嗽"]


@pytest.mark.parametrize("part", RUNS)
def test_a_long_run_takes_no_longer_than_short_ones(part):
    text = f"No fever {part * (20_000 // len(part))}  asthma\n"
    assert cpu_seconds(lambda: make_doc(NLP, text)) < 5, "36 seconds of brackets in one piece"
    doc = make_doc(NLP, text)
    assert doc.text == text
    assert [token.text for token in doc][:2] == ["No", "fever"]
    assert "asthma" in [token.text for token in doc]


@given(st.text(alphabet=" \nab(.é\u0301", max_size=900))
def test_a_text_stays_as_it_is(text):
    doc = make_doc(NLP, text)
    assert doc.text == text
    if max(map(len, text.split()), default=0) <= LONGEST:
        plain = NLP.make_doc(text)
        assert doc.to_bytes() == plain.to_bytes()


def test_words_stay_whole():
    text = "fever," * 100
    assert sum(token.text == "fever" for token in make_doc(NLP, text)) == 100


def test_too_long_is_still_refused():
    with pytest.raises(ValueError, match="E088"):
        make_doc(NLP, "(" * (NLP.max_length + 1))


def test_links_beside_a_long_run():
    nlp = open_pipeline("starter")
    text = f"Asthma {'(' * 5_000} fever"
    for texts in ([text], [text, "cough"]):
        doc, problem = next(linked_docs(nlp, texts))
        assert doc is not None, problem
        assert [ent.text for ent in doc.ents if ent._.cui] == ["Asthma", "fever"]
        assert doc.text == text
