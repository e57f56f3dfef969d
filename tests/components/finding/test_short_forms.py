"""Short forms that a document defines itself."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_medlink.components.finding.short_forms import _occurrences
from spacy_medlink.types import Concept, Name
from tests.pipelines import finder
from tests.tables import table
from tests.tiny import assets_of

NAMES = {
    "FAP": ["Familial adenomatous polyposis"],
    "TMD": ["Transient myeloproliferative disorder", "TAM"],
    "SPON": ["Ankylosing spondylitis"],
    "SOLE": ["Plantar pits"],
    "PALM": ["Palmar pits"],
}

TEXT = "Familial adenomatous polyposis (FAP) is rare. FAP and FAPs, but no FAPX, nor xFAP."


def test_a_short_form_is_found_where_its_long_form_is_a_mention(assets):
    found = [ent.text for ent in finder(assets)(TEXT).ents]
    assert found == ["Familial adenomatous polyposis", "FAP", "FAP", "FAPs"]


def test_it_is_linked_as_its_long_form(assets):
    nlp = finder(assets, linking={})
    assert {ent.kb_id_ for ent in nlp(TEXT).ents} == {"FAP"}


@table(__file__, "what_the_text_spells_out_of_a_meaning_is_in_the_mention")
def test_what_the_text_spells_out_of_a_meaning_is_in_the_mention(tmp_path, text, mention, reading):
    concepts = [Concept("SKIN", "Localized skin lesion", (Name("Localized skin lesion"),))]
    assets = assets_of(tmp_path, concepts)
    nlp = finder(assets, linking={})
    (ent,) = nlp(text).ents
    assert (ent.text, ent._.reading, ent.kb_id_) == (mention, reading, "SKIN")


def test_a_name_that_the_document_defines_as_something_else_is_none(assets):
    nlp = finder(assets)
    assert [ent.text for ent in nlp("TAM was high.").ents] == ["TAM"]
    assert not nlp("Treated with tamoxifen (TAM). TAM was high.").ents


def test_words_that_begin_sentences_are_none(assets):
    doc = finder(assets)("Ankylosing spondylitis (As) is rare. As before, nothing.")
    assert [ent.text for ent in doc.ents] == ["Ankylosing spondylitis"]
    doc = finder(assets)("Ankylosing spondylitis (AS) is rare. As before, AS.")
    assert [ent.text for ent in doc.ents] == ["Ankylosing spondylitis", "AS", "AS"]


def test_a_short_form_of_a_reading_has_that_reading(assets):
    nlp = finder(assets, spans_key="sc")
    doc = nlp("Palmar and plantar pits (PPP) were seen: PPP.")
    assert [(one.text, one._.reading) for one in doc.spans["sc"]] == [
        ("Palmar and plantar pits", "Palmar pits"),
        ("plantar pits", ""),
        ("PPP", "Palmar pits"),
        ("PPP", "Palmar pits"),
    ]


@given(st.lists(st.sampled_from(["FAP", "(FAP)", "(", ")", "TAM", "(TAM)", "pits", "familial",
    "adenomatous", "polyposis", "tamoxifen", ".", "\n"]), max_size=20))  # fmt: skip
@settings(max_examples=50)
def test_each_span_is_found_once(nlp, words):
    doc = nlp(" ".join(words))
    places = [(one.start, one.end) for one in doc.spans["sc"]]
    assert places == sorted(set(places))


@pytest.fixture(scope="module")
def nlp(assets):
    return finder(assets, spans_key="sc")


@given(st.text("ABs- ", max_size=12), st.sets(st.sampled_from(["A", "AB", "ABs", "A B", "B-A"])))
@settings(max_examples=200)
def test_occurrences_are_those_of_each_short_form_alone(text, shorts):
    alone = {
        (*match.span(), short)
        for short in shorts
        for match in re.finditer(rf"(?<!\w){re.escape(short)}s?(?!\w)", text)
    }
    assert set(_occurrences(text, range(len(text)), shorts)) == alone
