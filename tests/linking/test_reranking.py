"""The reranker in its place: blended, never above corrections, refused where it does not belong."""

import shutil

import numpy as np
import pytest
import spacy

from spacy_medlink.assets import Assets
from spacy_medlink.assets.reranker import leave_out_reranker, store_reranker
from spacy_medlink.encoders.cross_encoder import CrossEncoder
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.kb.schema import kb_fingerprint
from spacy_medlink.linking.gate import ahead
from spacy_medlink.linking.reranking import CandidateTexts, Reranker, activated
from spacy_medlink.types import Candidate, Concept, Mention, Name
from tests.complete_assets import random_cross_encoder

PE = Mention("PE", left="clot in the lung,")
OTHER = Mention("PE", left="water around the heart,")


@pytest.fixture
def cross(tiny_assets, tiny_encoder):
    kb = kb_fingerprint(tiny_assets.manifest["kb"])
    return random_cross_encoder(tiny_encoder, 1, kb=kb, top=4, weight=0.5)


@pytest.fixture
def plain(tiny_assets):
    return tiny_assets.engine()


def ids(ranking):
    return [one.row for one in ranking]


def test_scores_are_blended_and_what_is_beyond_keeps_its_order(cross, tiny_assets, plain):
    (before,) = plain.rank([PE], 8)
    (after,) = tiny_assets.engine(rescorer=Reranker(cross, tiny_assets.kb)).rank([PE], 8)
    assert sorted(ids(after[:4])) == sorted(ids(before[:4]))
    assert ids(after[4:]) == ids(before[4:])
    known = {one.row: one for one in before}
    for one in after[:4]:
        want = 0.5 * known[one.row].score + 0.5 * one.scores["rerank"]
        assert one.score == pytest.approx(want)
    assert sum(one.scores["rerank"] for one in after[:4]) == pytest.approx(1)
    assert sorted(one.ranks["rerank"] for one in after[:4]) == [1, 2, 3, 4]
    assert [one.score for one in after] == sorted((one.score for one in after), reverse=True)
    assert all("rerank" not in one.scores for one in before), "what is shared was changed"


def test_more_are_read_than_are_wanted(cross, tiny_assets):
    engine = tiny_assets.engine(rescorer=Reranker(cross, tiny_assets.kb))
    assert ids(engine.rank([PE], 1)[0]) == ids(engine.rank([PE], 8)[0])[:1]


@pytest.mark.parametrize(("types", "text"), [
    (("T047", "T033"), "heart attack ; Infarction ; T047"),
    (("T047", "T047"), "heart attack ; Infarction"),
])  # fmt: skip
def test_a_type_that_all_have_is_not_read(tmp_path, types, text):
    concepts = [
        Concept("C1", "Infarction", (Name("Infarction"), Name("heart attack")), types[:1]),
        Concept("C2", "Fever", (Name("Fever"),), types[1:]),
    ]
    build_kb(tmp_path / "kb", concepts)
    texts = CandidateTexts(KnowledgeBase(tmp_path / "kb"))
    assert texts.of(Candidate(0, 1, 1.0, {})) == text


def test_a_name_alone_is_read_where_the_settings_say_so(tiny_assets, cross):
    texts = CandidateTexts(tiny_assets.kb, "name")
    concept = tiny_assets.kb.concept_at(0)
    assert texts.of(Candidate(0, concept.first_name, 1.0, {})) == concept.names[0].text


def test_alone_a_cross_encoder_orders_however_near_its_scores_are(cross, tiny_assets):
    loud = Reranker(cross.using(weight=1.0, top=8), tiny_assets.kb)
    ranking = [Candidate(row, int(tiny_assets.kb.concept_at(row).first_name), 0.9 - row / 10, {})
               for row in range(8)]  # fmt: skip
    logits = np.array([8, 0, 0.1, 0.2, -1, -0.9, -0.8, 0.3], dtype=np.float32)  # as after softmax
    loud.read = lambda mentions, rankings: [logits]
    (after,) = loud.rescore([PE], [ranking])
    assert ids(after) == np.argsort(-logits).tolist()
    assert {one.score for one in after} == {one.scores["rerank"] for one in after}


