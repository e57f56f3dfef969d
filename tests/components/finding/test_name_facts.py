"""Labels of mentions by what their concepts are, and names of too many concepts left out."""

import numpy as np
import pytest
import spacy

from spacy_medlink.assets.dictionary import Choice
from spacy_medlink.components.finding.name_facts import NameFacts
from spacy_medlink.errors import MedlinkError
from spacy_medlink.types import Concept, Name
from tests.mutants import refused
from tests.pipelines import finder
from tests.tiny import assets_of

RECORDS = [
    Concept(id, names[0], tuple(map(Name, names)), types=tuple(types))
    for id, names, types in (
        ("C1", ["fever", "pyrexia"], ["T184"]), ("C2", ["aspirin"], ["T121", "T109"]),
        ("C3", ["cold"], ["T047"]), ("C4", ["cold", "low temperature"], ["T070"]),
        ("C5", ["gait"], []), ("C6", ["sign"], ["T033", "T170"]),
        ("C7", ["odd thing"], ["Home-made"]),
    )
]  # fmt: skip

TEXT = "Fever, aspirin, a cold, low temperature, gait, sign, odd thing."


def pipeline(assets, **config):
    return finder(assets, **{"leave_out": [], **config})


def labels(nlp, text=TEXT):
    return {ent.text: ent.label_ for ent in nlp(text).ents}


BY_GROUP = {
    "Fever": "DISO", "aspirin": "CHEM", "cold": "DISO", "low temperature": "PHEN",
    "gait": "CONCEPT", "sign": "CONC", "odd thing": "CONCEPT",
}  # fmt: skip
BY_TYPE = {
    "Fever": "T184", "aspirin": "T109", "cold": "T047", "low temperature": "T070",
    "gait": "CONCEPT", "sign": "T033", "odd thing": "Home-made",
}  # fmt: skip


def test_by_default_one_label(assets):
    assert set(labels(pipeline(assets)).values()) == {"CONCEPT"}


def test_semantic_groups_and_types(assets):
    assert labels(pipeline(assets, label="group")) == BY_GROUP
    assert labels(pipeline(assets, label="type")) == BY_TYPE
    assert labels(pipeline(assets, label="group"))["gait"] == "CONCEPT"


def test_in_span_groups(assets):
    nlp = pipeline(assets, label="group", spans_key="sc")
    doc = nlp("Fever, gait")
    assert [(one.text, one.label_) for one in doc.spans["sc"]] == [
        ("Fever", "DISO"), ("gait", "CONCEPT"),
    ]  # fmt: skip
    finder = nlp.get_pipe("medical_mentions")
    assert [one.label_ for one in finder.find(doc)] == ["DISO", "CONCEPT"]


def test_with_a_choice_and_in_any_order(assets):
    nlp = pipeline(assets, label="group", types=["PHEN", "CHEM"])
    assert labels(nlp, "a cold, temperature low") == {"cold": "PHEN", "temperature low": "PHEN"}


@pytest.mark.parametrize("saved_with", [{}, {"label": "type"}])
def test_a_saved_dictionary_with_other_facts_says_so(assets, tmp_path, saved_with):
    nlp = pipeline(assets, types=["DISO"], **saved_with)
    nlp.to_disk(tmp_path / "saved")
    config = {"components": {"medical_mentions": {"label": "group"}}}
    copy = spacy.blank("en")
    copy.add_pipe("medical_mentions", config=config["components"]["medical_mentions"])
    for other in (
        spacy.load(tmp_path / "saved", config=config), copy.from_bytes(nlp.to_bytes()),
    ):  # fmt: skip
        with pytest.raises(MedlinkError, match=r"E302.*label.*group"):
            other(TEXT)


DAMAGED = {
    **{f"labels {text!r}": ("labels", np.frombuffer(text, np.uint8))
       for text in (b"", b"[]", b"{}", b"[" * 100_000, b'{"labels": 1, "by": null}')},
    "another source": ("labels", np.frombuffer(b'{"labels": [""], "by": "name"}', np.uint8)),
    "fewer labels than names": ("label", np.zeros(2, np.uint16)),
    "a label that is not there": ("label", np.full(8, 99, np.uint16)),
    "another type": ("concept", np.zeros(8, np.int64)),
    "not as many as names": ("allowed", np.ones(3, np.bool_)),
    "not as many as concepts": ("general", np.ones(3, np.bool_)),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_facts(assets, tmp_path, name):
    pipeline(assets, label="group").to_disk(tmp_path / "saved")
    file, array = DAMAGED[name]
    path = tmp_path / "saved" / "medical_mentions" / "exact" / f"{file}.npy"
    assert len(np.load(path)) != 3
    refused(path, array, lambda: spacy.load(tmp_path / "saved")(TEXT))


def test_other_assets_have_other_labels(assets, tmp_path):
    physiologic = Concept("D1", "fever", (Name("fever"),), types=("T040",))  # a function, here
    other = assets_of(tmp_path, [physiologic])
    nlp = pipeline(assets, label="group")
    assert labels(nlp, "fever") == {"fever": "DISO"}
    nlp.get_pipe("medical_mentions").use(other.path)
    assert labels(nlp, "fever") == {"fever": "PHYS"}


def test_no_labels_and_no_rows(assets):
    facts = NameFacts.of(assets, None, Choice(), "en")
    assert facts.label([0, 1]) == "" and facts.label([]) == ""
    assert facts.count_concepts([]) == 0 and facts.count_concepts([0, 1]) == 1
