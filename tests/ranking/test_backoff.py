"""Back-off to the concept above near ties."""

import pytest

from spacy_medlink.linking.decision import BELOW_THRESHOLD, NOTHING_FOUND, decide
from spacy_medlink.ranking.backoff import Backoff
from spacy_medlink.retrieval.filters import Filter, select
from spacy_medlink.types import Candidate

PARENT, CHILD, OTHER_CHILD, STRANGER = "HP:0000819", "HP:0005978", "HP:0100651", "HP:0001945"


@pytest.fixture
def candidate(tiny_kb):
    def make(id, score, **scores):
        concept = tiny_kb[id]
        return Candidate(concept.row, concept.first_name, score, {"exact": 0.0, **scores})

    return make


def ids(kb, rows):
    return [kb.concept_at(row).id for row in rows]


def test_near_ties_go_to_what_is_above_them(tiny_kb, candidate):
    ranking = [candidate(CHILD, 0.8), candidate(OTHER_CHILD, 0.79), candidate(STRANGER, 0.5)]
    ancestor, leaves = Backoff(tiny_kb).ancestor_of(ranking)
    assert ids(tiny_kb, [ancestor.row]) == [PARENT]
    assert ancestor.score == 0.8
    assert ids(tiny_kb, leaves) == [CHILD, OTHER_CHILD]
    (decision,) = decide([ranking], 0.8, backoff=Backoff(tiny_kb))
    assert decision.chosen is decision.ranking[0]
    assert ids(tiny_kb, [one.row for one in decision.ranking]) == [
        PARENT, CHILD, OTHER_CHILD, STRANGER,
    ]  # fmt: skip
    assert decide([ranking], 0.81, backoff=Backoff(tiny_kb))[0].reason == BELOW_THRESHOLD


def test_where_there_is_no_reason_to(tiny_kb, candidate):
    backoff = Backoff(tiny_kb)
    for ranking in (
        [candidate(CHILD, 0.8)],
        [candidate(CHILD, 0.8), candidate(OTHER_CHILD, 0.7)],
        [candidate(CHILD, 0.8), candidate(STRANGER, 0.8)],
        [candidate(CHILD, 0.8), candidate(OTHER_CHILD, 0.8), candidate(STRANGER, 0.8)],
        [candidate(PARENT, 0.8), candidate(CHILD, 0.8)],
        [candidate(CHILD, 1.0, exact=1.0), candidate(OTHER_CHILD, 0.99)],
    ):
        assert backoff.ancestor_of(ranking) is None


def test_an_ancestor_among_the_near_ties_is_it(tiny_kb, candidate):
    ranking = [candidate(CHILD, 0.8), candidate(PARENT, 0.79)]
    ancestor, leaves = Backoff(tiny_kb).ancestor_of(ranking)
    assert ids(tiny_kb, [ancestor.row]) == [PARENT]
    assert (ancestor.score, len(leaves)) == (0.8, 2)


def test_margin_and_filters(tiny_assets, tiny_kb, candidate):
    ranking = [candidate(CHILD, 0.8), candidate(OTHER_CHILD, 0.7)]
    assert Backoff(tiny_kb, margin=0.11).ancestor_of(ranking) is not None
    mask = tiny_assets.filters.mask(select(Filter.of(deny=[PARENT])))
    assert Backoff(tiny_kb, 0.11, mask).ancestor_of(ranking) is None


def test_nothing_in_nothing_out():
    assert decide([], 0.5) == []
    (decision,) = decide([[]], 0.0)
    assert (decision.chosen, decision.reason) == (None, NOTHING_FOUND)


class Halves:
    """A calibrator that says 0.5 of every first candidate."""

    threshold = 0.0

    def probabilities(self, rankings):
        return [0.5 for _ in rankings]


def test_probabilities_are_what_the_threshold_asks(candidate):
    ranking = [candidate(CHILD, 0.9), candidate(STRANGER, 0.2)]
    high, low = (decide([ranking, []], at, calibrator=Halves()) for at in (0.6, 0.5))
    assert (high[0].chosen, low[0].chosen.prob) == (None, 0.5)
    assert ranking[0].prob is None, "what is shared with the cache is not changed"
