"""The ranker in its place: before the reranker, never above corrections, the same every time."""

import json

import numpy as np
import pytest

from spacy_medlink.kb.schema import kb_fingerprint
from spacy_medlink.linking.facts import name_facts
from spacy_medlink.linking.linear import LinearModel
from spacy_medlink.linking.ranker import (
    RANKER,
    RANKER_FEATURES,
    CandidateRanker,
    Chain,
    softmax,
)
from spacy_medlink.linking.reranking import RERANK, Reranker
from spacy_medlink.retrieval.memory import MentionMemory, Remembered
from spacy_medlink.types import Mention
from tests.complete_assets import random_cross_encoder

MENTIONS = [Mention(text) for text in ("sugar", "hart attak", "", "PE", "fever and chills")]


@pytest.fixture(scope="module")
def ranker(tiny_assets):
    """Likes what the n-gram tier likes, and dislikes preferred names."""
    weights = np.zeros(len(RANKER_FEATURES))
    weights[RANKER_FEATURES.index("ngram")] = 2.0
    weights[RANKER_FEATURES.index("preferred")] = -3.0
    model = LinearModel.of(RANKER_FEATURES, 0.0, 1.0, weights)
    concepts = tiny_assets.kb.name_concepts()
    return CandidateRanker(model, name_facts(tiny_assets.kb, concepts), top=4)


@pytest.fixture(scope="module")
def reranker(tiny_assets, tiny_encoder):
    kb = kb_fingerprint(tiny_assets.manifest["kb"])
    made = random_cross_encoder(tiny_encoder, 1, kb=kb, top=3, weight=0.5)
    return Reranker(made, tiny_assets.kb)


def ids(ranking):
    return [one.row for one in ranking]


def test_what_the_model_likes_comes_first(ranker, tiny_assets):
    (before,) = tiny_assets.engine().rank(MENTIONS[:1], 6)
    (after,) = tiny_assets.engine(rescorer=ranker).rank(MENTIONS[:1], 6)
    assert sorted(ids(after[:4])) == sorted(ids(before[:4])) and ids(after[4:]) == ids(before[4:])
    assert ids(after) != ids(before)
    by_word = sorted(after[:4], key=lambda one: one.ranks[RANKER])
    assert by_word[0].scores[RANKER] == max(one.scores[RANKER] for one in after[:4])
    assert sum(one.scores[RANKER] for one in after[:4]) == pytest.approx(1)
    assert all(RANKER not in one.scores for one in before), "what is shared was changed"


def test_corrections_stay_first(ranker, tiny_assets):
    (before,) = tiny_assets.engine().rank(MENTIONS[:1], 6)
    last = tiny_assets.kb.concept_at(before[-1].row)
    memory = MentionMemory.of([Remembered("sugar", "", last.id, 1, 1)], {last.id: last.row})
    (after,) = tiny_assets.engine(rescorer=ranker, memory=memory).rank(MENTIONS[:1], 6)
    assert after[0].row == last.row and RANKER not in after[0].scores
    assert RANKER in after[1].scores


def test_the_reranker_reads_what_the_ranker_puts_first(ranker, reranker, tiny_assets):
    chain = Chain([ranker, reranker])
    assert (chain.top, chain.reads_context) == (4, True)
    (ranked,) = tiny_assets.engine(rescorer=ranker).rank(MENTIONS[:1], 6)
    (both,) = tiny_assets.engine(rescorer=chain).rank(MENTIONS[:1], 6)
    assert {one.row for one in both if RERANK in one.scores} == set(ids(ranked[:3]))
    assert ranker.fingerprint in chain.fingerprint and reranker.fingerprint in chain.fingerprint


def test_of_names_it_leaves_names_alone(ranker, tiny_assets):
    mentions = [Mention("heart attack"), Mention("hart attak")]
    plain = tiny_assets.engine(rescorer=None).rank(mentions, 6)
    facts = name_facts(tiny_assets.kb, tiny_assets.kb.name_concepts())
    of_names = CandidateRanker(ranker.model, facts, 4, on_names=True)
    named, other = of_names.rescore(mentions, plain)
    assert named == plain[0] and other == ranker.rescore(mentions, plain)[1] != plain[1]


def test_softmax_of_nothing_and_of_much():
    assert len(softmax(np.zeros(0))) == 0
    assert softmax(np.array([1e9, -1e9])).tolist() == [1.0, 0.0]


def test_the_file_says_what_it_always_said(ranker, tmp_path):
    ranker.save(tmp_path / "ranker.json")
    stored = json.loads((tmp_path / "ranker.json").read_text(encoding="utf-8"))
    assert stored["format"] == 6
    assert stored["features"] == [
        "score", "behind", "place", "ngram", "dense", "ngram, ngram", "ngram, dense",
        "dense, ngram", "dense, dense", "exact", "spelling", "relative length", "added",
        "missing", "numbers", "last word", "preferred", "is preferred", "names", "seen", "often",
        "scheme",
    ]  # fmt: skip
    numbers = {"mean", "scale", "weights"}
    assert stored.keys() == {"format", "features", "top", "fitted_for", "on_names", *numbers}
    assert {len(stored[name]) for name in numbers} == {len(stored["features"])}
