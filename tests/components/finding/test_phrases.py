"""A mention is a whole phrase: what its words do is learned from the names of the terminology."""

import pytest

from spacy_medlink.components.finding.settings import LEAVE_OUT
from spacy_medlink.types import Concept, Name
from tests.pipelines import finder
from tests.tables import table
from tests.tiny import assets_of

NAMES = [
    "Fever", "Hypertension", "Stroke", "Cough", "Chest", "Chest pain", "Chest wall mass", "Asthma",
    "Pulmonary embolism", "Pulmonary fibrosis", "Pulmonary edema", "Yellow nail", "Yellow skin",
    "Liver", "Liver cyst", "Liver failure", "Abscess", "Multiple sclerosis", "COPD", "Dengue fever",
    "Cardiomyopathy", "Hypotension", "Left ovary", "Pneumonia", "Right lower lobe",
]  # fmt: skip


def found(assets, text, **config):
    doc = finder(assets, **config)(text)
    return [span.text for span in (doc.spans["sc"] if "spans_key" in config else doc.ents)]


@table(__file__, "where_the_head_alone_is_known_the_whole_is_a_narrower_mention")
def test_where_the_head_alone_is_known_the_whole_is_a_narrower_mention(assets, text, mention, head):
    nlp = finder(assets, linking={})
    (span,) = nlp(text).ents
    assert (span.text, span.kb_id_) == (mention, head)
    assert span._.reading.lower() == head.lower()
    (alone,) = nlp(head).ents
    best, own = span._.candidates[0], alone._.candidates[0]
    assert (best["match"], own.get("match", "")) == ("narrower", "")
    assert best["score"] < own["score"] and best["prob"] <= own["prob"]


def test_all_are_found_where_they_are_wanted(assets):
    without = [rule for rule in LEAVE_OUT if rule != "parts"]
    assert found(assets, "Yellow fever", leave_out=without) == ["fever"]
    assert found(assets, "Yellow fever", spans_key="sc") == ["fever"]


# Words that others follow in names: they are no modifiers where the language is not known.
LANGUAGES = {
    "es": ["Síndrome de Marfan", "Dolor con fiebre", "Tos con fiebre", "Neumonía", "Neumonía viral",
           "Neumonía por hongos"],
    "de": ["Epilepsie", "Anfall bei einer Epilepsie", "Kopfschmerz bei einer Grippe"],
    "nl": ["Syndroom van Marfan", "Verlies met braken", "Koorts met hoesten"],
    "en": ["Pneumonia", "Fracture with bleeding", "Pain with fever", "Viral pneumonia"],
    "pl": ["Padaczka", "Zapalenie z bólem", "Gorączka z dreszczami"],
}  # fmt: skip


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    names = [(text, lang) for lang, texts in LANGUAGES.items() for text in texts]
    concepts = (Concept(text, text, (Name(text, lang=lang),)) for text, lang in names)
    return assets_of(tmp_path_factory.mktemp("many"), concepts)


@pytest.mark.parametrize("lang", ["xx", "own"])
@table(__file__, "languages_whose_common_words_are_not_known")
def test_languages_whose_common_words_are_not_known(many, lang, own, text, mention):
    nlp = finder(many, own if lang == "own" else lang)
    assert [span.text for span in nlp(text).ents] == [mention]
