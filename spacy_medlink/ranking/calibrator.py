"""RankingCalibrator: a logistic model over features of a ranking, and steps on top of it.

What is verbatim a name of one concept and of no other, or what corrections say, is not estimated
by its features: each such stratum has a rate of its own, which no other mention can change.
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
_LEAST = 1e-3  # no link is impossible, and none is certain
_DIGITS = 6
_FIRST = 16  # features of the first version
_LATER = {"mean": 0.0, "scale": 1.0, "weights": 0.0}  # what features count that came later


@dataclass(frozen=True, eq=False)
class RankingCalibrator:
    """Estimates how probable it is that the first candidate of a ranking is right.

    The logistic model is p = 1 / (1 + exp(-z)) with z of a linear model (Platt
    1999). With steps, p is read from a monotone function of z instead, linear between the
    steps (isotonic regression: Zadrozny and Elkan 2002).

    model (LinearModel): of CALIBRATOR_FEATURES; its score is z.
    rates (Optional[Mapping[str, float]]): probability of the links of each stratum but the first;
        None, as in calibrators of earlier versions, leaves all to the model.
    steps (Optional[Tuple[Floats, Floats]]): z, strictly ascending, and p, ascending.
    fitted_for (Mapping[str, Any]): what must be the same where it is used: tiers, fusion, encoder.
    threshold (float): probability that a link should have; 0 where none was recommended.
    facts (Optional[NameFacts]): of the knowledge base; without them only described rankings can
        be estimated.
    """

    model: LinearModel
    steps: tuple[Floats, Floats] | None = None
    fitted_for: Mapping[str, Any] = field(default_factory=dict)
    threshold: float = 0.0
    facts: NameFacts | None = None
    rates: Mapping[str, float] | None = None

    @property
    def kind(self) -> str:
        """Tell "logistic" from "isotonic"."""
        return LOGISTIC if self.steps is None else ISOTONIC

    def probabilities(self, rankings: Sequence[Sequence[Candidate]]) -> list[float]:
        """Estimate for each ranking, which is not empty, the probability, 0..1."""
        assert self.facts is not None
        features = calibrator_features(rankings, self.facts)
        return [round(value, _DIGITS) for value in self.estimate(features).tolist()]

    def estimate(self, features: Features) -> Floats:
        """Estimate the probabilities of described rankings: (n,)."""
        z = self.model.score(features)
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

    def fitting(self, conditions: Mapping[str, Any]) -> "RankingCalibrator":
        """Say what it was fitted for (`conditions`)."""
        return replace(self, fitted_for=dict(conditions))

    def save(self, path: Path) -> None:
        """Write a JSON file; the threshold belongs to the manifest."""
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
        """Read what `save` wrote.

        threshold (float): that the manifest recommends.
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
    """Describe rankings, none of them empty: (n, len(CALIBRATOR_FEATURES))."""
    return features_of_firsts(rankings, CALIBRATOR_FEATURES, facts)


def strata_of(features: Features) -> NDArray[np.int64]:
    """Tell which rankings something vouches for, other than resemblance: places in STRATA, (n,).

    A verbatim name has the text as a name, and the runner-up has not: another concept that has
    it, too, would be the runner-up, since nothing else resembles the text as much. A shared one has
    it, and the runner-up has it, too.

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