def test_ties_are_told_apart_by_context_or_stay(cross, tiny_assets, plain):
    (tied,) = plain.rank([PE], 8)
    assert len(tied[0].tied) == 2
    (after,) = tiny_assets.engine(rescorer=Reranker(cross, tiny_assets.kb)).rank([PE], 8)
    assert after[0].tied == ()
    silent = cross.using(weight=0.0)
    (same,) = tiny_assets.engine(rescorer=Reranker(silent, tiny_assets.kb)).rank([PE], 8)
    assert ids(same) == ids(tied)
    assert same[0].tied == tied[0].tied
    assert [one.decided for one in same] == [one.decided for one in tied]


def test_corrections_are_not_overruled(cross, tiny_assets):
    loud = Reranker(cross.using(weight=1.0), tiny_assets.kb)
    for first in range(4):
        ranking = [Candidate(row, int(tiny_assets.kb.concept_at(row).first_name), 0.5, {})
                   for row in range(4)]  # fmt: skip
        ranking.insert(0, ranking.pop(first))
        ranking[0].score, ranking[0].scores = 1.0, {"memory": 1.0}
        (after,) = loud.rescore([PE], [ranking])
        assert after[0] == ranking[0]
        assert sorted(ids(after)) == [0, 1, 2, 3]


@pytest.mark.parametrize("activation", ["softmax", "softmax_nil", "sigmoid"])
def test_activations_keep_order_and_range(activation):
    logits = np.array([-900.0, -1.0, 0.0, 3.0, 900.0], dtype=np.float32)
    found = activated(logits, activation)
    assert (np.diff(found) >= 0).all() and (found >= 0).all() and (found <= 1).all()
    if activation == "softmax_nil":
        assert activated(logits[:2] - 9, activation).sum() < 0.01


def test_in_the_assets(cross, tiny_assets, tmp_path):
    made = store_reranker(tiny_assets, tmp_path / "new", cross, {"chosen_on": {"names": 3}})
    again = Assets(tmp_path / "new", verify=True)
    assert again.manifest["reranker"]["fingerprint"] == cross.fingerprint()
    assert made.manifest["reranker"]["top"] == 4
    engine = again.engine()
    assert engine.parts.rescorer.top == 4
    assert again.engine(rerank_top=2).parts.rescorer.top == 2
    assert again.engine(rerank_top=0).parts.rescorer is None
    assert again.engine(["exact"]).parts.rescorer is None
    want = tiny_assets.engine(rescorer=Reranker(cross, tiny_assets.kb)).rank([PE, OTHER], 5)
    assert [ids(own) for own in engine.rank([PE, OTHER], 5)] == [ids(own) for own in want]
    without = leave_out_reranker(again, tmp_path / "without", "it does not beat retrieval")
    assert without.reranker is None and not (without.path / "reranker").exists()
    assert without.manifest["left_out"]["reranker"] == "it does not beat retrieval"


@pytest.mark.parametrize(("change", "what"), [("encoder", "encoder"), ("kb", "knowledge base")])
def test_one_that_was_made_for_others_is_refused(cross, tiny_assets, tmp_path, change, what):
    with pytest.raises(MedlinkError, match=f"E214.*{what}"):
        store_reranker(tiny_assets, tmp_path / "new", cross.using(**{change: "other"}), {})
    made = store_reranker(tiny_assets, tmp_path / "new", cross, {})
    cross.using(**{change: "other"}).save(made.path / "reranker")
    with pytest.raises(MedlinkError, match=f"E214.*{what}"):
        _ = made.reranker


def test_one_that_was_exchanged_is_refused(cross, tiny_assets, tmp_path):
    made = store_reranker(tiny_assets, tmp_path / "new", cross, {})
    cross.using(weight=0.9).save(made.path / "reranker")
    with pytest.raises(MedlinkError, match="E204"):
        _ = made.reranker


def test_in_a_pipeline(cross, tiny_assets, tmp_path):
    made = store_reranker(tiny_assets, tmp_path / "new", cross, {})
    nlp = spacy.blank("en")
    linker = nlp.add_pipe("medical_linker", config={"assets": str(made.path), "top_k": 3})
    (link,) = linker.link_texts(["PE"])
    assert {"rerank"} <= set(link.candidates[0].scores)
    assert nlp.to_bytes()
    off = spacy.blank("en").add_pipe(
        "medical_linker", config={"assets": str(made.path), "rerank_top": 0, "calibrator": False}
    )
    assert "rerank" not in off.link_texts(["PE"])[0].candidates[0].scores


SURE = Mention("Herzinfarkt")


def gated(cross, assets, path, margin=0.05, **other):
    """Store a reranker with a gate."""
    conditions = assets.conditions(assets.engine(calibrator=False))
    gate = {"margin": margin, "fitted_for": {**conditions, **other}}
    return store_reranker(assets, path, cross, {"gate": gate})


