"""Several linkers in one pipeline: prefixes, terminologies, and whose link is the entity's."""

import pytest
import spacy
from spacy.tokens import Span
from spacy.training import Example

from spacy_medlink.annotate.records import record_of_link
from spacy_medlink.components.pipelines import linker_of
from spacy_medlink.errors import MedlinkError
from tests.pipelines import doc_with, pipeline
from tests.tiny import assets_of, concepts_of

ATTACK, FEVER = "HP:0001658", "HP:0001945"


@pytest.fixture(scope="module")
def icd(tmp_path_factory):
    """Assets over another terminology: it knows the heart attack better, and no fever."""
    named = {
        "I21": ["Acute myocardial infarction", "acute heart attack"], "J45": "Asthma",
        "I10": "Essential hypertension",
    }  # fmt: skip
    return assets_of(tmp_path_factory.mktemp("icd"), concepts_of(named))


def two_linkers(tiny_assets, icd, **second):
    nlp = pipeline(tiny_assets, mentions=False)
    config = {"assets": str(icd.path), "prefix": "icd_", **second}
    nlp.add_pipe("medical_linker", name="icd", config=config)
    return nlp


def linked(nlp, *ents, text="acute heart attack, asthma; fever"):
    return nlp(doc_with(nlp, text, *ents)).ents


def test_each_has_its_own_attributes(tiny_assets, icd):
    nlp = two_linkers(tiny_assets, icd)
    (ent,) = linked(nlp, "acute heart attack")
    assert (ent._.cui, ent._.icd_cui) == (ATTACK, "I21")
    assert ent._.icd_candidates[0]["matched"] == "acute heart attack"
    assert nlp.get_pipe("icd").kb.n_names < nlp.get_pipe("medical_linker").kb.n_names


# The threshold makes NIL of what the second terminology does not hold.
MERGED = {
    "replace": ["I21", "J45", "NIL"],
    "fill": [ATTACK, "HP:0002099", FEVER],
    "better": ["I21", "HP:0002099", FEVER],
    "leave": [ATTACK, "HP:0002099", FEVER],
}


@pytest.mark.parametrize("merge", MERGED)
@pytest.mark.parametrize("spans_key", [None, "sc"])
def test_whose_link_is_the_entitys(tiny_assets, icd, merge, spans_key):
    nlp = pipeline(tiny_assets, mentions=False, tiers=["exact", "ngram"], spans_key=spans_key)
    config = {
        "assets": str(icd.path), "prefix": "icd_", "merge": merge, "threshold": 0.7,
        "spans_key": spans_key,
    }  # fmt: skip
    nlp.add_pipe("medical_linker", name="icd", config=config)
    doc = doc_with(
        nlp, "acute heart attack, Asthma; fever", "acute heart attack", "Asthma", "fever"
    )
    if spans_key:
        doc.spans["sc"] = list(doc.ents)
    doc = nlp(doc)
    spans = doc.spans["sc"] if spans_key else doc.ents
    assert [span.kb_id_ for span in spans] == MERGED[merge]
    assert [span._.icd_cui for span in spans] == ["I21", "J45", None], "written in any case"
    assert [span._.cui for span in spans] == [ATTACK, "HP:0002099", FEVER]


@pytest.mark.parametrize("first", ["", "hpo_"])
@pytest.mark.parametrize("spans_key", [None, "sc"])
def test_a_linker_with_a_prefix_leaves_the_kb_id_alone(tiny_assets, icd, first, spans_key):
    """Also where the first one says NIL; and none is lost where no linker is without a prefix."""
    nlp = pipeline(
        tiny_assets, mentions=False, prefix=first, deny=["HP:0002099"], spans_key=spans_key
    )
    config = {"assets": str(icd.path), "prefix": "icd_", "spans_key": spans_key}
    nlp.add_pipe("medical_linker", name="icd", config=config)
    doc = doc_with(nlp, "acute heart attack, asthma", "acute heart attack", "asthma")
    doc.spans["sc"] = list(doc.ents)
    doc = nlp(doc)
    spans = doc.spans["sc"] if spans_key else doc.ents
    assert [span.kb_id_ for span in spans] == [ATTACK, "NIL"]
    assert [span._.icd_cui for span in spans] == ["I21", "J45"]
    assert linker_of(nlp).prefix == first
    records = [record_of_link(span, first) for span in spans]
    assert [(one["ids"], one["cui"]) for one in records] == [([ATTACK], ATTACK), ([], None)]


def test_the_linker_with_a_prefix_may_come_first(tiny_assets, icd):
    nlp = pipeline(icd, mentions=False, prefix="icd_")
    nlp.add_pipe("medical_linker", name="hpo", config={"assets": str(tiny_assets.path)})
    (ent,) = linked(nlp, "acute heart attack")
    assert (ent.kb_id_, ent._.cui, ent._.icd_cui) == (ATTACK, ATTACK, "I21")
    assert linker_of(nlp).name == "hpo"


