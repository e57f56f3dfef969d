import numpy as np
import pytest

from spacy_medlink.calibration import Trials, fit
from spacy_medlink.calibration.fitting import choose
from spacy_medlink.calibration.quality import calibration_error, log_loss, log_loss_gain
from tests.calibration.samples import trials


@pytest.fixture(scope="module")
def fitted():
    own, promise = trials()
    return own, promise, fit(own)


def test_probabilities_are_what_they_promise(fitted):
    own, promise, found = fitted
    assert calibration_error(found.probs, own.right, own.weights) < 0.05
    assert np.abs(found.probs - promise).mean() < 0.06
    blind = np.full(len(own.right), np.average(own.right, weights=own.weights))
    best = found.losses[found.calibrator.kind]
    assert best < 0.75 * log_loss(blind, own.right, own.weights)
    assert log_loss(found.probs, own.right, own.weights) == pytest.approx(best)


def test_the_calibrator_holds_on_other_trials(fitted):
    _, _, found = fitted
    other, promise = trials(seed=1)
    probs = found.calibrator.estimate(other.features)
    assert np.abs(probs - promise).mean() < 0.06
    assert calibration_error(probs, other.right, other.weights) < 0.06


def test_steps_must_gain_beyond_doubt(fitted):
    own, promise, found = fitted
    assert found.calibrator.kind == choose(found.probs, found.probs**1.5, own) == "logistic"
    assert choose(promise**3, promise, own) == "isotonic"
    # Better by chance is not enough.
    generator, kinds = np.random.default_rng(0), []
    few, likely = own.part(np.arange(len(own.right)) < 60), promise[:60]
    for _ in range(40):
        other = np.clip(likely + generator.normal(0, 0.1, 60), 0.01, 0.99)
        if log_loss_gain(other, likely, few)[0] > 0:
            kinds.append(choose(likely, other, few))
    assert kinds.count("logistic") > kinds.count("isotonic")


def test_the_gain_of_a_model_and_its_error():
    own, promise = trials(2000)
    worse = np.clip(promise**3, 0.01, 0.99)
    gain, error = log_loss_gain(promise, worse, own)
    losses = [log_loss(probs, own.right, own.weights) for probs in (worse, promise)]
    assert gain == pytest.approx(losses[0] - losses[1])
    assert gain > 2 * error > 0
    assert log_loss_gain(worse, worse, own) == (0.0, 0.0)
    # Trials of one group are one draw, however many there are.
    same = [np.repeat(one[:20], 100) for one in (promise, worse)]
    together = Trials(
        *(np.repeat(column[:20], 100, axis=0) for column in own[:4]), np.repeat(np.arange(20), 100)
    )
    apart = together._replace(groups=np.arange(2000))
    assert log_loss_gain(*same, together)[1] > 5 * log_loss_gain(*same, apart)[1]


def test_steps_are_taken_where_no_slope_fits():
    """Right below 0.3 and above 0.7 of a score, as no logistic function of it can say."""
    own, _ = trials(3000)
    score = own.features[:, 0]
    own = own._replace(right=(score > 0.5) & ((score < 0.6) | (score > 0.8)))
    found = fit(own)
    assert found.calibrator.kind == "isotonic"
    assert found.losses["isotonic"] < found.losses["logistic"]


def test_fitting_twice_gives_the_same(fitted):
    own, _, found = fitted
    again = fit(own)
    assert again.probs.tolist() == found.probs.tolist()
    assert again.calibrator.weights.tolist() == found.calibrator.weights.tolist()


@pytest.mark.parametrize("right", [True, False])
def test_trials_that_all_go_one_way(right):
    own, _ = trials(100)
    found = fit(own._replace(right=np.full(100, right)))
    assert ((found.probs > 0.9) if right else (found.probs < 0.1)).all()


def test_no_group_is_on_both_sides_of_a_split():
    """What is right is known by the group alone: unseen groups must come out as undecided."""
    generator = np.random.default_rng(0)
    own, _ = trials(600)
    of_group = generator.random(300) < 0.5
    own = own._replace(right=of_group[own.groups])
    own = own._replace(features=own.features + own.groups[:, np.newaxis] * 1e-3)
    assert fit(own).losses["logistic"] > 0.6
