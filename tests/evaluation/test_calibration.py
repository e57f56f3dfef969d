import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.evaluation.calibration import (
    calibration_error,
    coverage_curve,
    reliability,
    reliability_bins,
)

ANSWERS = st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]), st.booleans()))


def test_reliability_by_hand() -> None:
    found = reliability([0.05, 0.15, 0.15, 1.0], [False, True, False, True])
    assert found is not None
    assert found["n"] == 4
    assert [(one["n"], one["prob"], one["accuracy"]) for one in found["bins"]] == [
        (1, 0.05, 0.0), (2, 0.15, 0.5), (1, 1.0, 1.0),
    ]  # fmt: skip
    assert found["ece"] == pytest.approx(0.25 * 0.05 + 0.5 * 0.35)
    assert (found["bins"][-1]["low"], found["bins"][-1]["high"]) == (0.9, 1.0)
    assert reliability([], []) is None


def test_a_good_calibrator_has_a_small_error() -> None:
    random = np.random.default_rng(0)
    probs = random.random(20_000)
    right = random.random(20_000) < probs
    found = reliability(probs.tolist(), right.tolist())
    assert found is not None
    assert found["ece"] < 0.02


@given(ANSWERS)
def test_coverage_against_applying_each_threshold(answers: list[tuple[float, bool]]) -> None:
    curve = coverage_curve([score for score, _ in answers], [right for _, right in answers])
    assert [point["threshold"] for point in curve] == sorted({one for one, _ in answers})[::-1]
    for point in curve:
        made = [right for score, right in answers if score >= point["threshold"]]
        assert point["coverage"] == pytest.approx(len(made) / len(answers), abs=1e-6)
        assert point["precision"] == pytest.approx(sum(made) / len(made), abs=1e-6)


def test_long_curves_are_thinned_and_no_answers_never_link() -> None:
    scores = [*np.linspace(1, 0, 1000).tolist(), float("-inf")]
    curve = coverage_curve(scores, [True] * 1001, points=11)
    assert len(curve) == 11
    assert (curve[0]["threshold"], curve[-1]["threshold"]) == (1.0, 0.0)
    assert curve[-1]["coverage"] == pytest.approx(1000 / 1001, abs=1e-6)
    assert coverage_curve([float("-inf")], [False]) == coverage_curve([], []) == []


WEIGHTED = st.lists(
    st.tuples(st.floats(0, 1), st.booleans(), st.integers(1, 4)), min_size=1, max_size=60
)


@given(WEIGHTED)
def test_weights_count_as_repetitions(found) -> None:
    probs, right, weights = (np.array(column) for column in zip(*found, strict=True))
    expected = reliability(np.repeat(probs, weights), np.repeat(right, weights))
    assert calibration_error(probs, right, weights) == pytest.approx(expected["ece"], abs=1e-4)
    bins = reliability_bins(probs, right, weights)
    assert [one["low"] for one in bins] == [one["low"] for one in expected["bins"]]
    assert sum(one["weight"] for one in bins) == pytest.approx(1)
