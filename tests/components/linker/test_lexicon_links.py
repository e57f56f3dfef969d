"""What a lexicon decides is what is linked, and found."""

import pytest
import spacy

from spacy_medlink.assets import build_assets
from spacy_medlink.components.linker.settings import DEFAULT_CONFIG
from spacy_medlink.kb import build_kb
from tests.pipelines import doc_with, pipeline
from tests.tables import table
from tests.tiny import concept

RECORDS = [
    concept("T:1", "Hypertension", "High blood pressure"),
    concept("T:2", "Knuckle pad"),
    concept("T:3", "Dyspnea", "Shortness of breath"),
    concept("T:4", "Multiple sclerosis"),
    concept("T:5", "Mitral stenosis", "MS"),
    concept("T:6", "Rheumatoid arthritis", "RA"),
    concept("T:7", "Air embolism", "Room airs on high"),
    concept("T:8", "Deep venous thrombosis"), concept("T:9", "Myocardial infarction"),
    concept("T:10", "Congenital hepatic fibrosis"), concept("T:11", "Hypertensive HTN pad"),
    concept("T:12", "Ultrasound"), concept("T:13", "Atrial fibrillation"),
    concept("T:14", "Huntington disease"),
]  # fmt: skip


def found(assets, text, **config):
    return [(ent.text, ent.kb_id_) for ent in pipeline(assets, **config)(text).ents]


def linked(assets, text, *ents, **config):
    nlp = pipeline(assets, mentions=False, **config)
    return [ent.kb_id_ for ent in nlp(doc_with(nlp, text, *ents)).ents]


def test_it_is_the_default_where_there_is_one(assets):
    assert DEFAULT_CONFIG["lexicon"] == "clinical"
    assert linked(assets, "HTN", "HTN") == ["T:1"]
    assert linked(assets, "HTN", "HTN", lexicon=None, threshold=0.0) == ["T:11"]
    nlp = spacy.blank("it")
    nlp.add_pipe("medical_linker", config={"assets": str(assets.path)})
    assert len(nlp.get_pipe("medical_linker").abbreviations) == 0
    nlp = spacy.blank("de")
    nlp.add_pipe("medical_linker", config={"assets": str(assets.path)})
    assert nlp.get_pipe("medical_linker").abbreviations.sense("HWI") is not None


@table(__file__, "a_decided_meaning_takes_the_place_of_the_text")
def test_a_decided_meaning_takes_the_place_of_the_text(assets, text, short, id):
    assert linked(assets, text, short) == [id]


def test_what_the_document_says_goes_before(assets):
    assert linked(assets, "Huntington disease (MS). The MS.", "MS") == ["T:4"]  # no definition
    assert linked(assets, "Room airs on high (RA) and more RA.", "RA") == ["T:7"]
    # What mentions imply is heard where the lexicon does not decide.
    text = "Adrenal artery stenosis odd. " + "x " * 60 + "RAS and HD. Huntington disease."
    assert linked(assets, text, "HD") == ["T:14"]  # one of its meanings is spelled out
    nlp = pipeline(assets, mentions=False)
    doc = doc_with(nlp, "Peptic knot disorder. " + "x " * 60 + "PKD", "Peptic knot disorder", "PKD")
    assert nlp.get_pipe("medical_linker").mentions(doc)[1].long_form == ""
    doc = doc_with(nlp, "Pelvic inner drop. " + "x " * 60 + "PID", "Pelvic inner drop", "PID")
    assert nlp.get_pipe("medical_linker").mentions(doc)[1].long_form == "Pelvic inner drop"


def test_explanations_say_so(assets):
    linker = pipeline(assets).get_pipe("medical_linker")
    forms = [(one["text"], one["as_name"], one["kept"]) for one in linker.explain("HTN").forms]
    assert (forms[0], forms[-1]) == (("hypertension", False, True), ("HTN", True, False))
    assert "as a name alone" in str(linker.explain("HTN"))


def test_a_name_that_says_the_same_counts_as_the_same_string(assets):
    linker = pipeline(assets, tiers=["exact"], calibrator=False).get_pipe("medical_linker")
    best = {text: linker.link_texts([text])[0].candidates[0] for text in ("RA", "HTN")}
    assert (best["RA"].id, best["RA"].score) == ("T:6", pytest.approx(1))
    assert (best["HTN"].matched, best["HTN"].score) == ("Hypertension", pytest.approx(1))


def test_corrections_go_before_a_lexicon(tmp_path):
    build_kb(tmp_path / "t.kb", iter(RECORDS))
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"mention": "HTN", "ids": ["T:2"]}\n' * 3)
    assets = build_assets(tmp_path / "assets", tmp_path / "t.kb", memory=[gold])
    assert linked(assets, "HTN", "HTN") == ["T:2"]


@table(__file__, "short_forms_are_found")
def test_short_forms_are_found(assets, text, ents):
    assert found(assets, text) == ents


def test_without_a_lexicon_they_are_not(assets):
    assert found(assets, "SOB, HTN and MS", lexicon=None) == [("MS", "T:5")]


def test_a_lexicon_of_ones_own_beside_it(assets, tmp_path):
    path = tmp_path / "own.tsv"
    path.write_text("RA\tknuckle pad\nKP | kp\tknuckle pad\n")
    config = {"lexicon": ["clinical", str(path)]}
    assert found(assets, "RA, KP and HTN", **config) == [
        ("RA", "T:2"), ("KP", "T:2"), ("HTN", "T:1"),
    ]  # fmt: skip
