"""Words written short within a name, names that say their head first, and ordinary words."""

from pathlib import Path

import pytest
import spacy

from spacy_medlink.text.normalisation import key
from spacy_medlink.text.written_forms import in_full, is_ordinary, ways_in_full, words_within
from tests.pipelines import finder, texts_and_ids
from tests.tables import table

NAMES = (
    "left ventricular hypertrophy", "atrioventricular block", "first degree atrioventricular block",
    "arteriovenous fistula", "iron deficiency anemia", "anemia", "abdominal pain", "leg edema",
    "febrile seizures", "seizures", "pulmonary edema", "edema", "nausea and vomiting", "nausea",
    "vomiting", "chest pain", "punding", "rickets", "tender", "eye disease", "miliary", "snoring",
    "Crohn disease", "left-sided", "hypothyroidism",
)  # fmt: skip


@pytest.fixture(scope="module")
def found(assets):
    nlp = finder(assets, linking={"threshold": 0.0, "lexicon": None})
    return lambda text: texts_and_ids(nlp, text)


@table(__file__, "the_whole_is_the_mention")
def test_the_whole_is_the_mention(found, text, mention, name):
    assert found(text) == [(mention, name)]


@table(__file__, "other_texts_stay_apart")
def test_other_texts_stay_apart(found, text, ents):
    assert found(text) == ents


@table(__file__, "given_mentions_are_read_in_full_too")
def test_given_mentions_are_read_in_full_too(assets, mention, name, match):
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_linker", config={"assets": str(assets.path)})
    doc = nlp.make_doc(f"Pt has {mention}.")
    doc.ents = [doc.char_span(7, 7 + len(mention), label="PROBLEM", alignment_mode="expand")]
    (ent,) = nlp(doc).ents
    assert ent.kb_id_ == name
    assert ent._.candidates[0].get("match", "") == match


def test_lists_of_short_words_are_not_read_in_all_ways():
    short = words_within("en")
    words = [word for word in short if word.isupper()]
    assert ways_in_full(["AV", "fistula"], short)[1] == "arteriovenous fistula"
    assert len(ways_in_full(["1st", "degree", "AV", "block"], short)) == 7
    assert ways_in_full(words, short) == () == in_full(" ".join(words), "en")


def test_ordinary_words_and_their_forms():
    words = "funds funded funding tickets pageant planting copies hopping stories"
    assert all(is_ordinary(word, "en") for word in words.split())
    ill = "swelling sweating bleeding tearing aching limping spotting wasted panting tumor"
    assert not any(is_ordinary(word, "en") for word in ill.split())
    assert not is_ordinary("funding", "de")


def test_the_list_of_ordinary_words_has_no_word_twice():
    path = Path(__file__).parents[3] / "spacy_medlink/text/lists/ordinary.en.txt"
    lines = path.read_text(encoding="utf8").splitlines()
    words = [word for line in lines if not line.startswith("#") for word in line.split()]
    assert len(words) == len(set(words))
    assert all(word == word.lower() and key(word) for word in words)
