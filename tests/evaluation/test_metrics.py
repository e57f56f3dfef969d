from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.evaluation import Outcome, compute_metrics, first_right, paper_key
from spacy_medlink.evaluation.metrics import bootstrap_interval, nil_metrics

KS = (1, 2, 5)
OUTCOMES = st.builds(
    Outcome,
    rank=st.integers(0, 7),
    is_nil=st.booleans(),
    abstained=st.booleans(),
    in_kb=st.booleans(),
    doc=st.sampled_from(["a", "b", "c"]),
    lang=st.sampled_from(["en", "es"]),
    type=st.sampled_from(["", "Disease"]),
)


def _accuracy(outcomes: Sequence[Outcome], k: int) -> float | None:
    hits = 0
    for outcome in outcomes:
        if outcome.rank and outcome.rank <= k:
            hits += 1
    return hits / len(outcomes) if outcomes else None


def _mrr(outcomes: Sequence[Outcome]) -> float | None:
    total = 0.0
    for outcome in outcomes:
        if outcome.rank:
            total += 1 / outcome.rank
    return total / len(outcomes) if outcomes else None


def _check(metrics: dict[str, Any], outcomes: Sequence[Outcome]) -> None:
    assert metrics["n"] == len(outcomes)
    assert metrics["gold_in_kb"] == len([outcome for outcome in outcomes if outcome.in_kb])
    for k in KS:
        assert metrics[f"acc@{k}"] == pytest.approx(_accuracy(outcomes, k), abs=1e-6)
    assert metrics["mrr"] == pytest.approx(_mrr(outcomes), abs=1e-6)


@given(st.lists(OUTCOMES, max_size=30))
def test_against_counting_by_hand(outcomes: list[Outcome]) -> None:
    metrics = compute_metrics(outcomes, KS)
    linked = [outcome for outcome in outcomes if not outcome.is_nil]
    _check(metrics, linked)
    for group in ("lang", "type"):
        expected = defaultdict(list)
        for outcome in linked:
            if getattr(outcome, group):
                expected[getattr(outcome, group)].append(outcome)
        assert metrics[f"by_{group}"].keys() == expected.keys()
        for name, own in expected.items():
            _check(metrics[f"by_{group}"][name], own)
    depths = [metrics[f"acc@{k}"] for k in KS]
    if linked:
        assert depths == sorted(depths)
        assert depths[0] <= metrics["mrr"] + 1e-6


@given(st.lists(OUTCOMES, max_size=30))
def test_nil_against_counting_by_hand(outcomes: list[Outcome]) -> None:
    both = [outcome for outcome in outcomes if outcome.is_nil and outcome.abstained]
    gold = [outcome for outcome in outcomes if outcome.is_nil]
    predicted = [outcome for outcome in outcomes if outcome.abstained]
    metrics = nil_metrics(outcomes)
    assert (metrics["n"], metrics["predicted"]) == (len(gold), len(predicted))
    precision = len(both) / len(predicted) if predicted else None
    recall = len(both) / len(gold) if gold else None
    assert metrics["precision"] == pytest.approx(precision, abs=1e-6)
    assert metrics["recall"] == pytest.approx(recall, abs=1e-6)
    # F1 by counts: 2 TP / (2 TP + FP + FN).
    f1 = 2 * len(both) / (len(predicted) + len(gold)) if predicted or gold else None
    assert metrics["f1"] == pytest.approx(f1, abs=1e-6)


@given(st.lists(st.integers(0, 5)), st.sets(st.integers(0, 5)))
def test_first_right_against_a_loop(answers: list[int], right: set[int]) -> None:
    seen: list[int] = []
    expected = 0
    for answer in answers:
        if answer not in seen:
            seen.append(answer)
            if answer in right and not expected:
                expected = len(seen)
    assert first_right(answers, right) == expected


@given(st.lists(OUTCOMES, min_size=1, max_size=30))
def test_interval_is_an_interval(outcomes: list[Outcome]) -> None:
    interval = bootstrap_interval(outcomes)
    assert interval is not None
    low, high = interval
    assert 0 <= low <= high <= 1
    assert bootstrap_interval(outcomes) == interval, "the same answer each time"


def test_interval_resamples_documents() -> None:
    half = [Outcome(rank=number % 2, doc=str(number)) for number in range(400)]
    low, high = bootstrap_interval(half) or (0, 0)
    # The binomial's: 0.5 -/+ 1.96 x sqrt(0.25 / 400).
    assert low == pytest.approx(0.451, abs=0.01)
    assert high == pytest.approx(0.549, abs=0.01)
    in_two_documents = [outcome._replace(doc=str(outcome.rank)) for outcome in half]
    assert bootstrap_interval(in_two_documents) == [0.0, 1.0]
    assert bootstrap_interval([outcome._replace(doc="one") for outcome in half]) == [0.5, 0.5]
    assert bootstrap_interval([]) is None


def test_gold_outside_of_the_knowledge_base_is_wrong() -> None:
    metrics = compute_metrics([Outcome(1), Outcome(0, in_kb=False)])
    assert (metrics["n"], metrics["gold_in_kb"], metrics["acc@1"]) == (2, 1, 0.5)


def test_nothing_to_measure_gives_none_not_zero() -> None:
    metrics = compute_metrics([Outcome(0, is_nil=True, abstained=True)])
    assert metrics["n"] == 0
    assert metrics["acc@1"] is None
    assert metrics["mrr"] is None
    assert metrics["nil"] == {"n": 1, "predicted": 1, "precision": 1.0, "recall": 1.0, "f1": 1.0}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Alzheimer's Disease, Type-2", "alzheimer s disease type 2"),
        ("  (ASD) ", "asd"),
        ("β-Thalassemia", "β thalassemia"),
        ("...", ""),
    ],
)
def test_paper_key(text: str, key: str) -> None:
    assert paper_key(text) == key