def is_read(ranking):
    return ["rerank" in one.scores for one in ranking]


def test_what_passes_the_gate_is_not_read(cross, tiny_assets, plain, tmp_path):
    before, tied = plain.using(exact_first=False).rank([SURE, PE], 6)
    assert ahead(before) > 0.05 and ahead(tied) == 0
    engine = gated(cross, tiny_assets, tmp_path / "new").engine()
    after, read = engine.rank([SURE, PE], 6)
    assert is_read(after) == [False] * 6 and is_read(read) == [True] * 4 + [False] * 2
    assert ids(after) == ids(before) and after[0].score == before[0].score
    assert after[1].score == pytest.approx(before[1].score / 2), "as of one that was not read"
    # Every caller who wants them gets the readings, those that pipelines without a gate have.
    every = engine.using(exact_first=False).rank([SURE, PE], 6)
    want = tiny_assets.engine(rescorer=Reranker(cross, tiny_assets.kb)).rank([SURE, PE], 6)
    assert every == want and is_read(every[0]) == [True] * 4 + [False] * 2


def test_a_gate_in_a_saved_pipeline(cross, tiny_assets, tmp_path):
    made = gated(cross.using(weight=0.1), tiny_assets, tmp_path / "new")
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_linker", config={"assets": str(made.path)})
    nlp.to_disk(tmp_path / "saved")
    shutil.rmtree(made.path)
    again = spacy.load(tmp_path / "saved")
    doc = again.make_doc("Herzinfarkt and Heart failure .")
    doc.ents = [doc.char_span(0, 11, label="DISORDER"), doc.char_span(16, 29, label="DISORDER")]
    linker = again.get_pipe("medical_linker")
    sure, unsure = again(doc).ents
    assert ["rerank" in ent._.candidates[0]["scores"] for ent in (sure, unsure)] == [False, True]
    explained = linker.explain(sure)
    assert explained.reranked is False and "without the reranker" in str(explained)
    assert "rerank" in explained.candidates[0]["tiers"], "explained with all scores"
    assert linker.explain(unsure).reranked is True


@pytest.mark.parametrize("other", [{"encoder": "another"}, {"reranker": "a ranker"}])
def test_a_gate_of_another_order_stays_shut(cross, tiny_assets, tmp_path, other):
    made = gated(cross, tiny_assets, tmp_path / "new", **other)
    assert made.engine().parts.rescorer.gate is None
    old = store_reranker(tiny_assets, tmp_path / "old", cross, {})
    assert made.engine().parts.rescorer.fingerprint == old.engine().parts.rescorer.fingerprint
    fitting = gated(cross, tiny_assets, tmp_path / "fits").engine().parts.rescorer
    assert fitting.fingerprint != old.engine().parts.rescorer.fingerprint, (
        "its calibrator is another"
    )


@pytest.mark.parametrize("margin", ["wide", -1, None])
def test_a_damaged_gate_is_told(cross, tiny_assets, tmp_path, margin):
    with pytest.raises(MedlinkError, match=r"E202.*reranker\.gate\.margin"):
        gated(cross, tiny_assets, tmp_path / "new", margin=margin)


def test_what_was_read_in_a_stream_is_not_read_again(cross, tiny_assets, tmp_path, monkeypatch):
    made = store_reranker(tiny_assets, tmp_path / "new", cross, {})
    nlp = spacy.blank("en")
    nlp.add_pipe("medical_linker", config={"assets": str(made.path)})
    read, score = [], CrossEncoder.score

    def counted(self, pairs, *more):
        read.extend(pairs)
        return score(self, pairs, *more)

    monkeypatch.setattr(CrossEncoder, "score", counted)

    def docs(texts):
        for text in texts:
            doc = nlp.make_doc(text)
            doc.ents = [doc.char_span(4, 6, label="DISORDER")]
            yield doc

    first = list(nlp.pipe(docs(["The PE was seen."] * 3 + ["Old PE was gone."]), batch_size=1))
    assert len(read) == len(set(read)) and len({pair.mention for pair in read}) == 2
    count = len(read)
    again = list(nlp.pipe(docs(["Old PE was gone.", "The PE was seen."]), batch_size=2))
    assert len(read) == count > 2
    assert [doc.ents[0].kb_id_ for doc in again] == [doc.ents[0].kb_id_ for doc in first[:1:-1]]
