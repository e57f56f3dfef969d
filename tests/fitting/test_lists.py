"""The model of a ranker: what fitting finds, what files keep."""

import json

import numpy as np
import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.fitting.ranker import Lists, fit
from spacy_medlink.linking.ranker import RANKER_FEATURES, CandidateRanker
from tests.fitting.samples import FACTS


def planted(mentions=200, candidates=6, seed=0, noise=0.0):
    """Make lists whose right candidate has the most of one feature and the least of another."""
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(mentions, candidates, len(RANKER_FEATURES)))
    wanted = features[..., 3] - features[..., 8] + noise * generator.normal(size=features.shape[:2])
    right = wanted == wanted.max(axis=1, keepdims=True)
    ends = np.arange(1, mentions + 1) * candidates
    return Lists(
        features.reshape(-1, len(RANKER_FEATURES)), right.ravel(), ends, np.arange(mentions) % 5,
        np.ones(mentions),
    )  # fmt: skip


def test_what_decides_is_found():
    lists = planted(400)
    fitted = fit(lists)
    weights = fitted.model.weights
    others = np.delete(weights, [3, 8])
    assert min(weights[3], -weights[8]) > 5 * np.abs(others).max()
    firsts = fitted.unseen.reshape(400, 6).argmax(axis=1)
    assert (lists.right.reshape(400, 6)[np.arange(400), firsts]).mean() > 0.95, "unseen mentions"


def test_where_nothing_decides_the_penalty_is_high():
    fitted = fit(planted(noise=50.0))
    assert fitted.penalty == max(fitted.losses)
    assert fit(planted()).penalty == min(fitted.losses)


def test_the_slope_is_that_of_the_loss():
    """At the weights that were found, no small step does better."""
    lists = planted(noise=1.0)
    model = fit(lists).model
    penalty = fit(lists).penalty

    def loss(weights):
        z = ((lists.features - model.mean) / model.scale @ weights).reshape(200, 6)
        shares = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        hit = shares[lists.right.reshape(200, 6)]
        return -np.log(hit).mean() + penalty * weights @ weights

    best = loss(model.weights)
    for step in np.eye(len(RANKER_FEATURES)) * 1e-2:
        assert min(loss(model.weights + step), loss(model.weights - step)) > best


def test_mentions_that_tell_nothing_leave_retrieval_alone():
    lists = planted(20)
    for flags in (np.zeros(120, bool), np.ones(120, bool)):
        model = fit(Lists(lists.features, flags, lists.ends, lists.folds, lists.weights)).model
        assert not model.score(lists.features).any()


def test_lists_of_different_lengths():
    lists = planted(30)
    kept = np.concatenate([np.arange(6 * n, 6 * n + 2 + n % 5) for n in range(30)])
    ends = np.cumsum([2 + n % 5 for n in range(30)])
    right = lists.right[kept]
    model = fit(Lists(lists.features[kept], right, ends, lists.folds, lists.weights)).model
    assert np.isfinite(model.weights).all() and model.weights.any()


def test_round_trip(tmp_path):
    model = fit(planted()).model
    CandidateRanker(model, FACTS, 7, {"tiers": ["exact"]}).save(tmp_path / "ranker.json")
    ranker = CandidateRanker.load(tmp_path / "ranker.json", FACTS)
    again = ranker.model
    assert ranker.fingerprint == CandidateRanker(model, FACTS, 7).fingerprint
    assert (ranker.top, ranker.fitted_for) == (7, {"tiers": ["exact"]})
    features = planted(3).features
    assert (again.score(features) == model.score(features)).all()
    alone = np.concatenate([model.score(row[None]) for row in features])
    assert (alone == model.score(features)).all(), "the same, however many there are"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"format": 0}, "E214"),
        ({"features": ["score"]}, "E214"),
        ({"weights": [1.0]}, "E202"),
        ({"scale": [0.0] * len(RANKER_FEATURES)}, "E202"),
        ({"mean": [float("nan")] * len(RANKER_FEATURES)}, "E202"),
        ({"fitted_for": 1}, "E202"),
    ],
)
def test_models_that_cannot_be(tmp_path, change, code):
    file = tmp_path / "ranker.json"
    CandidateRanker(fit(planted(10)).model, FACTS).save(file)
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **change}), "utf-8")
    with pytest.raises(MedlinkError, match=rf"^\[{code}\]"):
        CandidateRanker.load(file, FACTS)
    file.write_text("{", encoding="utf-8")
    with pytest.raises(MedlinkError, match="E202"):
        CandidateRanker.load(file, FACTS)
