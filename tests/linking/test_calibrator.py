import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.fitting.calibrator import stated_model
from spacy_medlink.linking.calibrator import (
    AGAINST,
    CALIBRATOR_FEATURES,
    EITHER,
    KINDS,
    MODELS,
    RankingCalibrator,
    calibrator_features,
    kinds_of,
)
from spacy_medlink.linking.linear import LinearModel
from tests.fitting.samples import FACTS, ranking
from tests.mutants import refused

N = len(CALIBRATOR_FEATURES)
WEIGHTS = np.array([-1.0 if name in AGAINST else 1.0 for name in CALIBRATOR_FEATURES])
ROWS = st.lists(st.floats(0, 5), min_size=N, max_size=N)


def calibrator(weight=4.0, bias=-2.0, **more):
    weights = np.zeros(N)
    weights[0] = weight
    model = LinearModel.of(CALIBRATOR_FEATURES, 0.0, 1.0, weights, bias)
    return RankingCalibrator(stated_model(), model, model, facts=FACTS, **more)


def verbatim(row=0, form="some text", rival=False, memory=0.0, **more):
    own = ranking(1.0, 0.1, exact=True, row=row, form=form, **more)
    own[0].scores["memory"] = memory
    own[1].scores["exact"] = 0.95 if rival else 0.0
    return own


def features(**values):
    row = np.zeros(N)
    for name, value in values.items():
        row[CALIBRATOR_FEATURES.index(name.replace("_", " "))] = value
    return row[None]


def test_the_logistic_model():
    ((p, _),) = calibrator().rate([ranking(0.75)])
    assert p == pytest.approx(1 / (1 + np.exp(-1)), abs=1e-6)


def test_kinds():
    rankings = [
        ranking(0.9), verbatim(), verbatim(rival=True), verbatim(memory=1.0),
        ranking(0.9, form="some texxt 0"), verbatim(form="ST"),
    ]  # fmt: skip
    rankings[-1][0].scores["exact"] = 1.0
    found = kinds_of(calibrator_features(rankings, FACTS)).tolist()
    assert [KINDS[kind] for kind in found] == [
        "resembling", "name", "shared", "remembered", "misspelt", "short form"
    ]  # fmt: skip


@given(ROWS, st.sampled_from([one for one in CALIBRATOR_FEATURES if one != EITHER]),
       st.floats(0, 3))  # fmt: skip
def test_no_feature_that_speaks_for_a_link_lowers_its_probability(values, name, more):
    """Within a kind: with any weights of the signs that fits are bound to."""
    own = LinearModel.of(CALIBRATOR_FEATURES, 0.0, 1.0, WEIGHTS / 8, -1.0)
    made = RankingCalibrator(own, own, own, frozenset(KINDS[:4]), threshold=0.75)
    before = np.array([values])
    after = before.copy()
    after[0, CALIBRATOR_FEATURES.index(name)] += -more if name in AGAINST else more
    after = np.maximum(after, 0)
    if kinds_of(before) == kinds_of(after):
        assert made.estimate(after)[0] >= made.estimate(before)[0] - 1e-12
        assert made.recommends(after)[0] or not made.recommends(before)[0]


def test_what_is_known_of_a_name_counts():
    """Of annotated text: preferred names, names of many sources, no short forms, no rivals."""
    usual = {"exact": 1, "same_letters": 1, "names": 1.5, "length": 2.6, "margin": 0.3}
    made = calibrator()
    p = made.estimate(np.vstack([
        features(**usual, tied=1, rival=1), features(**usual, rival=1), features(**usual),
        features(**{**usual, "names": 3}), features(**{**usual, "names": 3}, sources=1.4),
        features(**{**usual, "names": 3}, sources=1.4, is_preferred=1),
    ]))  # fmt: skip
    assert (np.diff(p) > 0).all() and p[0] < 0.75 and p[-1] > 0.95, p
    short = features(**usual, short_form=1)
    assert made.estimate(short)[0] < 0.75 < p[2]


