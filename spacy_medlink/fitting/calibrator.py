"""Fitting a calibrator on examples of which it is known whether their first candidate is right.

What something vouches for, a terminology by a name or corrections, is not estimated by a model:
what only resembles a name says nothing of these. Each such stratum has a rate of its own, of gold
mentions where there are some, else a stated one, that of the training parts of two corpora
(docs/calibration.md).
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
    # Where all are right, it is as if one more concept were wrong.
    share = 1 / (len(off) + 2)
    return precision, max(error, float(np.sqrt(share * (1 - share) / (len(off) + 2))))


def _spread(probs: Floats) -> list[float]:
    """Pick probabilities that occur, the highest first."""
    distinct = np.unique(probs)[::-1]
    if len(distinct) > _POINTS:
        ranks = np.linspace(0, len(probs) - 1, _POINTS).round().astype(np.int64)
        distinct = np.unique(np.sort(probs)[::-1][ranks])[::-1]
    return [float(value) for value in distinct.tolist()]


KINDS = (LOGISTIC, ISOTONIC)
_MOST_ITERATIONS = 1000
_SLOPE = np.linspace(-10, 10, 81)  # between two of these a logistic function is nearly straight
DIGITS = 4  # of the figures in a manifest
_LEAST = 1e-12

Rates = Mapping[str, float]
# Of the mentions of NCBI and BC5CDR (training parts) that are the name of one concept alone in
# MEDIC, a fifth of it removed, 95.5 and 94.3 % are linked rightly; of the short forms among them
# 72 %. Of what the other documents gave as a correction, 87 and 92 %; of what is both, 99.6 and
# 99.8 %, in documents that are like each other. Of the few whose name other concepts have, too, 76
# and 64 %: which of them is meant, `_.ambiguous` says to ask, and NIL would say that none is.
STATED: Rates = dict(zip(STRATA[1:], (0.955, 0.9, 0.98, 0.75), strict=True))
SHORT_FORMS = 0.75
STRENGTH = 50.0  # mentions that a stated rate is worth beside gold ones


def rates_of_gold(examples: RankedExamples) -> Rates:
    """Estimate the rates of annotated mentions, pulled to the stated ones where they are few."""
    return {name: _rate_of_gold(own, STATED[name]) for name, own in _strata(examples).items()}


def rates_of_names(examples: RankedExamples) -> Rates:
    """Take the stated rates; of names less for short forms, and for names that concepts share.

    That a name finds its own concept says little; that it finds another, when its own is removed,
    says how often a name would belong to a concept that the knowledge base lacks.
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
    """A calibrator, and how the way it was made did on examples that it had not seen.

    examples (RankedExamples): that it was fitted to.
    probs (Floats): by models that were fitted without the example's group, (n,).
    losses (Dict[str, float]): log loss of each kind on unseen examples; the lowest was taken.
    """

    calibrator: RankingCalibrator
    examples: RankedExamples
    probs: Floats
    losses: dict[str, float]

    @property
    def curve(self) -> list[Point]:
        """What thresholds would give, the highest first."""
        return points(self.probs, self.examples)

    def facts(self, threshold: float, chosen: Point | None) -> dict[str, Any]:
        """Write down what a manifest says of it. chosen (Optional[Point]): what is expected."""
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
    """Fit each kind of calibrator on some groups, try it on the others, and keep the better one.

    rates_of (Callable[[RankedExamples], Rates]): estimates the rates of what something vouches for
        (`STRATA`); the model is fitted to the other examples.
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
    """Fit the logistic model; where all examples went one way, it says so of any."""
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
    """Fit steps on top: each half of the groups shows what the other half's model makes of it.

    Steps follow the examples at hand closely, and the slope hardly: the mean of the two is taken,
    which does better on unseen groups than either.
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
    """Compute the mean of -log of the probability that was given to what came true."""
    given = np.where(right, probs, 1 - probs)
    return float(np.average(-np.log(np.maximum(given, _LEAST)), weights=weights))


def _rounded(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, DIGITS) for name, value in figures.items()}
