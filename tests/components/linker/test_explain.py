"""Explanations: every fact of them, as data and as text."""

import json

import pytest

from tests.pipelines import doc_with, pipeline


@pytest.fixture(scope="module")
def explain(tiny_assets):
    def explained(text, ent, label="DISEASE", filters=None, **config):
        # The lexicon of the package says what PE means.
        nlp = pipeline(tiny_assets, mentions=False, lexicon=None, **config)
        doc = nlp(doc_with(nlp, text, ent, label=label))
        explanation = nlp.get_pipe("medical_linker").explain(doc.ents[0], **(filters or {}))
        if not filters:
            assert explanation.link["id"] == doc.ents[0].kb_id_
        assert json.loads(json.dumps(explanation.as_dict())) == explanation.as_dict()
        return explanation

    return explained


def test_matched_name_tiers_and_runner_up(explain, tiny_kb):
    found = explain("had a Herzinfarkt", "Herzinfarkt")
    first = found.candidates[0]
    assert first["matched"] == {"text": "Herzinfarkt", "lang": "de", "source": "LOCAL", "tty": "SY"}
    assert first["tiers"].keys() == {"exact", "ngram", "dense"}
    assert first["tiers"]["exact"] == {"score": 1.0, "rank": 1}
    second = found.candidates[1]
    assert "rank" not in second["tiers"]["exact"]
    assert found.runner_up["id"] == second["id"]
    assert found.runner_up["margin"] == pytest.approx(first["score"] - second["score"], abs=2e-4)
    text = str(found)
    assert text.startswith("Herzinfarkt [DISEASE] -> HP:0001658 Myocardial infarction\n")
    assert "matched 'Herzinfarkt' (de, LOCAL, SY)" in text
    assert "exact 1.0000 (rank 1)" in text
    assert f"runner-up {second['id']}" in text


def test_the_abbreviation_that_was_used(explain):
    found = explain("A pulmonary embolism (PE), large.", "PE")
    assert [(form["text"], form["why"], form["kept"]) for form in found.forms] == [
        ("pulmonary embolism", "the document spells it out", True), ("PE", "the mention", False),
    ]  # fmt: skip
    assert "form 'pulmonary embolism' (the document spells it out): best HP:0002204" in str(found)


def test_what_filters_removed(explain, tiny_kb):
    found = explain("the PE", "PE", types=["T047"])
    assert found.filters["given"] == "types: T047"
    assert found.filters["passing"] < found.filters["names"] == tiny_kb.n_names
    assert found.filters["removed"][0]["id"] == "HP:0001698"
    assert "removed HP:0001698 Pericardial effusion" in str(found)
    called = explain("the PE", "PE", filters={"deny": ["HP:0001698"]})
    assert called.link["id"] == "HP:0002204"
    assert explain("the PE", "PE").filters["removed"] == []


def test_the_reason_of_ties(explain):
    found = explain("the PE", "PE", label="X")
    assert found.tied == ["HP:0001698", "HP:0002204"]
    assert found.runner_up["decided"] == "id"
    assert "decided: nothing but the order of ids" in str(found)


def test_nil_and_composite(explain):
    found = explain("fevr", "fevr", threshold=0.999)
    assert found.link == {"id": "NIL", "name": "", "reason": "below the threshold"}
    assert str(found).startswith("fevr [DISEASE] -> NIL: below the threshold")
    parts = explain("fever and headache", "fever and headache", composite=True)
    assert [part["id"] for part in parts.parts] == ["HP:0001945", "HP:0002315"]
    assert "composite mention" in str(parts)


@pytest.mark.parametrize("text", ["", " ", "x" * 10_000, "a\nb", "😀"])
def test_any_text(tiny_assets, text):
    nlp = pipeline(tiny_assets)
    explanation = nlp.get_pipe("medical_linker").explain(text)
    assert str(explanation).count("\n") < 40
    assert explanation.as_dict()["mention"] == text