def test_a_slip_is_no_surer_than_the_name_and_a_shared_name_no_surer_than_a_tie():
    made = calibrator(weight=0.0, bias=9.0)
    name = {"same_letters": 1, "names": 1.5, "length": np.log1p(12)}
    misspelt = {**name, "slip": 0.67, "length": np.log1p(14), "margin": 0.3}  # letters twice
    alone, slip, tied, shared, resembling = made.estimate(np.vstack([
        features(**name, exact=1), features(**misspelt), features(**misspelt, tied=1),
        features(**name, exact=1, rival=1, tied=1), features(**{**misspelt, "slip": 0}),
    ]))  # fmt: skip
    assert alone == slip > tied == shared
    assert resembling == slip


def test_names_of_trusted_kinds_are_recommended_however_improbable_and_so_are_their_slips():
    shared = {"exact": 1, "rival": 1, "tied": 1}
    rows = np.vstack([
        features(exact=1), features(**shared), features(exact=1, short_form=1), features(),
        features(slip=0.67, tied=1, score=9),
    ])  # fmt: skip
    plain = calibrator(bias=-9.0, threshold=0.9)
    trusting = calibrator(bias=-9.0, threshold=0.9, trusted=frozenset(("name", "shared")))
    assert plain.estimate(rows).max() < 0.9 and not plain.recommends(rows).any()
    assert (trusting.estimate(rows) == plain.estimate(rows)).all(), "probabilities stay honest"
    assert trusting.recommends(rows).tolist() == [True, True, False, False, True]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.integers(1, 7))
def test_any_batch_size_gives_the_same(scores, size):
    made = calibrator()
    rankings = [ranking(score) for score in scores]
    together = made.rate(rankings)
    apart = [
        one
        for start in range(0, len(rankings), size)
        for one in made.rate(rankings[start : start + size])
    ]
    assert together == apart


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
def test_probabilities_are_within_0_and_1(scores):
    rows = np.vstack([features(score=score) for score in sorted(scores)])
    p = calibrator().estimate(rows)
    assert ((p > 0) & (p < 1)).all()
    assert (np.diff(p) >= 0).all()


def test_saving_and_loading(tmp_path):
    kinds = frozenset(("name", "shared"))
    made = calibrator(fitted_for={"tiers": ["exact"]}, trusted=kinds, threshold=0.7)
    made.save(tmp_path / "c.json")
    again = RankingCalibrator.load(tmp_path / "c.json", FACTS, 0.7)
    rankings = [ranking(score / 50) for score in range(50)] + [verbatim()]
    assert again.rate(rankings) == made.rate(rankings)
    assert (again.threshold, again.fitted_for) == (0.7, {"tiers": ["exact"]})
    before = (tmp_path / "c.json").read_bytes()
    again.save(tmp_path / "c.json")
    assert (tmp_path / "c.json").read_bytes() == before


@pytest.fixture
def saved(tmp_path):
    calibrator().save(tmp_path / "c.json")
    return tmp_path / "c.json"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"format": 1}, "E214"),
        ({"features": ["score"]}, "E214"),
        ({"trusted": ["nothing"]}, "E202"),
        ({"trusted": [["name"]]}, "E202"),
        ({"trusted": 3}, "E202"),
        ({"fitted_for": 3}, "E202"),
        *(({name: value}, "E202") for name in MODELS for value in (None, {}, 3)),
    ],
)
def test_damaged_files_are_refused(saved, change, code):
    content = json.dumps({**json.loads(saved.read_text()), **change}).encode()
    refused(saved, content, RankingCalibrator.load, saved, FACTS, match=code)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "change",
    [
        {"weights": [1.0]}, {"weights": "x"}, {"mean": [None] * N}, {"mean": [float("nan")] * N},
        {"scale": [0.0] * N}, {"bias": float("inf")}, {"bias": "high"},
    ],
)  # fmt: skip
def test_damaged_models_are_refused(saved, model, change):
    facts = json.loads(saved.read_text())
    facts[model] |= change
    refused(saved, json.dumps(facts).encode(), RankingCalibrator.load, saved, FACTS)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff", b"3"])
def test_what_is_no_calibrator_is_refused(saved, content):
    refused(saved, content, RankingCalibrator.load, saved, FACTS)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_outside_0_and_1_is_refused(saved, threshold):
    with pytest.raises(MedlinkError, match="E302"):
        RankingCalibrator.load(saved, FACTS, threshold)