def test_a_record_speaks_of_the_link_that_the_entity_has(tiny_assets, icd):
    """Where links of two linkers are merged, name and codes are those of the `kb_id`."""
    nlp = two_linkers(tiny_assets, icd, merge="better", threshold=0.7)
    found = linked(nlp, "acute heart attack", "fever")
    records = [record_of_link(ent, linker_of(nlp).prefix) for ent in found]
    assert [(one["ids"], one["cui"]) for one in records] == [(["I21"], "I21"), ([FEVER], FEVER)]
    assert [one["name"] for one in records] == ["Acute myocardial infarction", "Fever"]
    assert [one["matched"].lower() for one in records] == ["acute heart attack", "fever"]


def test_the_scores_of_a_linker_are_those_of_its_own_links(tiny_assets, icd):
    nlp = two_linkers(tiny_assets, icd)
    predicted = doc_with(nlp, "acute heart attack", "acute heart attack")
    reference = predicted.copy()
    reference.set_ents([Span(reference, 0, 3, label="DISEASE", kb_id="I21")])
    for _, proc in nlp.pipeline:
        predicted = proc(predicted)
    scores = nlp.get_pipe("icd").score([Example(predicted, reference)])
    assert scores["nel_micro_f"] == 1


def test_better_leaves_links_that_no_linker_made(tiny_assets):
    nlp = pipeline(tiny_assets, mentions=False, merge="better")
    doc = nlp.make_doc("fever asthma")
    doc.set_ents([Span(doc, 0, 1, label="X", kb_id="Q1"), Span(doc, 1, 2, label="X", kb_id="NIL")])
    assert [ent.kb_id_ for ent in nlp(doc).ents] == ["Q1", "HP:0002099"]


def test_each_takes_its_own_labels(tiny_assets, icd):
    """Linkers that share the work by label need no merging."""
    nlp = pipeline(tiny_assets, mentions=False, labels_discard=["ICD"])
    config = {"assets": str(icd.path), "prefix": "icd_", "labels_discard": ["HPO"]}
    nlp.add_pipe("medical_linker", name="icd", config=config)
    doc = nlp.make_doc("fever, asthma")
    doc.set_ents([Span(doc, 0, 1, label="HPO"), Span(doc, 2, 3, label="ICD")])
    doc = nlp(doc)
    assert [ent.kb_id_ for ent in doc.ents] == [FEVER, "J45"]
    assert [ent._.icd_cui for ent in doc.ents] == [None, "J45"]


def test_one_prefix_for_two_is_refused(tiny_assets, icd):
    nlp = pipeline(tiny_assets, mentions=False, prefix="x_")
    config = {"assets": str(icd.path), "prefix": "x_"}
    with pytest.raises(MedlinkError, match=r"E308.*second.*'x_'.*medical_linker") as caught:
        nlp.add_pipe("medical_linker", name="second", config=config)
    assert "another `prefix`" in str(caught.value)
    assert nlp.pipe_names == ["medical_linker"]
    nlp.add_pipe("medical_linker", name="second", config={**config, "prefix": "y_"})


def test_a_sourced_linker_with_a_prefix_that_is_taken(tiny_assets, icd):
    nlp = pipeline(tiny_assets, mentions=False)
    nlp.add_pipe("medical_linker", name="second", source=pipeline(icd))
    with pytest.raises(MedlinkError, match="E308"):
        nlp.initialize()


def test_a_saved_pipeline_whose_linkers_share_a_prefix(tiny_assets, icd, tmp_path):
    """spaCy asks no component when another is sourced: loading what was saved so is refused."""
    nlp = pipeline(tiny_assets, mentions=False, prefix="x_")
    nlp.add_pipe("medical_linker", name="second", source=pipeline(icd, prefix="x_"))
    nlp.to_disk(tmp_path / "saved")
    with pytest.raises(MedlinkError, match=r"E308.*second.*'x_'.*another `prefix`"):
        spacy.load(tmp_path / "saved")
    prefix = {"components": {"second": {"prefix": "icd_"}}}
    (ent,) = linked(spacy.load(tmp_path / "saved", config=prefix), "asthma")
    assert (ent._.x_cui, ent._.icd_cui) == ("HP:0002099", "J45")


def test_a_linker_can_be_replaced_and_renamed(tiny_assets, icd):
    nlp = pipeline(tiny_assets, mentions=False)
    nlp.replace_pipe("medical_linker", "medical_linker", config={"assets": str(icd.path)})
    nlp.rename_pipe("medical_linker", "icd")
    nlp.initialize()
    (ent,) = linked(nlp, "asthma")
    assert ent.kb_id_ == "J45"
