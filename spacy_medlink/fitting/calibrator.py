"""Fits a calibrator to examples whose first candidates are known to be right or wrong.

What only resembles a name is fitted to the examples alone. How probable names and corrections are
is known from annotated text (`_STATED`): few examples change this little, and names of the
knowledge base, which always find themselves, only where they find another concept
(docs/calibration.md).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..evaluation.intervals import calibration_error
from ..linking.calibrator import (
    AGAINST,
    CALIBRATOR_FEATURES,
    EITHER,
    KINDS,
    MISSPELT,
    MODELS,
    NAMED,
    RESEMBLING,
    RankingCalibrator,
    column,
    kinds_of,
    logistic,
    model_of,
)
from ..linking.linear import Floats, LinearModel
from ..types import Data
from .examples import Flags, RankedExamples
from .folds import FOLDS, deal

PROBABLE = 0.75  # least probability of links after a build without annotated text
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
    in_kb = float((examples.weights * examples.in_kb).sum()) + examples.not_found[1]
    results = []
    for threshold in _spread(probs):
        linked = probs >= threshold
        weight = examples.weights * linked
        precision, error = _precision(examples, linked)
        covered = float((weight * examples.in_kb).sum())
        results.append(
            Point(
                threshold,
                precision,
                error,
                covered / in_kb if in_kb else 0.0,
                float(weight.sum()) / every,
            )
        )
    return results


def best_threshold(curve: Sequence[Point], target: float) -> Point | None:
    """Find the threshold that links most at a precision.

    The precision less its standard error must reach the target, because a threshold that only just
    reaches it on some mentions fails on others.

    RETURNS (Optional[Point]): None where no threshold reaches it.
    """
    fitting = [point for point in curve if point.precision - point.error >= target]
    return min(fitting, key=lambda point: point.threshold, default=None)


def at_threshold(curve: Sequence[Point], threshold: float) -> Point | None:
    """Get the results of a threshold; None where nothing would be linked."""
    passing = [point for point in curve if point.threshold >= threshold]
    return passing[-1]._replace(threshold=threshold) if passing else None


def _precision(examples: RankedExamples, linked: Flags) -> tuple[float, float]:
    """Compute the precision of links, and its standard error over groups.

    Mentions of one concept are right or wrong together, so the groups, not the mentions, are the
    sample: the variance of a ratio over clusters (Cochran, "Sampling techniques", 1977, 6.7).
    """
    links = examples.part(linked)
    total = float(links.weights.sum())
    precision = float((links.weights * links.right).sum()) / total
    _, group = np.unique(links.groups, return_inverse=True)
    off = np.bincount(group, links.weights * (links.right - precision))
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


_MOST_ITERATIONS = 500
DIGITS = 4  # of the figures in a manifest
_LEAST = 1e-12
_LAPLACE = 1e-2  # keeps the bias finite where all examples are right, or all wrong
_SURE = 2.0  # standard errors within which a rate may be higher

# (usual value, weight) of the features of names and corrections, fitted to the training parts of
# NCBI and BC5CDR over MEDIC and to GSC+ over the HPO, each without a fifth of the concepts. Of
# mentions that are a name of one concept alone 94.6, 94.3 and 93.3 % are right; 97, 96 and 97 %
# where it is the preferred name, 92, 91 and 89 % where it is not.
_STATED = {
    "exact": (1.0, 1.7), "memory": (0.0, 0.85), "same letters": (1.0, 0.25),
    "is preferred": (0.5, 1.2), "names": (2.0, 0.5), "sources": (0.7, 0.15), "length": (2.6, 0.2),
    "margin": (0.3, 0.2), "short form": (0.0, -1.8), "rival": (0.0, -0.5), "tied": (0.0, -0.8),
}  # fmt: skip
_STATED_BIAS = 2.6
_STRENGTH = 8.0  # of what is stated: that of 50 to 100 mentions, of which nearly all are right
_HELD = 1e6


def stated_model() -> LinearModel:
    """Make the model of names and corrections that holds where no text says more."""
    mean, weights = (
        np.array([_STATED.get(name, (0.0, 0.0))[part] for name in CALIBRATOR_FEATURES])
        for part in (0, 1)
    )
    return LinearModel.of(CALIBRATOR_FEATURES, mean, 1.0, weights, _STATED_BIAS)


class Fitted(NamedTuple):
    """A calibrator, and the results of the same fit on unseen examples.

    examples (RankedExamples): used to fit it.
    probs (Floats): by models that were fitted without the example's group, (n,).
    at_most (Floats): the highest rate of right links that each kind of names may have, by KINDS.
    """

    calibrator: RankingCalibrator
    examples: RankedExamples
    probs: Floats
    at_most: Floats

    @property
    def curve(self) -> list[Point]:
        """Compute the results of thresholds, the highest first.

        A threshold that a kind of names may reach makes none of them NIL.
        """
        return points(self._lifted, self.examples)

    @property
    def _lifted(self) -> Floats:
        return np.maximum(self.probs, self.at_most[kinds_of(self.examples.features)])

    def at(self, threshold: float) -> "Fitted":
        """Recommend a threshold, and the links of names that may be as probable."""
        threshold = math.floor(threshold * 10**DIGITS) / 10**DIGITS  # probabilities are rounded
        trusted = frozenset(np.array(KINDS)[self.at_most >= threshold].tolist())
        made = replace(self.calibrator, trusted=trusted, threshold=threshold)
        return self._replace(calibrator=made)

    def facts(self, chosen: Point | None, before: RankingCalibrator | None = None) -> Data:
        """Make the facts for a manifest.

        chosen (Optional[Point]): the expected results. before (Optional[RankingCalibrator]): the
            earlier one; without it all mentions were linked.
        """
        expected = {} if chosen is None else chosen._asdict()
        examples, threshold = self.examples, self.calibrator.threshold
        earlier = np.ones(len(self.probs), dtype=np.bool_)
        if before is not None:
            earlier = before.recommends(examples.features)
        links = {
            "before": _links(earlier, examples),
            "after": _links(self._lifted >= threshold, examples),
        }
        error = calibration_error(self.probs, examples.right, examples.weights)
        rates = dict(zip(KINDS, self.at_most.tolist(), strict=True))
        return {
            "threshold": threshold,
            "links": links,
            "expected": _rounded({k: v for k, v in expected.items() if k != "threshold"}),
            "right_at_most": _rounded({kind: most for kind, most in rates.items() if most}),
            "calibration_error": round(error, DIGITS),
            "log_loss": round(log_loss(self.probs, examples.right, examples.weights), DIGITS),
        }


def fit(
    examples: RankedExamples, on_names: bool = False, of_slips: LinearModel | None = None
) -> Fitted:
    """Fit a calibrator, and to some groups one that is tested on the others.

    on_names (bool): the examples are names of the knowledge base.
    of_slips (Optional[LinearModel]): the model of misspelt names that names show.
    """
    fold = deal(examples.groups, FOLDS)
    unseen = np.full(len(examples.right), np.nan)
    for left_out in range(FOLDS):
        unseen_fold = fold == left_out
        if unseen_fold.any():
            model = _fit(examples.part(~unseen_fold), on_names, of_slips)
            unseen[unseen_fold] = model.estimate(examples.features[unseen_fold])
    model = _fit(examples, on_names, of_slips)
    return Fitted(model, examples, unseen, _at_most(examples, on_names))


def _fit(
    examples: RankedExamples, on_names: bool, of_slips: LinearModel | None
) -> RankingCalibrator:
    by_model = model_of(kinds_of(examples.features))
    named, misspelt, resembling = (examples.part(by_model == model) for model in range(len(MODELS)))
    stated = stated_model()
    right = named.right.astype(np.float64)
    if on_names:  # that a name finds its own concept, as it is written, shows nothing
        right *= logistic(stated.score(named.features))
    of_names = _fit_logistic(named, right, stated, NAMED, _strength(on_names), _STRENGTH)
    # Which of two concepts a misspelt name means is for the model of names to say.
    misspelt = misspelt.part(column(misspelt.features, "tied") == 0)
    if of_slips is None:
        slips = _fit_anew(misspelt, MISSPELT)
    else:
        wanted = misspelt.right.astype(np.float64)
        slips = _fit_logistic(misspelt, wanted, of_slips, MISSPELT, _strength(False), _STRENGTH)
    return RankingCalibrator(of_names, slips, _fit_anew(resembling, RESEMBLING))


def _fit_anew(examples: RankedExamples, names: Sequence[str]) -> LinearModel:
    """Fit a model of which nothing is stated."""
    start = LinearModel.standardising(CALIBRATOR_FEATURES, examples.features, examples.weights)
    right = examples.right.astype(np.float64)
    return _fit_logistic(examples, right, start, names, _strength(), _LAPLACE)


def _fit_logistic(
    examples: RankedExamples,
    right: Floats,
    start: LinearModel,
    names: Sequence[str],
    strength: Floats,
    of_bias: float,
) -> LinearModel:
    """Fit a logistic model whose weights are drawn to those of another, and have no wrong sign.

    right (Floats): probability that each example is right, (n,). names (Sequence[str]): of the
    features that count. strength, of_bias (float): of the penalty on squared differences.
    """
    from scipy.optimize import minimize

    rows, counts = start.standardise(examples.features), examples.weights
    origin = np.append(start.weights, start.bias)
    penalty = np.append(strength, of_bias)

    def loss(w: Floats) -> tuple[float, Floats]:
        z = rows @ w[:-1] + w[-1]
        off = counts * (logistic(z) - right)
        value = counts @ (np.logaddexp(0, z) - right * z) + penalty @ (w - origin) ** 2 / 2
        return float(value), np.append(off @ rows, off.sum()) + penalty * (w - origin)

    bounds = [_signed(name) if name in names else (0.0, 0.0) for name in CALIBRATOR_FEATURES]
    solution = minimize(
        loss, origin, jac=True, method="L-BFGS-B", bounds=[*bounds, (None, None)],
        options={"maxiter": _MOST_ITERATIONS},
    ).x  # fmt: skip
    return replace(start, weights=solution[:-1], bias=float(solution[-1]))


def _strength(on_names: bool | None = None) -> Floats:
    """Get the strength of the penalty on each weight: (n_features,).

    on_names (Optional[bool]): whether names alone are the examples; they show how often several
        concepts have one name, and nothing else of names. None where nothing is stated.
    """
    if on_names is None:
        return np.ones(len(CALIBRATOR_FEATURES))
    held = [on_names and name not in ("rival", "tied") for name in CALIBRATOR_FEATURES]
    return np.asarray(np.where(held, _HELD, _STRENGTH), dtype=np.float64)


def _signed(name: str) -> tuple[float | None, float | None]:
    if name == EITHER:
        return None, None
    return (None, 0.0) if name in AGAINST else (0.0, None)


def _at_most(examples: RankedExamples, on_names: bool) -> Floats:
    """Compute the highest rate that each of KINDS may have: 1 where no text shows anything."""
    kinds = kinds_of(examples.features)
    at_most: Floats = (model_of(np.arange(len(KINDS))) == 0).astype(np.float64)
    for kind in () if on_names else np.unique(kinds[at_most[kinds] > 0]).tolist():
        rate, error = _precision(examples, kinds == kind)
        at_most[kind] = min(1.0, rate + _SURE * error)
    return at_most


def log_loss(probs: Floats, right: Flags, weights: Floats) -> float:
    """Compute the mean of -log of the probability of what turned out true."""
    given = np.where(right, probs, 1 - probs)
    return float(np.average(-np.log(np.maximum(given, _LEAST)), weights=weights))


def _links(linked: Flags, examples: RankedExamples) -> dict[str, int]:
    """Count the examples, by their weights, whose link is right, wrong, and NIL."""
    weights = examples.weights
    right, made = (float(weights[flags].sum()) for flags in (linked & examples.right, linked))
    every = float(weights.sum()) + examples.not_found[0]
    return {"right": round(right), "wrong": round(made - right), "nil": round(every - made)}


def _rounded(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, DIGITS) for name, value in figures.items()}
