"""What need not be encoded, as memory and exact tier settle it, and what not be reranked."""

from math import inf

import pytest

from spacy_medlink.assets.overlaid import OverlaidAssets
from spacy_medlink.assets.variant import write_variant
from spacy_medlink.evaluation import load_gold
from spacy_medlink.fitting.folds import rank_unannotated
from spacy_medlink.kb.rules import Rule, Rules
from spacy_medlink.linking import Linker
from spacy_medlink.linking.gate import RerankGate, ahead, is_settled
from spacy_medlink.retrieval.filters import Filter
from spacy_medlink.types import Candidate, Mention
from tests.lines import write_lines
from tests.tiny import concept

CONDITIONS = {"tiers": ["dense", "exact"], "reranker": ""}
SYLLABLES = "ba da fo gi ka le mu no pa ri so tu va we".split()
KNOWN = [f"{a}{b} itis" for a in SYLLABLES for b in SYLLABLES]
TWINS = "Twin disease"
WEIGHTS = {"exact": 0.2, "ngram": 0.3, "dense": 0.5}


# 196 names, each of one concept, and one that two have.
RECORDS = [concept(f"C{n:04}", text) for n, text in enumerate([*KNOWN, TWINS, TWINS])]


@pytest.fixture(scope="module")
def linker(assets):
    return assets.engine(calibrator=False)


def candidate(row, exact, memory=0.0):
    return Candidate(row, row, 1.0, {"exact": exact, "memory": memory})


@pytest.mark.parametrize(
    ("answer", "settled"),
    [
        ([], False), ([candidate(1, 1.0)], True), ([candidate(1, 0.95)], True),
        ([candidate(1, 1.0), candidate(2, 0.95)], False),
        ([candidate(1, 0.0, 1.0), candidate(2, 1.0)], True),
    ],
)  # fmt: skip
def test_what_memory_and_exact_tier_settle(answer, settled):
    assert is_settled(answer) is settled


def rows(linker: Linker, *texts, **given):
    decided = linker.decide([Mention(text) for text in texts], **given)
    return [one.link.row if one.link else None for one in decided]


def test_names_of_one_concept_are_not_encoded(assets, linker, monkeypatch):
    asked, encode = [], assets.encoder.encode
    monkeypatch.setattr(
        assets.encoder, "encode", lambda texts, *args: asked.extend(texts) or encode(texts, *args)
    )
    monitored = linker.with_parts(encoder=assets.encoder)
    texts = [KNOWN[0], KNOWN[1].upper(), KNOWN[2].replace(" ", "-"), TWINS, "nothing like it"]
    found = rows(monitored, *texts)
    assert set(asked) == {TWINS, "nothing like it"}
    assert found == rows(monitored.using(exact_first=False), *texts)
    assert found[:3] == [0, 1, 2]


def test_alternatives_come_from_the_other_tiers(linker):
    (ranking,) = linker.rank([Mention(KNOWN[0])], 5)
    assert len(ranking) == 5 and ranking[0].score == pytest.approx(1.0)
    assert all("dense" not in one.scores for one in ranking)
    assert all(one.score < 1 for one in ranking[1:])
    explained = linker.explain(Mention(KNOWN[0])).as_dict()
    assert "dense" in explained["candidates"][0]["tiers"]  # which asks all


def test_a_fusion_without_ngrams_still_has_alternatives(assets, tmp_path):
    fusion = {"fusion": {"weights": {"exact": 0.2, "ngram": 0.0, "dense": 0.8}}}
    plain = write_variant(assets, tmp_path / "plain", fusion)
    assert plain.used_tiers == ["exact", "dense"]
    linker = plain.engine(calibrator=False)
    assert "ngram" not in linker.parts.others
    passing, other = linker.rank([Mention(KNOWN[0]), Mention("nothing like it")], 5)
    assert len(passing) == 5 and passing[0].row == 0 and passing[0].score == pytest.approx(1.0)
    assert all("dense" not in one.scores and one.scores["ngram"] > 0 for one in passing)
    assert all(one.score < 1 for one in passing[1:])
    assert all("ngram" not in one.scores for one in other)
    curation = Rules([Rule(1, "add", "wholly new", "C0000")])
    added = OverlaidAssets(plain, curation).engine(calibrator=False)
    new, old = added.rank([Mention("wholly new"), Mention(KNOWN[1])], 5)
    assert (new[0].row, old[0].row) == (0, 1) and len(old) == 5


def test_filters_hold(linker):
    for only in (Filter.of(deny=["C0000"]), Filter.of(allow=["C0000", "C0001"])):
        expected = rows(linker.using(exact_first=False), *KNOWN[:3], only=only)
        assert rows(linker, *KNOWN[:3], only=only) == expected


def test_what_a_ranker_is_fitted_to_has_the_candidates_of_all_tiers(assets, tmp_path):
    lines = [
        {"doc_id": str(n), "mentions": [{"mention": KNOWN[n], "ids": [f"C{n:04}"]}]}
        for n in range(10)
    ]
    gold = load_gold(write_lines(tmp_path / "gold.jsonl", *lines), assets.kb)
    for one in rank_unannotated(assets, gold, 3, exact_first=False):
        assert all("dense" in candidate.scores for candidate in one.ranking)


def test_how_far_a_candidate_is_ahead():
    two = [Candidate(row, row, score, {}) for row, score in ((1, 0.75), (2, 0.5))]
    assert [ahead(own) for own in ([], two[:1], two)] == [0.0, 0.75, 0.25]
    assert ahead([candidate(1, 0.0, 1.0), *two]) == inf
    assert RerankGate(0.2).lets(two) and not RerankGate(0.25).lets(two)
    # A tie is always read, and what corrections say never.
    assert not RerankGate(0.0).lets([two[0], two[0]])
    assert RerankGate(1.0).lets([candidate(1, 0.0, 1.0)])


def test_a_gate_of_a_reranker_fits_one_order():
    facts = {"gate": {"margin": 0.3, "fitted_for": CONDITIONS}}
    assert RerankGate.of(facts, CONDITIONS) == RerankGate(0.3)
    assert RerankGate.of(facts, {**CONDITIONS, "reranker": "a ranker"}) is None
    assert RerankGate.of({"fingerprint": "without a gate"}, CONDITIONS) is None
    assert RerankGate.of(None, CONDITIONS) is None
