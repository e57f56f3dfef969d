from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.evaluation.metrics import compute_metrics, link_metrics, nil_metrics
from spacy_medlink.evaluation.outcome import Outcome, first_right
from spacy_medlink.evaluation.protocols import paper_key
from tests.tables import table

KS = (1, 2, 5)
OUTCOMES = st.builds(
    Outcome,
    rank=st.integers(0, 7),
    gold=st.sampled_from([[], ["1"]]),
    right=st.sampled_from([[], ["C"]]),
    abstained=st.booleans(),
    doc=st.sampled_from(["a", "b", "c"]),
    lang=st.sampled_from(["en", "es"]),
    type=st.sampled_from(["", "Disease"]),
    retrieved=st.integers(0, 7),
    share=st.sampled_from([0.0, 0.5, 1.0]),
    labels=st.sampled_from([{}, {"length": ["1"]}, {"length": ["1", "2"], "code": ["seen"]}]),
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
        found = [outcome for outcome in outcomes if 0 < outcome.retrieved <= k]
        share = len(found) / len(outcomes) if outcomes else None
        assert metrics[f"recall@{k}"] == pytest.approx(share, abs=1e-6)
    assert metrics["mrr"] == pytest.approx(_mrr(outcomes), abs=1e-6)


@given(st.lists(OUTCOMES, max_size=30))
def test_against_counting_by_hand(outcomes: list[Outcome]) -> None:
    metrics = compute_metrics(outcomes, KS)
    linked = [outcome for outcome in outcomes if not outcome.is_nil]
    _check(metrics, linked)
    with_ties = sum(outcome.share for outcome in linked) / len(linked) if linked else None
    assert metrics["acc@1_ties"] == pytest.approx(with_ties, abs=1e-6)
    for group in ("lang", "type"):
        expected = defaultdict(list)
        for outcome in linked:
            if getattr(outcome, group):
                expected[getattr(outcome, group)].append(outcome)
        assert metrics[f"by_{group}"].keys() == expected.keys()
        for name, own in expected.items():
            _check(metrics[f"by_{group}"][name], own)
    by_label = defaultdict(list)
    for outcome in linked:
        for label, groups in outcome.labels.items():
            for group in groups:
                by_label[label, group].append(outcome)
    assert {name for name in metrics if name.startswith("by_")} == {
        "by_lang", "by_type", *(f"by_{label}" for label, _ in by_label)
    }  # fmt: skip
    for (label, group), own in by_label.items():
        _check(metrics[f"by_{label}"][group], own)
    totals = compute_metrics(outcomes, KS, with_groups=False)
    assert totals == {name: metrics[name] for name in totals}
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


def test_links_by_hand() -> None:
    outcomes = [
        Outcome(1, ["1"]),
        Outcome(2, ["1"]),
        Outcome(1, ["1"], abstained=True),
        Outcome(0),
        Outcome(0, abstained=True),
    ]
    assert link_metrics(outcomes) == {
        "n": 3, "predicted": 3, "precision": 0.333333, "recall": 0.333333, "f1": 0.333333,
        "coverage": 0.6,
    }  # fmt: skip


def test_gold_outside_of_the_knowledge_base_is_wrong() -> None:
    metrics = compute_metrics([Outcome(1, ["1"], ["C"]), Outcome(0, ["2"])])
    assert (metrics["n"], metrics["gold_in_kb"], metrics["acc@1"]) == (2, 1, 0.5)


def test_nothing_to_measure_gives_none_not_zero() -> None:
    metrics = compute_metrics([Outcome(0, abstained=True)])
    assert metrics["n"] == 0
    assert metrics["acc@1"] is None
    assert metrics["mrr"] is None
    assert metrics["nil"] == {"n": 1, "predicted": 1, "precision": 1.0, "recall": 1.0, "f1": 1.0}


@table(__file__, "paper_key")
def test_paper_key(text: str, key: str) -> None:
    assert paper_key(text) == key
