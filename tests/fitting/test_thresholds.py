import numpy as np
import pytest

from spacy_medlink.fitting.calibrator import at_threshold, best_threshold, points
from spacy_medlink.fitting.examples import RankedExamples
from tests.fitting.samples import ranked_examples


def few(right, known, weights, groups):
    columns = (np.array(right), np.array(known), np.array(weights, float), np.array(groups))
    return RankedExamples(np.zeros((len(right), 1)), *columns)


def test_precision_and_coverage_of_thresholds():
    own = few([1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1], [0, 1, 2, 3])
    own = own._replace(right=own.right > 0, in_kb=own.in_kb > 0, not_found=(2.0, 1.0))
    curve = points(np.array([0.9, 0.6, 0.6, 0.2]), own)
    found = [(one.threshold, one.precision, one.coverage, one.of_all) for one in curve]
    assert found == [
        (0.9, 1.0, 0.25, pytest.approx(1 / 6)),
        (0.6, pytest.approx(2 / 3), 0.75, 0.5),
        (0.2, 0.5, 0.75, pytest.approx(4 / 6)),
    ]
    assert at_threshold(curve, 0.7)[1:] == curve[0][1:]
    assert at_threshold(curve, 0.95) is None


def test_the_error_counts_groups_not_mentions():
    """The same mentions, once each of their own concept, once ten of each."""
    own, _ = ranked_examples(1000)
    probs = np.ones(1000)
    apart = own._replace(groups=np.arange(1000), weights=np.ones(1000))
    together = apart._replace(groups=np.arange(1000) // 10, right=np.repeat(apart.right[::10], 10))
    (one,), (other,) = points(probs, apart), points(probs, together)
    share = apart.right.mean()
    assert one.error == pytest.approx(np.sqrt(share * (1 - share) / 1000), rel=1e-6)
    assert other.error == pytest.approx(one.error * np.sqrt(10), rel=0.05)


@pytest.mark.parametrize("target", [0.6, 0.8, 0.9, 0.95])
def test_the_threshold_links_most_at_the_precision(target):
    own, promise = ranked_examples(4000)
    curve = points(promise, own)
    best = best_threshold(curve, target)
    assert best is not None
    assert best.precision - best.error >= target
    assert not any(
        one.coverage > best.coverage and one.precision - one.error >= target for one in curve
    )


def test_no_threshold_for_what_cannot_be_reached():
    own, promise = ranked_examples(300)
    wrong = own._replace(right=np.zeros(300, dtype=bool))
    assert best_threshold(points(promise, wrong), 0.5) is None
    assert best_threshold(points(promise, own), 1.0) is None
