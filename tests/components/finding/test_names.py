"""Hyphens, and names that coordinations stand for, in a pipeline with a linker."""

from typing import Any

import pytest
from spacy.language import Language

from spacy_medlink.assets import Assets
from spacy_medlink.types import Concept, Name
from tests.pipelines import finder
from tests.tables import table
from tests.tiny import assets_of, concepts_of

NAMES = {
    "PALM": "Palmar pits", "SOLE": "Plantar pits", "PIT": "Pits", "PRE": "Preauricular pit",
    "AURI": "Auricular pit", "HAIR": "Hypopigmentation of hair", "SKIN": "Skin hypopigmentation",
    "FACE": "Facial cleft", "LENS": "Posterior opacities of the lens", "DROP": "Foot drop",
}  # fmt: skip

TEXT = "No palmar and plantar pits, no hypopigmentation of skin or hair."


def pipeline(assets: Assets, **config: Any) -> Language:
    # What is found is asked here, not how sure its link is.
    return finder(
        assets, linking={"spans_key": config.get("spans_key"), "threshold": 0.0}, **config
    )


@pytest.fixture(scope="module")
def nlp(assets):
    return pipeline(assets)


def links(nlp: Language, text: str) -> set[tuple[str, str]]:
    doc = nlp(text)
    return {(span.text, span.kb_id_) for span in doc.spans.get("sc", doc.ents)}


GROUP = {"spans_key": "sc"}
FOUND = {
    ("palmar and plantar pits", "PALM"),
    ("plantar pits", "SOLE"),
    ("hypopigmentation of skin", "SKIN"),
    ("hypopigmentation of skin or hair", "HAIR"),
}


def test_coordinations_are_linked_by_what_they_say(assets):
    nlp = pipeline(assets, **GROUP)
    assert links(nlp, TEXT) == FOUND
    doc = nlp(TEXT)
    readings = {span.text: span._.reading for span in doc.spans["sc"]}
    assert readings["palmar and plantar pits"] == "palmar pits"
    assert readings["plantar pits"] == ""


def test_entities_do_not_overlap(assets):
    nlp = pipeline(assets)
    assert links(nlp, "palmar and plantar pits") == {("plantar pits", "SOLE")}
    assert links(nlp, "palmar and plantar lesions or pits") == {("pits", "PIT")}
    # Without a name that stands in the way, the reading is the entity.
    nails = "hypopigmentation of nails or hair"
    assert links(nlp, nails) == {(nails, "HAIR")}


@table(__file__, "in_any_order")
def test_in_any_order(nlp, text, ents):
    assert links(nlp, text) == set(ents)


@table(__file__, "hyphens")
def test_hyphens(nlp, text, ents):
    assert links(nlp, text) == set(ents)


def test_stopped_readings(assets):
    nlp = pipeline(assets, **GROUP, stop=["palmar pit"])
    assert ("palmar and plantar pits", "PALM") not in links(nlp, TEXT)


TORN = {
    "AS": "Spondylitis, Ankylosing", "G6PD": "G6PD deficiency", "COLI": "E. coli infection",
    "SALB": "(R)-salbutamol", "AVIUM": "Mycobacterium avium subsp. paratuberculosis",
    "LEIDEN": "Factor V Leiden; thrombophilia", "ENZYME": "Deficiency (of enzyme (G6PD))",
    "PIT": "Preauricular pit (left)", "HEP": "Acute hepatitis (B)",
}  # fmt: skip


@pytest.fixture(scope="module")
def torn(tmp_path_factory):
    return pipeline(assets_of(tmp_path_factory.mktemp("torn"), concepts_of(TORN)))


@table(__file__, "names_do_not_go_over_sentences_and_brackets")
def test_names_do_not_go_over_sentences_and_brackets(torn, text, ents):
    assert links(torn, text) == set(ents)


def test_words_of_a_name_within_are_not_turned_into_another(tmp_path):
    """Here "mammary neoplasm" says the same as "breast cancer"."""
    named = {
        "C1": ["Breast cancer", "Mammary cancer", "Breast neoplasm"],
        "C2": ["Human mammary neoplasm"],
        "C3": ["Renal cancer", "Renal neoplasm"],
    }
    nlp = pipeline(assets_of(tmp_path, concepts_of(named)))
    assert links(nlp, "human breast cancer cells") == {("breast cancer", "C1")}
    assert links(nlp, "neoplasm, human mammary") == {("neoplasm, human mammary", "C2")}


def test_a_name_of_the_language_comes_before_one_of_another(tmp_path):
    concepts = [
        Concept("CELL", "Granulocytes", (Name("Granulocytes", "en"),)),
        Concept("LACK", "Agranulocytosis", (Name("Granulocyte", "fr"), Name("Lack", "en"))),
    ]
    nlp = pipeline(assets_of(tmp_path, concepts))
    assert links(nlp, "each granulocyte was seen") == {("granulocyte", "CELL")}
