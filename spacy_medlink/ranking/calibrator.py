"""RankingCalibrator: a logistic model over features of a ranking, with optional steps.

The model does not estimate two kinds of links: a verbatim name of only one concept, and a
correction. Each such stratum has its own rate, which no other mention can change.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..types import Candidate
from ..util.held import File, content_of, place_of
from .facts import NameFacts
from .features import Features, features_of_firsts
from .linear import Floats, LinearModel, damage_is_told, numbers

# In the order of the columns.
CALIBRATOR_FEATURES = (
    "score", "margin", "ngram", "dense", "agreement", "exact", "rival", "tied", "memory",
    "preferred", "names", "short form", "length", "added", "missing", "numbers", "same words",
)  # fmt: skip
STRATA = ("others", "verbatim", "remembered", "verbatim and remembered", "shared")
FORMAT = 1
LOGISTIC, ISOTONIC = "logistic", "isotonic"
_LEAST = 1e-3  # distance of every probability from 0 and 1
_DIGITS = 6
_FIRST = 16  # features of the first version
_LATER = {"mean": 0.0, "scale": 1.0, "weights": 0.0}  # of features that came after that version


@dataclass(frozen=True, eq=False)
class RankingCalibrator:
    """Estimates the probability that the first candidate of a ranking is right.

    The logistic model is p = 1 / (1 + exp(-z)) with z of a linear model (Platt
    1999). With steps, p is read from a monotone function of z instead, linear between the
    steps (isotonic regression: Zadrozny and Elkan 2002).

    model (LinearModel): of CALIBRATOR_FEATURES; its score is z.
    rates (Optional[Mapping[str, float]]): probability of the links of each stratum except the
        first; None, as in calibrators of earlier versions, uses the model for all.
    steps (Optional[Tuple[Floats, Floats]]): z, strictly ascending, and p, ascending.
    fitted_for (Mapping[str, Any]): the conditions of use: tiers, fusion, encoder.
    threshold (float): recommended probability of a link; 0 where none was recommended.
    facts (Optional[NameFacts]): of the knowledge base; without them only rankings given as
        features can be estimated.
    """

    model: LinearModel
    steps: tuple[Floats, Floats] | None = None
    fitted_for: Mapping[str, Any] = field(default_factory=dict)
    threshold: float = 0.0
    facts: NameFacts | None = None
    rates: Mapping[str, float] | None = None

    @property
    def kind(self) -> str:
        """The kind of model: "logistic" or "isotonic"."""
        return LOGISTIC if self.steps is None else ISOTONIC

    def probabilities(self, rankings: Sequence[Sequence[Candidate]]) -> list[float]:
        """Estimate the probability of each ranking, 0..1; no ranking may be empty."""
        assert self.facts is not None
        features = calibrator_features(rankings, self.facts)
        return [round(value, _DIGITS) for value in self.estimate(features).tolist()]

    def estimate(self, features: Features) -> Floats:
        """Estimate the probabilities of rankings given as features: (n,)."""
        z = self.model.score(features)
        # The exponential of a large positive number would overflow.
        smaller = np.exp(-np.abs(z))
        p = np.where(z >= 0, 1, smaller) / (1 + smaller)
        if self.steps is not None:
            p = np.interp(z, *self.steps)
        if self.rates is not None:
            rates = np.asarray([self.rates.get(name, 0.0) for name in STRATA])
            strata = strata_of(features)
            p = np.where(strata > 0, rates[strata], p)
        return np.asarray(np.clip(p, _LEAST, 1 - _LEAST), dtype=np.float64)

    def fitting(self, conditions: Mapping[str, Any]) -> "RankingCalibrator":
        """Make a copy with the conditions that it was fitted for (`conditions`)."""
        return replace(self, fitted_for=dict(conditions))

    def save(self, path: Path) -> None:
        """Write a JSON file, without the threshold, which the manifest holds."""
        facts = {
            "format": FORMAT,
            "features": list(self.model.features),
            **self.model.to_json(),
            "bias": self.model.bias,
            "rates": dict(self.rates) if self.rates is not None else None,
            "steps": [part.tolist() for part in self.steps] if self.steps is not None else None,
            "fitted_for": dict(self.fitted_for),
        }
        path.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, file: File, facts: NameFacts, threshold: float = 0.0) -> "RankingCalibrator":
        """Read the file of `save`.

        threshold (float): the one that the manifest recommends.
        RAISES (MedlinkError): E202 when the file is damaged, E214 when it is of another version,
            E301 for a threshold outside 0..1.
        """
        if not 0 <= threshold <= 1:
            raise Errors.bad_threshold(threshold=threshold)
        with damage_is_told(file):
            stored = json.loads(content_of(file))
            later = len(CALIBRATOR_FEATURES) - len(stored["features"])
            known = stored["features"] == list(CALIBRATOR_FEATURES[: len(stored["features"])])
            if stored["format"] != FORMAT or not known or len(stored["features"]) < _FIRST:
                problem = "it was fitted by another version of spacy-medlink"
                raise Errors.calibrator_mismatch(path=place_of(file).parent, problem=problem)
            columns = {name: stored[name] + later * [value] for name, value in _LATER.items()}
            (bias,) = numbers([stored["bias"]]).tolist()
            return cls(
                LinearModel.from_json(CALIBRATOR_FEATURES, columns, bias),
                None if stored["steps"] is None else _checked_steps(*stored["steps"]),
                dict(stored["fitted_for"]),
                threshold,
                facts,
                _checked_rates(stored.get("rates")),
            )


def calibrator_features(rankings: Iterable[Sequence[Candidate]], facts: NameFacts) -> Features:
    """Compute the features of rankings, none of them empty: (n, len(CALIBRATOR_FEATURES))."""
    return features_of_firsts(rankings, CALIBRATOR_FEATURES, facts)


def strata_of(features: Features) -> NDArray[np.int64]:
    """Tell which evidence beyond similarity each ranking has: places in STRATA, (n,).

    A verbatim name: the text is a name of the first candidate, and not of the runner-up. If it were
    a name of another concept, that concept would be the runner-up, since no other name resembles
    the text as much. A shared name: the text is a name of both.

    features (Features): CALIBRATOR_FEATURES of the rankings.
    """
    exact, rival, remembered = (column(features, one) > 0 for one in ("exact", "rival", "memory"))
    strata: NDArray[np.int64] = np.select(
        [exact & ~rival & remembered, remembered, exact & ~rival, exact], [3, 2, 1, 4], 0
    )
    return strata


def column(features: Features, name: str) -> Floats:
    """Take one of CALIBRATOR_FEATURES: (n,)."""
    return features[:, CALIBRATOR_FEATURES.index(name)]


def _checked_rates(rates: Any) -> dict[str, float] | None:
    if rates is None:
        return None
    values = numbers([rates[name] for name in STRATA[1:]])
    if ((values < 0) | (values > 1)).any():
        raise ValueError("a rate leaves 0..1")
    return dict(zip(STRATA[1:], values.tolist(), strict=True))


def _checked_steps(z: Sequence[float], p: Sequence[float]) -> tuple[Floats, Floats]:
    levels, values = numbers(z), numbers(p)
    if levels.shape != values.shape or not len(levels):
        raise ValueError("the steps are not pairs")
    if not (np.diff(levels) > 0).all() or not (np.diff(values) >= 0).all():
        raise ValueError("the steps do not ascend")
    if values[0] < 0 or values[-1] > 1:
        raise ValueError("the steps leave 0..1")
    return levels, values
