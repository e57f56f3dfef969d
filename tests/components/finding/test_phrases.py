"""A mention is a whole phrase: what its words do is learned from the names of the terminology."""

import pytest
import spacy

from spacy_medlink.components.finding.settings import LEAVE_OUT
from spacy_medlink.types import Concept, Name
from tests.tiny import assets_of

NAMES = [
    "Fever", "Hypertension", "Stroke", "Cough", "Chest", "Chest pain", "Chest wall mass", "Asthma",
    "Pulmonary embolism", "Pulmonary fibrosis", "Pulmonary edema", "Yellow nail", "Yellow skin",
    "Liver", "Liver cyst", "Liver failure", "Abscess", "Multiple sclerosis", "COPD", "Dengue fever",
]  # fmt: skip


@pytest.fixture(scope="module")
def assets(tmp_path_factory):
    directory = tmp_path_factory.mktemp("phrases")
    return assets_of(directory, (Concept(text, text, (Name(text),)) for text in NAMES))


def found(assets, text, **config):
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_mentions", config={"assets": str(assets.path), **config})
    doc = nlp(text)
    return [span.text for span in (doc.spans["sc"] if "spans_key" in config else doc.ents)]


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        # Another kind of disease than its head alone.
        ("Yellow fever vaccine", []), ("pulmonary hypertension", []), ("portal hypertension", []),
        # What qualifies the head, and what is no part of its phrase.
        ("severe fever", ["fever"]), ("denies fever", ["fever"]), ("drug-induced fever", ["fever"]),
        ("poorly controlled hypertension", ["hypertension"]), ("fever cough", ["fever", "cough"]),
        ("He has fever", ["fever"]), ("pulmonary, fever", ["fever"]),
        # A modifier of something else.
        ("chest tube", []), ("liver abscess", []), ("chest: fever", ["fever"]),
        ("pain in the chest", ["chest"]), ("chest pain radiating", ["chest pain"]),
        # People, places and tests that are called after a problem.
        ("Stroke Unit", []), ("stroke protocol", []), ("the Multiple Sclerosis Society", []),
        ("asthma exacerbation", ["asthma"]), ("COPD patient", ["COPD"]),
        ("dengue fever", ["dengue fever"]),
    ],
)  # fmt: skip
def test_parts_of_phrases(assets, text, mentions):
    assert found(assets, text) == mentions


def test_all_are_found_where_they_are_wanted(assets):
    without = [rule for rule in LEAVE_OUT if rule != "parts"]
    assert found(assets, "Yellow fever", leave_out=without) == ["fever"]
    assert found(assets, "Yellow fever", spans_key="sc") == ["fever"]
