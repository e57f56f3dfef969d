"""Linear models: scores by hand, what is standardised, what files may hold."""

import numpy as np
import pytest

from spacy_medlink.linking.linear import LinearModel

NAMES = ("score", "length")
ROWS = np.array([[1.0, 5.0], [3.0, 5.0]])


def test_scores_by_hand():
    model = LinearModel.of(NAMES, 1.0, np.array([2.0, 1.0]), np.array([4.0, -1.0]), bias=0.5)
    assert model.score(ROWS).tolist() == [0.5 - 4.0, 0.5 + 4.0 - 4.0]


def test_columns_are_standardised_and_constant_ones_only_moved():
    model = LinearModel.standardising(NAMES, ROWS)
    assert model.standardise(ROWS).tolist() == [[-1.0, 0.0], [1.0, 0.0]]
    assert not model.score(ROWS).any(), "without weights it prefers nothing"
    once = LinearModel.standardising(NAMES, ROWS[[0, 0, 0, 1]])
    counted = LinearModel.standardising(NAMES, ROWS, np.array([3.0, 1.0]))
    assert counted.mean.tolist() == once.mean.tolist()
    assert counted.scale == pytest.approx(once.scale)
    assert LinearModel.standardising(NAMES, ROWS[:0]).scale.tolist() == [1.0, 1.0]


def test_round_trip():
    model = LinearModel.of(NAMES, 1.0, 2.0, np.array([4.0, -1.0]))
    again = LinearModel.from_json(NAMES, model.to_json())
    assert again.score(ROWS).tolist() == model.score(ROWS).tolist()


@pytest.mark.parametrize(
    "change",
    [
        {"weights": [1.0]}, {"weights": "12"}, {"weights": [True, False]}, {"scale": [1.0, 0.0]},
        {"mean": [0.0, float("inf")]},
    ],
)  # fmt: skip
def test_numbers_that_cannot_be(change):
    facts = LinearModel.of(NAMES, 0.0, 1.0, 1.0).to_json()
    with pytest.raises(ValueError, match=r"number|scale"):
        LinearModel.from_json(NAMES, {**facts, **change})
