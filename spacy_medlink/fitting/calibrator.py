"""Fits a calibrator to examples whose first candidates are known to be right or wrong.

No model estimates links with evidence beyond similarity, such as verbatim names and corrections:
examples that only resemble a name tell nothing of these. Each such stratum has its own rate,
estimated from gold mentions where there are some, or else a stated one from the training parts of
two corpora (docs/calibration.md).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..evaluation.calibration import calibration_error
from ..ranking.calibrator import (
    CALIBRATOR_FEATURES,
    ISOTONIC,
    LOGISTIC,
    STRATA,
    RankingCalibrator,
    column,
    strata_of,
)
from ..ranking.linear import Floats, LinearModel
from .examples import Flags, RankedExamples
from .folds import FOLDS, deal

_POINTS = 250  # thresholds to try, evenly spread over the examples


class Point(NamedTuple):
    """A threshold and its results.

    precision (float): share of the links that are right. error (float): its standard error.
    coverage (float): share of the mentions with a concept in the knowledge base that are linked,
        rightly or not. of_all (float): the same share of all mentions.
    """

    threshold: float
    precision: float
    error: float
    coverage: float
    of_all: float


def points(probs: Floats, examples: RankedExamples) -> list[Point]:
    """Compute the results of thresholds, the highest first.

    RETURNS (List[Point]): for at most 250 of the probabilities, with the lowest one.
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

    The precision less its standard error must reach the target, because a threshold that only just
    reaches it on some mentions fails on others.

    RETURNS (Optional[Point]): None where no threshold reaches it.
    """
    fitting = [one for one in curve if one.precision - one.error >= target]
    return min(fitting, key=lambda one: one.threshold, default=None)


def at_threshold(curve: Sequence[Point], threshold: float) -> Point | None:
    """Get the results of a threshold; None where nothing would be linked."""
    passing = [one for one in curve if one.threshold >= threshold]
    return passing[-1]._replace(threshold=threshold) if passing else None


def _precision(examples: RankedExamples, linked: Flags) -> tuple[float, float]:
    """Compute the precision of links, and its standard error over groups.

    Mentions of one concept are right or wrong together, so the groups, not the mentions, are the
    sample: the variance of a ratio over clusters (Cochran, "Sampling techniques", 1977, 6.7).
    """
    own = examples.part(linked)
    total = float(own.weights.sum())
    precision = float((own.weights * own.right).sum()) / total
    _, group = np.unique(own.groups, return_inverse=True)
    off = np.bincount(group, own.weights * (own.right - precision))
    error = float(np.sqrt(np.square(off).sum())) / total
    # If all are right, one more wrong concept is assumed.
    share = 1 / (len(off) + 2)
    return precision, max(error, float(np.sqrt(share * (1 - share) / (len(off) + 2))))


def _spread(probs: Floats) -> list[float]:
    """Select some of the probabilities, the highest first."""
    distinct = np.unique(probs)[::-1]
    if len(distinct) > _POINTS:
        ranks = np.linspace(0, len(probs) - 1, _POINTS).round().astype(np.int64)
        distinct = np.unique(np.sort(probs)[::-1][ranks])[::-1]
    return [float(value) for value in distinct.tolist()]


KINDS = (LOGISTIC, ISOTONIC)
_MOST_ITERATIONS = 1000
_SLOPE = np.linspace(-10, 10, 81)  # a logistic function is nearly straight between these
DIGITS = 4  # of the figures in a manifest
_LEAST = 1e-12

Rates = Mapping[str, float]
# Measured on the training parts of NCBI and BC5CDR over MEDIC without a fifth of its concepts.
# Mentions that are the name of only one concept: 95.5 and 94.3 % of the links are right, of short
# forms among them 72 %. Corrections from other documents: 87 and 92 %. Both: 99.6 and 99.8 %, since
# these documents are alike. The few names that concepts share: 76 and 64 %; here `_.ambiguous` asks
# the reader to choose, while NIL would say that no concept is meant.
STATED: Rates = dict(zip(STRATA[1:], (0.955, 0.9, 0.98, 0.75), strict=True))
SHORT_FORMS = 0.75
STRENGTH = 50.0  # number of gold mentions that have the same weight as a stated rate


def rates_of_gold(examples: RankedExamples) -> Rates:
    """Estimate rates from annotated mentions; few mentions stay near the stated rates."""
    return {name: _rate_of_gold(own, STATED[name]) for name, own in _strata(examples).items()}


def rates_of_names(examples: RankedExamples) -> Rates:
    """Take the stated rates, lowered for short forms and shared names by what names show.

    A name finds its own concept, which tells little. If that concept is removed and the name finds
    another, this shows how often a name belongs to a concept that the knowledge base lacks.
    """
    verbatim = _strata(examples)[STRATA[1]]
    if not len(verbatim.right):
        return STATED
    stated = np.where(column(verbatim.features, "short form") > 0, SHORT_FORMS, STATED[STRATA[1]])
    return {
        **STATED, STRATA[1]: float(np.average(stated * verbatim.right, weights=verbatim.weights))
    }  # fmt: skip


def _strata(examples: RankedExamples) -> dict[str, RankedExamples]:
    strata = strata_of(examples.features)
    return {name: examples.part(strata == place) for place, name in enumerate(STRATA) if place}


def _rate_of_gold(own: RankedExamples, stated: float) -> float:
    right = float((own.weights * own.right).sum())
    return (STRENGTH * stated + right) / (STRENGTH + float(own.weights.sum()))


class Fitted(NamedTuple):
    """A calibrator, and the results of the same fit on unseen examples.

    examples (RankedExamples): used to fit it.
    probs (Floats): by models that were fitted without the example's group, (n,).
    losses (Dict[str, float]): log loss of each kind on unseen examples; the lowest won.
    """

    calibrator: RankingCalibrator
    examples: RankedExamples
    probs: Floats
    losses: dict[str, float]

    @property
    def curve(self) -> list[Point]:
        """Compute the results of thresholds, the highest first."""
        return points(self.probs, self.examples)

    def facts(self, threshold: float, chosen: Point | None) -> dict[str, Any]:
        """Make the facts for a manifest. chosen (Optional[Point]): the expected results."""
        expected = {} if chosen is None else chosen._asdict()
        own = self.examples
        error = calibration_error(self.probs, own.right, own.weights)
        return {
            "kind": self.calibrator.kind,
            "threshold": threshold,
            "expected": _rounded({k: v for k, v in expected.items() if k != "threshold"}),
            "rates": _rounded(self.calibrator.rates or {}),
            "calibration_error": round(error, DIGITS),
            "log_loss": _rounded(self.losses),
        }


def fit(
    examples: RankedExamples, rates_of: Callable[[RankedExamples], Rates] = rates_of_gold
) -> Fitted:
    """Fit each kind of calibrator on some groups, test it on the others, and keep the better one.

    rates_of (Callable[[RankedExamples], Rates]): estimates the rates of the strata (`STRATA`); the
        model is fitted to the other examples.
    """
    fold = deal(examples.groups, FOLDS)
    unseen = {kind: np.full(len(examples.right), np.nan) for kind in KINDS}
    for number in range(FOLDS):
        own = fold == number
        if not own.any():
            continue
        for kind in KINDS:
            model = _fit_kind(kind, examples.part(~own), rates_of)
            unseen[kind][own] = model.estimate(examples.features[own])
    losses = {kind: log_loss(unseen[kind], examples.right, examples.weights) for kind in KINDS}
    best = min(KINDS, key=lambda kind: losses[kind])
    return Fitted(_fit_kind(best, examples, rates_of), examples, unseen[best], losses)


def _fit_kind(
    kind: str, examples: RankedExamples, rates_of: Callable[[RankedExamples], Rates]
) -> RankingCalibrator:
    others = examples.part(strata_of(examples.features) == 0)
    model = _fit_logistic(others)
    steps = _steps(model, others) if kind == ISOTONIC and len(others.right) else None
    return RankingCalibrator(model, steps, rates=rates_of(examples))


def _fit_logistic(examples: RankedExamples) -> LinearModel:
    """Fit the logistic model; a constant one if all examples are right, or all wrong."""
    from sklearn.linear_model import LogisticRegression

    features, right, weights = examples.features, examples.right, examples.weights
    model = LinearModel.standardising(CALIBRATOR_FEATURES, features, weights)
    if not len(right):
        return model
    if right.all() or not right.any():
        share = (weights[right].sum() + 1) / (weights.sum() + 2)  # Laplace
        return replace(model, bias=float(np.log(share / (1 - share))))
    found = LogisticRegression(max_iter=_MOST_ITERATIONS)
    found.fit(model.standardise(features), right, sample_weight=weights)
    return replace(model, weights=found.coef_[0].astype(float), bias=float(found.intercept_[0]))


def _steps(model: LinearModel, examples: RankedExamples) -> tuple[Floats, Floats]:
    """Fit steps: each half of the groups is scored by the model of the other half.

    Steps follow the examples too closely, and the logistic curve hardly at all. The mean of both
    does better on unseen groups than either.
    """
    from sklearn.isotonic import IsotonicRegression

    half = deal(examples.groups, 2) == 0
    z = np.zeros(len(examples.right))
    for own in (half, ~half):
        if own.any() and not own.all():
            z[own] = _fit_logistic(examples.part(~own)).score(examples.features[own])
        else:
            z[own] = model.score(examples.features[own])
    steps = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    steps.fit(z, examples.right.astype(float), sample_weight=examples.weights)
    levels = np.asarray(steps.X_thresholds_, np.float64)
    both = np.union1d(levels, _SLOPE)
    apart = np.append(True, np.diff(both) > 1e-9)
    both = both[apart]
    values = (np.interp(both, levels, steps.y_thresholds_) + 1 / (1 + np.exp(-both))) / 2
    return both, np.maximum.accumulate(values)


def log_loss(probs: Floats, right: Flags, weights: Floats) -> float:
    """Compute the mean of -log of the probability of what turned out true."""
    given = np.where(right, probs, 1 - probs)
    return float(np.average(-np.log(np.maximum(given, _LEAST)), weights=weights))


def _rounded(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, DIGITS) for name, value in figures.items()}
