"""RankingCalibrator: a logistic model over features of a ranking, and steps on top of it.

What is verbatim a name of one concept and of no other, or what corrections say, is not estimated
by its features: each such stratum has a rate of its own, which no other mention can change.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, MedlinkError
from ..types import Candidate
from ..util.held import File, content_of, place_of
from .features import FEATURES, STRATA, Features, Names, features_of, strata_of

FORMAT = 1
LOGISTIC, ISOTONIC = "logistic", "isotonic"
_LEAST = 1e-3  # no answer is impossible, and none is certain
_DIGITS = 6
_FIRST = 16  # features of the first version

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RankingCalibrator:
    """Estimates how probable it is that the first answer of a ranking is right.

    The logistic model is p = 1 / (1 + exp(-z)) with z = bias + sum of weight * (x - mean) / scale
    (Platt 1999). With steps, p is read from a monotone function of z instead, linear between the
    steps (isotonic regression: Zadrozny and Elkan 2002).

    mean, scale, weights (Floats): (n_features,). bias (float).
    rates (Optional[Mapping[str, float]]): probability of the answers of each stratum but the first;
        None, as in calibrators of earlier versions, leaves all to the model.
    steps (Optional[Tuple[Floats, Floats]]): z, strictly ascending, and p, ascending.
    fitted_for (Mapping[str, Any]): what must be the same where it is used: tiers, fusion, encoder.
    threshold (float): probability that a link should have; 0 where none was recommended.
    names (Optional[Names]): of the knowledge base; without them only described rankings can be
        estimated.
    """

    mean: Floats
    scale: Floats
    weights: Floats
    bias: float
    steps: tuple[Floats, Floats] | None = None
    fitted_for: Mapping[str, Any] = field(default_factory=dict)
    threshold: float = 0.0
    names: Names | None = None
    rates: Mapping[str, float] | None = None

    @property
    def kind(self) -> str:
        """Tell "logistic" from "isotonic"."""
        return LOGISTIC if self.steps is None else ISOTONIC

    def probabilities(self, rankings: Sequence[Sequence[Candidate]]) -> list[float]:
        """Estimate for each ranking, which is not empty, the probability, 0..1."""
        assert self.names is not None
        features = features_of(rankings, self.names)
        return [round(value, _DIGITS) for value in self.estimate(features).tolist()]

    def estimate(self, features: Features) -> Floats:
        """Estimate the probabilities of described rankings: (n,)."""
        z = self.logits(features)
        # The sign is kept out of the exponential, which would overflow.
        smaller = np.exp(-np.abs(z))
        p = np.where(z >= 0, 1, smaller) / (1 + smaller)
        if self.steps is not None:
            p = np.interp(z, *self.steps)
        if self.rates is not None:
            rates = np.asarray([self.rates.get(name, 0.0) for name in STRATA])
            strata = strata_of(features)
            p = np.where(strata > 0, rates[strata], p)
        return np.asarray(np.clip(p, _LEAST, 1 - _LEAST), dtype=np.float64)

    def logits(self, features: Features) -> Floats:
        """Compute z of described rankings: (n,)."""
        # Not a matrix product, whose last digits depend on how many rows there are.
        terms = (features - self.mean) / self.scale * self.weights
        return np.asarray(terms.sum(axis=1) + self.bias, dtype=np.float64)

    def with_steps(self, z: Floats, p: Floats) -> "RankingCalibrator":
        """Put a monotone function on top."""
        return replace(self, steps=(z, p))

    def fitting(self, conditions: Mapping[str, Any]) -> "RankingCalibrator":
        """Say what it was fitted for (`conditions`)."""
        return replace(self, fitted_for=dict(conditions))

    def save(self, path: Path) -> None:
        """Write a JSON file; the threshold belongs to the manifest."""
        facts = {
            "format": FORMAT,
            "features": list(FEATURES),
            "mean": self.mean.tolist(),
            "scale": self.scale.tolist(),
            "weights": self.weights.tolist(),
            "bias": self.bias,
            "rates": dict(self.rates) if self.rates is not None else None,
            "steps": [part.tolist() for part in self.steps] if self.steps is not None else None,
            "fitted_for": dict(self.fitted_for),
        }
        path.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, file: File, names: Names, threshold: float = 0.0) -> "RankingCalibrator":
        """Read what `save` wrote.

        threshold (float): that the manifest recommends.
        RAISES (MedlinkError): E202 when the file is damaged, E214 when it is of another version,
            E301 for a threshold outside 0..1.
        """
        if not 0 <= threshold <= 1:
            raise Errors.bad_threshold(threshold=threshold)
        path = place_of(file)
        try:
            facts = json.loads(content_of(file))
            known = facts["features"] in (list(FEATURES), list(FEATURES[:_FIRST]))
            if facts["format"] != FORMAT or not known:
                problem = "it was fitted by another version of spacy-medlink"
                raise Errors.calibrator_mismatch(path=path.parent, problem=problem)
            # Features that came later count nothing in what was fitted before.
            mean, scale, weights = (
                _column(facts[name], len(facts["features"]), filler)
                for name, filler in (("mean", 0.0), ("scale", 1.0), ("weights", 0.0))
            )
            steps, (bias,) = facts["steps"], _numbers([facts["bias"]]).tolist()
            if not (scale > 0).all():
                raise _ProblemError("a scale is not positive")
            return cls(
                mean,
                scale,
                weights,
                bias,
                None if steps is None else _checked_steps(*steps),
                dict(facts["fitted_for"]),
                threshold,
                names,
                _checked_rates(facts.get("rates")),
            )
        except MedlinkError:
            raise
        except (
            OSError, KeyError, TypeError, _ProblemError, ValueError, OverflowError, RecursionError,
        ) as error:  # fmt: skip
            problem = f"{path.name}: {error}"
            raise Errors.assets_incomplete(path=path.parent, problem=problem) from error


class _ProblemError(Exception):
    """What is wrong with a file."""


def _column(values: Sequence[float], features: int, filler: float) -> Floats:
    column = _numbers(values)
    if column.shape != (features,):
        raise _ProblemError("a number for each feature was expected")
    return np.append(column, np.full(len(FEATURES) - features, filler))


def _checked_rates(rates: Any) -> dict[str, float] | None:
    if rates is None:
        return None
    values = _numbers([rates[name] for name in STRATA[1:]])
    if ((values < 0) | (values > 1)).any():
        raise _ProblemError("a rate leaves 0..1")
    return dict(zip(STRATA[1:], values.tolist(), strict=True))


def _checked_steps(z: Sequence[float], p: Sequence[float]) -> tuple[Floats, Floats]:
    levels, values = _numbers(z), _numbers(p)
    if levels.ndim != 1 or levels.shape != values.shape or not len(levels):
        raise _ProblemError("the steps are not pairs")
    if not (np.diff(levels) > 0).all() or not (np.diff(values) >= 0).all():
        raise _ProblemError("the steps do not ascend")
    if values[0] < 0 or values[-1] > 1:
        raise _ProblemError("the steps leave 0..1")
    return levels, values


def _numbers(values: Sequence[float]) -> Floats:
    if not isinstance(values, list) or not all(type(one) in (int, float) for one in values):
        raise _ProblemError("a list of numbers was expected")
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise _ProblemError("a number is not finite")
    return numbers
