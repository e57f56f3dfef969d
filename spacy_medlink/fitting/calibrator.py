"""Fitting a calibrator on rankings of which it is known whether their first answer is right."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..ranking.calibrator import (
    CALIBRATOR_FEATURES,
    ISOTONIC,
    LOGISTIC,
    RankingCalibrator,
    strata_of,
)
from ..ranking.linear import LinearModel
from .quality import log_loss
from .strata import Rates, rates_of_gold
from .trials import Floats, Trials

KINDS = (LOGISTIC, ISOTONIC)
_FOLDS = 5
_SEED = 0
_MOST_ITERATIONS = 1000
_SLOPE = np.linspace(-10, 10, 81)  # between these a logistic function is as good as straight


class Fitted(NamedTuple):
    """A calibrator, and how the way it was made did on trials that it had not seen.

    probs (Floats): by models that were fitted without the trial's group, (n,).
    losses (Dict[str, float]): log loss of each kind on unseen trials; the lowest was taken.
    """

    calibrator: RankingCalibrator
    probs: Floats
    losses: dict[str, float]


def fit(trials: Trials, rates_of: Callable[[Trials], Rates] = rates_of_gold) -> Fitted:
    """Fit each kind of calibrator on some groups, try it on the others, and keep the better one.

    rates_of (Callable[[Trials], Rates]): estimates the rates of what something vouches for
        (`calibration.strata`); the model is fitted to the other trials.
    """
    fold = _folds(trials.groups, _FOLDS)
    unseen = {kind: np.full(len(trials.right), np.nan) for kind in KINDS}
    for number in range(_FOLDS):
        own = fold == number
        if not own.any():
            continue
        for kind in KINDS:
            model = _fit_kind(kind, trials.part(~own), rates_of)
            unseen[kind][own] = model.estimate(trials.features[own])
    losses = {kind: log_loss(unseen[kind], trials.right, trials.weights) for kind in KINDS}
    best = min(KINDS, key=lambda kind: losses[kind])
    return Fitted(_fit_kind(best, trials, rates_of), unseen[best], losses)


def _fit_kind(kind: str, trials: Trials, rates_of: Callable[[Trials], Rates]) -> RankingCalibrator:
    others = trials.part(strata_of(trials.features) == 0)
    model = _fit_logistic(others)
    steps = _steps(model, others) if kind == ISOTONIC and len(others.right) else None
    return RankingCalibrator(model, steps, rates=rates_of(trials))


def _fit_logistic(trials: Trials) -> LinearModel:
    """Fit the logistic model; where all trials went one way, it says so of any."""
    from sklearn.linear_model import LogisticRegression

    features, right, weights = trials.features, trials.right, trials.weights
    model = LinearModel.standardising(CALIBRATOR_FEATURES, features, weights)
    if not len(right):
        return model
    if right.all() or not right.any():
        share = (weights[right].sum() + 1) / (weights.sum() + 2)  # Laplace
        return replace(model, bias=float(np.log(share / (1 - share))))
    found = LogisticRegression(max_iter=_MOST_ITERATIONS)
    found.fit(model.standardise(features), right, sample_weight=weights)
    return replace(model, weights=found.coef_[0].astype(float), bias=float(found.intercept_[0]))


def _steps(model: LinearModel, trials: Trials) -> tuple[Floats, Floats]:
    """Fit steps on top: each half of the groups shows what the other half's model makes of it.

    Steps follow the trials at hand closely, and the slope hardly: the mean of the two is taken,
    which does better on unseen groups than either.
    """
    from sklearn.isotonic import IsotonicRegression

    half = _folds(trials.groups, 2) == 0
    z = np.zeros(len(trials.right))
    for own in (half, ~half):
        if own.any() and not own.all():
            z[own] = _fit_logistic(trials.part(~own)).score(trials.features[own])
        else:
            z[own] = model.score(trials.features[own])
    steps = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    steps.fit(z, trials.right.astype(float), sample_weight=trials.weights)
    levels = np.asarray(steps.X_thresholds_, np.float64)
    both = np.union1d(levels, _SLOPE)
    apart = np.append(True, np.diff(both) > 1e-9)
    both = both[apart]
    values = (np.interp(both, levels, steps.y_thresholds_) + 1 / (1 + np.exp(-both))) / 2
    return both, np.maximum.accumulate(values)


def _folds(groups: NDArray[np.int64], folds: int) -> NDArray[np.int64]:
    """Deal the groups out, the same way each time: (n,) number of the fold."""
    distinct, place = np.unique(groups, return_inverse=True)
    dealt = np.random.default_rng(_SEED).permutation(len(distinct)) % folds
    return np.asarray(dealt[place], dtype=np.int64)
