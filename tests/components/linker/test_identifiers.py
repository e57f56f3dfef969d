"""Identifiers that documents write: what they decide, and what decides in spite of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from spacy.language import Language

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.kb import build_kb
from spacy_medlink.types import Candidate, Concept
from tests import pipelines
from tests.pipelines import doc_with
from tests.tables import table
from tests.tiny import TINY_RECORDS

EFFUSION, EMBOLISM = "HP:0001698", "HP:0002204"  # both may be called PE


def pipeline(assets: Assets, mentions: bool = True, **config: Any) -> Language:
    """Make a pipeline without the lexicon of the package, which says what PE means."""
    return pipelines.pipeline(assets, mentions, **{"lexicon": None, **config})


@table(__file__, "what_a_document_identifies_is_linked")
def test_what_a_document_identifies_is_linked(tiny_assets: Assets, text: str, id: str) -> None:
    nlp = pipeline(tiny_assets, mentions=False)
    (ent,) = nlp(doc_with(nlp, text, "PE")).ents
    assert ent.kb_id_ == id
    assert ("identifier" in ent._.candidates[0]["scores"]) == (id in text or "C0034065" in text)
    assert not (ent._.ambiguous and "identifier" in ent._.candidates[0]["scores"])


def test_other_mentions_of_the_same_mean_it_too(tiny_assets: Assets) -> None:
    nlp = pipeline(tiny_assets)
    doc = nlp("A PE (HP:0002204) was seen. The PE was small. No fever.")
    assert [ent.kb_id_ for ent in doc.ents] == [EMBOLISM, EMBOLISM, "HP:0001945"]
    alone, again = nlp.pipe(["The PE was small.", "A PE (HP:0002204)."])
    assert [alone.ents[0].kb_id_, again.ents[0].kb_id_] == [EFFUSION, EMBOLISM]
    linker = nlp.get_pipe("medical_linker")
    assert [link.id for link in linker.link_spans(doc, doc.ents[1:2])] == [EMBOLISM]


def test_it_needs_no_threshold(tiny_assets: Assets) -> None:
    text = "typ diabetes (HP:0005978) and typ diabetes"
    allow = ["HP:0000819", "HP:0005978", "HP:0100651"]
    nlp = pipeline(tiny_assets, mentions=False, top_k=1, allow=allow, threshold=0.999)
    for written, link in ((text, "HP:0005978"), ("typ diabetes", "NIL")):
        (ent,) = nlp(doc_with(nlp, written, "typ diabetes")).ents
        assert (ent.kb_id_, len(ent._.candidates)) == (link, 1)


def test_filters_go_before_it(tiny_assets: Assets) -> None:
    nlp = pipeline(tiny_assets, deny=[EMBOLISM])
    assert [ent.kb_id_ for ent in nlp("A PE (HP:0002204).").ents] == [EFFUSION]


def test_what_it_identifies_is_not_taken_apart(tiny_assets: Assets) -> None:
    nlp = pipeline(tiny_assets, mentions=False, composite=True)
    text = "fever and headache (HP:0002315)"
    (ent,) = nlp(doc_with(nlp, text, "fever and headache")).ents
    assert (ent.kb_id_, ent._.parts) == ("HP:0002315", [])


def test_the_explanation_says_it(tiny_assets: Assets) -> None:
    nlp = pipeline(tiny_assets, mentions=False)
    doc = nlp(doc_with(nlp, "A PE (UMLS C0034065).", "PE"))
    found = nlp.get_pipe("medical_linker").explain(doc.ents[0])
    assert (found.link["id"], found.identifiers) == (EMBOLISM, ["UMLS:C0034065"])
    assert found.runner_up and found.runner_up["decided"] == "identifier"
    assert "the document writes UMLS:C0034065" in str(found)
    assert "decided: the document writes its identifier" in str(found)
    assert found.candidates[0]["tiers"]["identifier"] == {"score": 1.0}


def test_a_mention_of_a_discarded_label_has_its_own_code(tiny_assets: Assets) -> None:
    nlp = pipeline(tiny_assets, mentions=False, labels_discard=["SYMPTOM"])
    text = "hypertension, headache (HP:0002315)"
    doc = doc_with(nlp, text, "hypertension")
    doc.set_ents([*doc.ents, doc.char_span(14, 22, label="SYMPTOM")])
    assert [ent.kb_id_ for ent in nlp(doc).ents] == ["HP:0000822", ""]


def test_all_tiers_are_asked_for_what_is_identified(tiny_assets: Assets) -> None:
    nlp = pipeline(tiny_assets, exact_first=True)
    assert [ent.kb_id_ for ent in nlp("diabetes mellitus (HP:0005978)").ents] == ["HP:0005978"]


def test_what_is_identified_is_better_than_what_another_linker_said(tiny_assets: Assets) -> None:
    nlp = pipeline(tiny_assets)
    config = {"assets": str(tiny_assets.path), "prefix": "b_", "merge": "better"}
    nlp.add_pipe("medical_linker", "second", config=config)
    first = nlp.get_pipe("medical_linker")
    first._engine = first.engine.with_parts(identifiers_of=None)
    assert [ent.kb_id_ for ent in nlp("A PE (HP:0002204).").ents] == [EMBOLISM]


def test_what_is_identified_stays_when_another_linker_scores_more(tiny_assets: Assets) -> None:
    nlp = pipeline(tiny_assets)
    config = {"assets": str(tiny_assets.path), "prefix": "b_", "merge": "better"}
    nlp.add_pipe("medical_linker", "second", config=config)
    first, second = nlp.get_pipe("medical_linker"), nlp.get_pipe("second")
    second._engine = second.engine.with_parts(rescorer=_Raised(), identifiers_of=None)
    assert first.engine.parts.rescorer is None
    assert [ent.kb_id_ for ent in nlp("A PE (HP:0002204).").ents] == [EMBOLISM]


class _Raised:
    top, reads_context, fingerprint = 0, False, ""

    def rescore(
        self, mentions: object, rankings: list[list[Candidate]], every: bool = False
    ) -> list[list[Candidate]]:
        return [[replace(one, score=one.score + 1) for one in own] for own in rankings]


def test_a_code_of_several_concepts_leaves_them_tied(tmp_path: Path) -> None:
    records = [
        record if record.id not in (EFFUSION, EMBOLISM)
        else replace(record, codes={**record.codes, "ICD10CM": ("R99.9",)})
        for record in TINY_RECORDS if isinstance(record, Concept)
    ]  # fmt: skip
    build_kb(tmp_path / "kb.sqlite", records)
    # Without a lexicon, what only resembles the mention is among the candidates.
    assets = build_assets(tmp_path / "assets", tmp_path / "kb.sqlite")
    nlp = pipeline(assets, mentions=False, lexicon=None)
    (ent,) = nlp(doc_with(nlp, "A PE (ICD-10 R99.9).", "PE")).ents
    assert ent._.ambiguous == [EFFUSION, EMBOLISM]
    assert [one["scores"].get("identifier") for one in ent._.candidates[:3]] == [0.5, 0.5, None]
    nlp.get_pipe("medical_linker").threshold = 1.0
    text = "pericardial embolism (ICD-10 R99.9)"
    (ent,) = nlp(doc_with(nlp, text, "pericardial embolism")).ents
    assert (ent.kb_id_, ent._.candidates[0]["id"]) == ("NIL", EMBOLISM)
    assert {one["id"] for one in ent._.candidates[:2]} == {EMBOLISM, EFFUSION}
