import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.ranking.calibrator import CALIBRATOR_FEATURES, RankingCalibrator
from spacy_medlink.ranking.linear import LinearModel
from tests.fitting.samples import FACTS, ranking

N = len(CALIBRATOR_FEATURES)


def calibrator(weight=4.0, bias=-2.0, **more):
    weights = np.zeros(N)
    weights[0] = weight
    model = LinearModel.of(CALIBRATOR_FEATURES, 0.0, 1.0, weights, bias)
    return RankingCalibrator(model, facts=FACTS, **more)


STEPS = (np.array([-2.0, 0.0, 1.0, 2.0]), np.array([0.0, 0.4, 0.4, 1.0]))


def test_the_logistic_model_and_the_steps():
    (p,) = calibrator().probabilities([ranking(0.75)])
    assert p == pytest.approx(1 / (1 + np.exp(-1)), abs=1e-6)
    assert calibrator(steps=STEPS).probabilities(
        [ranking(score) for score in (0.0, 0.25, 0.5, 0.75, 0.875)]
    ) == pytest.approx([0.001, 0.2, 0.4, 0.4, 0.7])
    assert (calibrator().kind, calibrator(steps=STEPS).kind) == ("logistic", "isotonic")


@pytest.mark.parametrize("steps", [None, STEPS])
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
def test_probabilities_are_monotone_and_within_0_and_1(steps, scores):
    features = np.zeros((len(scores), N))
    features[:, 0] = sorted(scores)
    p = calibrator(steps=steps).estimate(features)
    assert ((p > 0) & (p < 1)).all()
    assert (np.diff(p) >= 0).all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.integers(1, 7))
def test_any_batch_size_gives_the_same(scores, size):
    made = calibrator(steps=STEPS)
    rankings = [ranking(score) for score in scores]
    together = made.probabilities(rankings)
    apart = [
        one
        for start in range(0, len(rankings), size)
        for one in made.probabilities(rankings[start : start + size])
    ]
    assert together == apart


@pytest.mark.parametrize("steps", [None, STEPS])
def test_saving_and_loading(tmp_path, steps):
    made = calibrator(steps=steps, fitted_for={"tiers": ["exact"]})
    made.save(tmp_path / "c.json")
    again = RankingCalibrator.load(tmp_path / "c.json", FACTS, 0.7)
    rankings = [ranking(score / 50) for score in range(50)]
    assert again.probabilities(rankings) == made.probabilities(rankings)
    assert (again.threshold, again.fitted_for) == (0.7, {"tiers": ["exact"]})
    before = (tmp_path / "c.json").read_bytes()
    again.save(tmp_path / "c.json")
    assert (tmp_path / "c.json").read_bytes() == before


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"format": 2}, "E214"),
        ({"features": ["score"]}, "E214"),
        ({"weights": [1.0]}, "E202"),
        ({"weights": "x"}, "E202"),
        ({"mean": [None] * N}, "E202"),
        ({"mean": [float("nan")] * N}, "E202"),
        ({"scale": [0.0] * N}, "E202"),
        ({"bias": float("inf")}, "E202"),
        ({"bias": "high"}, "E202"),
        ({"steps": [[0.0, 1.0], [0.9, 0.1]]}, "E202"),
        ({"steps": [[1.0, 0.0], [0.1, 0.9]]}, "E202"),
        ({"steps": [[0.0, 1.0], [0.1, 1.9]]}, "E202"),
        ({"steps": [[0.0], [0.1, 0.9]]}, "E202"),
        ({"steps": 3}, "E202"),
        ({"fitted_for": 3}, "E202"),
    ],
)
def test_damaged_files_are_refused(tmp_path, change, code):
    path = tmp_path / "c.json"
    calibrator().save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(MedlinkError, match=code):
        RankingCalibrator.load(path, FACTS)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff", b"3"])
def test_what_is_no_calibrator_is_refused(tmp_path, content):
    path = tmp_path / "c.json"
    path.write_bytes(content)
    with pytest.raises(MedlinkError, match="E202"):
        RankingCalibrator.load(path, FACTS)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_outside_0_and_1_is_refused(tmp_path, threshold):
    calibrator().save(tmp_path / "c.json")
    with pytest.raises(MedlinkError, match="E301"):
        RankingCalibrator.load(tmp_path / "c.json", FACTS, threshold)
