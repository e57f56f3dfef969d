"""Words that say how somebody is are found as the names they stand for."""

import pytest
import spacy

from spacy_medlink.text.written_forms import names_of_form
from tests.tables import table


@pytest.fixture(scope="module")
def found():
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions")
    return nlp


@pytest.mark.filterwarnings("ignore:.*W101")
@table(__file__, "a_word_stands_for_a_name")
def test_a_word_stands_for_a_name(found, text, mention):
    assert mention in [ent.text for ent in found(text).ents]


@pytest.mark.filterwarnings("ignore:.*W101")
@table(__file__, "other_words_stand_for_none")
def test_other_words_stand_for_none(found, text):
    assert not found(text).ents


@pytest.mark.filterwarnings("ignore:.*W101")
@table(__file__, "a_word_form_before_a_problem_is_a_part_of_it")
def test_a_word_form_before_a_problem_is_a_part_of_it(found, text, whole, head):
    assert [(ent.text, ent._.reading) for ent in found(text).ents] == [(whole, head)]


@pytest.mark.filterwarnings("ignore:.*W101")
def test_a_word_form_is_less_probable_than_its_name():
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions")
    nlp.add_pipe("medical_linker")
    form, name = nlp("Febrile. Fever.").ents
    assert form.kb_id_ == name.kb_id_
    assert form._.candidates[0]["prob"] < name._.candidates[0]["prob"]


@pytest.mark.filterwarnings("ignore:.*W101")
def test_the_head_of_a_german_compound_is_narrower():
    nlp = spacy.blank("de")
    nlp.add_pipe("medical_mentions")
    nlp.add_pipe("medical_linker")
    (ent,) = nlp("Spannungskopfschmerz seit Montag").ents
    assert (ent.text, ent._.candidates[0]["match"]) == ("Spannungskopfschmerz", "narrower")
    assert names_of_form("anämische", "de")[0][0] == "anämie"
