import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.evaluation.intervals import calibration_error, reliability_bins


def test_reliability_by_hand() -> None:
    probs, right = np.array([0.05, 0.15, 0.15, 1.0]), np.array([False, True, False, True])
    bins = reliability_bins(probs, right, np.ones(4))
    assert [(one["weight"], one["prob"], one["accuracy"]) for one in bins] == [
        (0.25, 0.05, 0.0), (0.5, 0.15, 0.5), (0.25, 1.0, 1.0),
    ]  # fmt: skip
    assert (bins[-1]["low"], bins[-1]["high"]) == (0.9, 1.0)
    expected = 0.25 * 0.05 + 0.5 * 0.35
    assert calibration_error(probs, right, np.ones(4)) == pytest.approx(expected)


def test_a_good_calibrator_has_a_small_error() -> None:
    random = np.random.default_rng(0)
    probs = random.random(20_000)
    assert calibration_error(probs, random.random(20_000) < probs, np.ones(20_000)) < 0.02


WEIGHTED = st.lists(
    st.tuples(st.floats(0, 1), st.booleans(), st.integers(1, 4)), min_size=1, max_size=60
)


@given(WEIGHTED)
def test_weights_count_as_repetitions(found) -> None:
    probs, right, weights = (np.array(column) for column in zip(*found, strict=True))
    repeated = np.repeat(probs, weights), np.repeat(right, weights), np.ones(weights.sum())
    expected = calibration_error(*repeated)
    assert calibration_error(probs, right, weights) == pytest.approx(expected, abs=1e-9)
    bins = reliability_bins(probs, right, weights)
    assert [one["low"] for one in bins] == [one["low"] for one in reliability_bins(*repeated)]
    assert sum(one["weight"] for one in bins) == pytest.approx(1)
