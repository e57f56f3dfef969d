"""Which answers of memory and exact tier pass, and which candidates need no reranker."""

from math import inf

import pytest

from spacy_medlink.linking.gate import ANSWERS, Gate, RerankGate, ahead, kind_of
from spacy_medlink.types import Candidate

CONDITIONS = {"tiers": ["dense", "exact"], "reranker": ""}


def candidate(row, exact, memory=0.0):
    return Candidate(row, row, 1.0, {"exact": exact, "memory": memory})


@pytest.mark.parametrize(
    ("ranking", "kind"),
    [
        ([candidate(1, 1.0)], "verbatim"), ([candidate(1, 0.95)], "folded"),
        ([candidate(1, 1.0), candidate(2, 0.95)], "shared"),
        ([candidate(1, 0.0, 1.0), candidate(2, 1.0)], "remembered"),
    ],
)  # fmt: skip
def test_kinds(ranking, kind):
    assert kind_of(ranking) == kind and kind in ANSWERS
    assert Gate(frozenset([kind])).lets(ranking)
    assert not Gate(frozenset(ANSWERS) - {kind}).lets(ranking)


def facts(**at_most):
    answers = {kind: {"at_most": at_most.get(kind, 1.0)} for kind in ANSWERS}
    return {"max_changed": 0.003, "answers": answers, "fitted_for": CONDITIONS}


def test_what_a_manifest_says():
    found = Gate.of(facts(verbatim=0.003, folded=0.0031), CONDITIONS)
    assert found == Gate(frozenset(["verbatim"]))
    assert Gate.of(facts(folded=0.0031), CONDITIONS) is None
    assert Gate.of(None, CONDITIONS) is None


def test_a_gate_that_was_fitted_for_another_linker_is_left_out():
    assert Gate.of(facts(verbatim=0.001), {**CONDITIONS, "reranker": "another"}) is None


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
