"""Thresholds: what each gives, and which one gives links of a wanted precision."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..ranking.linear import Floats
from .examples import Flags, RankedExamples

_POINTS = 250  # thresholds that are looked at, evenly over the examples


class Point(NamedTuple):
    """What a threshold gives.

    precision (float): share of the links that are right. error (float): its standard error.
    coverage (float): share that is linked, rightly or not, of the mentions whose concept is in the
        knowledge base. of_all (float): of all mentions.
    """

    threshold: float
    precision: float
    error: float
    coverage: float
    of_all: float


def points(probs: Floats, examples: RankedExamples) -> list[Point]:
    """Tell what thresholds would give, the highest first.

    RETURNS (List[Point]): for probabilities that occur, 250 at most, the lowest among them.
    """
    every = float(examples.weights.sum()) + examples.not_found[0]
    known = float((examples.weights * examples.known).sum()) + examples.not_found[1]
    found = []
    for threshold in _spread(probs):
        linked = probs >= threshold
        weight = examples.weights * linked
        precision, error = _precision(examples, linked)
        covered = float((weight * examples.known).sum())
        found.append(
            Point(
                threshold,
                precision,
                error,
                covered / known if known else 0.0,
                float(weight.sum()) / every,
            )
        )
    return found


def best_threshold(curve: Sequence[Point], target: float) -> Point | None:
    """Find the threshold that links most at a precision.

    The precision less its standard error must reach the target: a threshold that only just does
    on some mentions does not on others.

    RETURNS (Optional[Point]): None where no threshold does.
    """
    fitting = [one for one in curve if one.precision - one.error >= target]
    return min(fitting, key=lambda one: one.threshold, default=None)


def at_threshold(curve: Sequence[Point], threshold: float) -> Point | None:
    """Find what a threshold gives; None where nothing would be linked."""
    passing = [one for one in curve if one.threshold >= threshold]
    return passing[-1]._replace(threshold=threshold) if passing else None


def _precision(examples: RankedExamples, linked: Flags) -> tuple[float, float]:
    """Compute the precision of links, and its standard error over groups.

    Mentions of one concept are right or wrong together, so that groups, not mentions, are what
    was drawn: the variance of a ratio over clusters (Cochran, "Sampling techniques", 1977, 6.7).
    """
    own = examples.part(linked)
    total = float(own.weights.sum())
    precision = float((own.weights * own.right).sum()) / total
    _, group = np.unique(own.groups, return_inverse=True)
    off = np.bincount(group, own.weights * (own.right - precision))
    error = float(np.sqrt(np.square(off).sum())) / total
    # Where all are right: as much as one more concept that is wrong would make it.
    share = 1 / (len(off) + 2)
    return precision, max(error, float(np.sqrt(share * (1 - share) / (len(off) + 2))))


def _spread(probs: Floats) -> list[float]:
    """Pick probabilities that occur, the highest first."""
    distinct = np.unique(probs)[::-1]
    if len(distinct) > _POINTS:
        ranks = np.linspace(0, len(probs) - 1, _POINTS).round().astype(np.int64)
        distinct = np.unique(np.sort(probs)[::-1][ranks])[::-1]
    return [float(value) for value in distinct.tolist()]
