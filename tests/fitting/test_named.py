"""What a terminology or corrections vouch for: stated from text, and changed by text alone."""

import numpy as np
import pytest

from spacy_medlink.fitting.calibrate import _choose
from spacy_medlink.fitting.calibrator import PROBABLE, Point, fit, stated_model
from spacy_medlink.fitting.examples import RankedExamples
from spacy_medlink.linking.calibrator import (
    AGAINST,
    CALIBRATOR_FEATURES,
    EITHER,
    KINDS,
    calibrator_features,
    logistic,
)
from tests.fitting.samples import FACTS, ranked_examples
from tests.linking.test_calibrator import verbatim


def some(rankings, right, weights=None):
    n = len(rankings)
    return RankedExamples(
        calibrator_features(rankings, FACTS),
        np.asarray(right, dtype=np.bool_),
        np.ones(n, dtype=np.bool_),
        np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64),
        np.arange(n) + 1000,
    )


def both(one, other):
    return RankedExamples._make(
        [*map(np.concatenate, zip(one[:-1], other[:-1], strict=True)), (0.0, 0.0)]
    )


@pytest.mark.parametrize("on_names", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_what_resembles_names_does_not_change_what_is_one(share, on_names):
    """However often fuzzy rankings are right, and however high they score."""
    fuzzy, _ = ranked_examples(400)
    generator = np.random.default_rng(0)
    fuzzy = fuzzy._replace(right=generator.random(400) < share)
    names = some([verbatim(row) for row in range(60)], [True] * 57 + [False] * 3)
    alone, among = fit(names, on_names), fit(both(fuzzy, names), on_names)
    p = among.calibrator.estimate(names.features)
    assert p == pytest.approx(alone.calibrator.estimate(names.features), abs=1e-4)


def test_gold_mentions_take_the_place_of_what_is_stated():
    stated = logistic(stated_model().score(some([verbatim()], [True]).features))[0]
    p = {
        count: fit(some([verbatim(row) for row in range(count)], [False] * count))
        .calibrator.estimate(some([verbatim()], [True]).features)[0]
        for count in (4, 390)
    }  # fmt: skip
    assert stated > p[4] > 0.5 and p[390] < 0.1


def test_names_that_find_themselves_show_nothing_and_others_do():
    names = [verbatim(row) for row in range(40)]
    shared = [verbatim(row, rival=True, tied=(row, row + 1)) for row in range(40, 80)]
    own = some([*names, *shared], [True] * 80)
    stated = logistic(stated_model().score(own.features))
    assert fit(own, on_names=True).calibrator.estimate(own.features) == pytest.approx(stated, 0.01)
    other = own._replace(right=np.arange(80) % 2 == 0)
    p = fit(other, on_names=True).calibrator.estimate(own.features)
    assert (p < stated).all() and p[:40].min() > p[40:].max()


@pytest.mark.parametrize("seed", range(3))
def test_no_fit_gives_a_weight_of_the_wrong_sign(seed):
    """Whatever the examples say: here they are right at random, or the wrong way round."""
    own, promise = ranked_examples(300, seed)
    names = some([verbatim(row, rival=bool(row % 2)) for row in range(80)],
                 np.arange(80) % 2 == 1)  # fmt: skip
    backward = both(own._replace(right=promise < 0.5), names)
    made = fit(backward).calibrator
    for model in (made.named, made.misspelt, made.resembling):
        for name, weight in zip(CALIBRATOR_FEATURES, model.weights.tolist(), strict=True):
            assert name == EITHER or (weight <= 0 if name in AGAINST else weight >= 0), name


def point(threshold, precision, coverage):
    return Point(threshold, precision, 0.01, coverage, coverage)


def test_no_threshold_makes_names_nil_that_may_be_as_probable():
    names = some([verbatim(row) for row in range(60)], [True] * 50 + [False] * 10)
    fitted = fit(names)
    most = fitted.at_most[KINDS.index("name")]
    assert 50 / 60 < most < 1
    curve = [point(most + 0.01, 0.99, 0.05), point(most, 0.9, 0.6), point(0.7, 0.85, 0.8)]
    assert _choose(curve, fitted, 0.98) == curve[1], "the best that leaves no name out"
    assert _choose(curve, fitted, 0.88) == curve[1]
    assert _choose(curve, fitted, 0.8) == curve[2]
    chosen = fitted.at(curve[1].threshold)
    assert chosen.calibrator.recommends(names.features).all()


def test_names_that_text_shows_to_be_wrong_become_nil():
    """Short forms here; other names, which are right, do not."""
    short = [verbatim(row, form="ST") for row in range(60)]
    for one in short:
        one[0].scores["exact"] = 1.0
    names = some([*short, *(verbatim(row) for row in range(60, 120))],
                 [False] * 60 + [True] * 60)  # fmt: skip
    made = fit(names).at(0.8).calibrator
    assert made.recommends(names.features).tolist() == [False] * 60 + [True] * 60
    on_names = fit(names, on_names=True).at(PROBABLE).calibrator
    assert on_names.recommends(names.features).all(), "names alone show no such thing"
