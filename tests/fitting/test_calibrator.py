import numpy as np
import pytest

from spacy_medlink.evaluation.intervals import calibration_error
from spacy_medlink.fitting.calibrator import fit, log_loss
from spacy_medlink.fitting.folds import deal
from tests.fitting.samples import ranked_examples


@pytest.fixture(scope="module")
def fitted():
    own, promise = ranked_examples()
    return own, promise, fit(own)


def test_probabilities_are_what_they_promise(fitted):
    own, promise, found = fitted
    assert calibration_error(found.probs, own.right, own.weights) < 0.05
    assert np.abs(found.probs - promise).mean() < 0.06
    blind = np.full(len(own.right), np.average(own.right, weights=own.weights))
    best = log_loss(found.probs, own.right, own.weights)
    assert best < 0.75 * log_loss(blind, own.right, own.weights)


def test_the_calibrator_holds_on_other_trials(fitted):
    _, _, found = fitted
    other, promise = ranked_examples(seed=1)
    probs = found.calibrator.estimate(other.features)
    assert np.abs(probs - promise).mean() < 0.06
    assert calibration_error(probs, other.right, other.weights) < 0.06


@pytest.mark.parametrize("right", [True, False])
def test_examples_that_all_go_one_way(right):
    own, _ = ranked_examples(100)
    found = fit(own._replace(right=np.full(100, right)))
    assert ((found.probs > 0.9) if right else (found.probs < 0.1)).all()


def test_no_group_is_on_both_sides_of_a_split():
    """What is right is known by the group alone: unseen groups must come out as undecided."""
    generator = np.random.default_rng(0)
    own, _ = ranked_examples(600)
    of_group = generator.random(300) < 0.5
    own = own._replace(right=of_group[own.groups])
    own = own._replace(features=own.features + own.groups[:, np.newaxis] * 1e-3)
    assert log_loss(fit(own).probs, own.right, own.weights) > 0.6


def test_log_loss():
    probs, right = np.array([0.5, 0.25]), np.array([True, False])
    assert log_loss(probs, right, np.array([1.0, 0.0])) == pytest.approx(np.log(2))
    assert log_loss(probs, right, np.array([0.0, 2.0])) == pytest.approx(-np.log(0.75))


def test_groups_are_dealt_to_folds_of_like_size():
    """The same way each time, in whatever order they come."""
    docs = [f"doc {number % 50}" for number in range(200)]
    dealt = deal(docs)
    assert (deal(docs[::-1])[::-1] == dealt).all()
    of_doc = dict(zip(docs, dealt.tolist(), strict=True))
    assert [of_doc[doc] for doc in docs] == dealt.tolist(), "a document is in one fold"
    assert np.bincount(list(of_doc.values())).tolist() == [10] * 5
    assert deal([]).shape == (0,)
