import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.evaluation.calibration import reliability
from spacy_medlink.fitting.quality import calibration_error, log_loss, reliability_bins

pairs = st.lists(
    st.tuples(st.floats(0, 1), st.booleans(), st.integers(1, 4)), min_size=1, max_size=60
)


@given(pairs)
def test_weights_count_as_repetitions(found):
    probs, right, weights = (np.array(column) for column in zip(*found, strict=True))
    expected = reliability(np.repeat(probs, weights), np.repeat(right, weights))
    assert calibration_error(probs, right, weights) == pytest.approx(expected["ece"], abs=1e-4)
    bins = reliability_bins(probs, right, weights)
    assert [one["low"] for one in bins] == [one["low"] for one in expected["bins"]]
    assert sum(one["weight"] for one in bins) == pytest.approx(1)


def test_log_loss():
    probs, right = np.array([0.5, 0.25]), np.array([True, False])
    assert log_loss(probs, right, np.array([1.0, 0.0])) == pytest.approx(np.log(2))
    assert log_loss(probs, right, np.array([0.0, 2.0])) == pytest.approx(-np.log(0.75))
