"""RankingCalibrator: the probability that the first candidate of a ranking is right.

Three logistic models share it: for mentions that are a name of the candidate or that corrections
remember, for names with a slip of the pen, and for what only resembles a name. What resembles names
tells nothing of what is one. Every feature but one speaks for a candidate or against it, and no
weight says otherwise: a link of which more is known is at least as probable.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..types import Candidate, Facts
from .facts import NameFacts
from .features import Features, features_of_firsts
from .linear import Floats, LinearModel, damage_is_told, numbers

_OF_ALL = ("margin", "names", "length", "short form")
NAMED = (
    *_OF_ALL, "exact", "same letters", "memory", "rival", "tied", "is preferred", "sources",
)  # fmt: skip
MISSPELT = (*_OF_ALL, "slip", "preferred", "sources")
RESEMBLING = (
    *_OF_ALL, "score", "ngram", "dense", "agreement", "preferred", "tied", "same words", "added",
    "missing", "numbers",
)  # fmt: skip
AGAINST = frozenset(("rival", "tied", "short form", "added", "numbers"))
EITHER = "missing"  # further words may narrow what is meant, or mean something else
CALIBRATOR_FEATURES = tuple(dict.fromkeys(("score", *NAMED, *MISSPELT, *RESEMBLING)))
_COLUMN = {name: column for column, name in enumerate(CALIBRATOR_FEATURES)}
_EVIDENCE = [_COLUMN[name] for name in ("exact", "rival", "short form", "memory", "slip")]
MODELS = ("named", "misspelt", "resembling")
KINDS = ("name", "short form", "shared", "remembered", *MODELS[1:])  # the first four are named
FORMAT = 3
_LEAST = 1e-3  # distance of every probability from 0 and 1
_DIGITS = 6
_LETTERS = 2  # that a misspelt name may have more than the name


@dataclass(frozen=True, eq=False)
class RankingCalibrator:
    """Estimates the probability that the first candidate of a ranking is right.

    Each model gives p = 1 / (1 + exp(-z)), with z its score of CALIBRATOR_FEATURES (Platt 1999).

    named, misspelt, resembling (LinearModel): of names and corrections, of names with a slip of the
        pen, of all others.
    trusted (FrozenSet[str]): the KINDS of names that nothing shows to be wrong: their links are
        recommended whatever their probability, which several meanings of a name make small.
    fitted_for (Facts): the conditions of use: tiers, fusion, encoder.
    threshold (float): the least probability of the other links that are recommended.
    facts (Optional[NameFacts]): of the knowledge base; without them only rankings given as
        features can be estimated.
    """

    named: LinearModel
    misspelt: LinearModel
    resembling: LinearModel
    trusted: frozenset[str] = frozenset()
    fitted_for: Facts = field(default_factory=dict)
    threshold: float = 0.0
    facts: NameFacts | None = None

    def rate(self, rankings: Sequence[Sequence[Candidate]]) -> list[tuple[float, bool]]:
        """Estimate the probability of each ranking, 0..1, and tell whether its link is recommended.

        rankings: none of them may be empty.
        """
        assert self.facts is not None
        features = calibrator_features(rankings, self.facts)
        probabilities = np.round(self.estimate(features), _DIGITS)
        return list(zip(probabilities.tolist(), self.recommends(features).tolist(), strict=True))

    def estimate(self, features: Features) -> Floats:
        """Estimate the probabilities of rankings given as features: (n,)."""
        # What is misspelt, or resembles a name, is no surer than the name itself.
        named, alike, _ = self._rated(features)
        return np.asarray(np.clip(np.minimum(named, alike), _LEAST, 1 - _LEAST), dtype=np.float64)

    def recommends(self, features: Features) -> NDArray[np.bool_]:
        """Tell which links are recommended, of rankings given as features: (n,)."""
        named, alike, is_trusted = self._rated(features)
        flags = ((np.round(named, _DIGITS) >= self.threshold) | is_trusted) & (
            np.round(alike, _DIGITS) >= self.threshold
        )
        return np.asarray(flags, dtype=np.bool_)

    def _rated(self, features: Features) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Estimate that the name means the concept, and that the text is the name: (n,) each.

        RETURNS: also whether the name is of a kind that is trusted.
        """
        model = model_of(kinds_of(features))
        meant = as_spelt(features, model > 0)
        trusted = np.asarray([kind in self.trusted for kind in KINDS])
        alike = np.choose(
            model,
            [
                np.ones(len(features)),
                logistic(self.misspelt.score(features)),
                logistic(self.resembling.score(features)),
            ],
        )
        return logistic(self.named.score(meant)), alike, trusted[kinds_of(meant)]

    def fitting(self, conditions: Facts) -> "RankingCalibrator":
        """Make a copy with the conditions that it was fitted for (`conditions`)."""
        return replace(self, fitted_for=dict(conditions))

    def save(self, path: Path) -> None:
        """Write a JSON file, without the threshold, which the manifest holds."""
        models = {name: getattr(self, name) for name in MODELS}
        stored = {
            "format": FORMAT,
            "features": list(CALIBRATOR_FEATURES),
            **{name: {**model.to_json(), "bias": model.bias} for name, model in models.items()},
            "trusted": sorted(self.trusted),
            "fitted_for": dict(self.fitted_for),
        }
        path.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, file: Path, facts: NameFacts, threshold: float = 0.0) -> "RankingCalibrator":
        """Read the file of `save`.

        threshold (float): the one that the manifest recommends.
        RAISES (MedlinkError): E202 when the file is damaged, E214 when it is of another version,
            E302 for a threshold outside 0..1.
        """
        if not 0 <= threshold <= 1:
            rule = "must lie between 0 and 1"
            raise Errors.bad_setting(name="threshold", value=threshold, rule=rule)
        with damage_is_told(file):
            stored = json.loads(file.read_bytes())
            if stored["format"] != FORMAT or stored["features"] != list(CALIBRATOR_FEATURES):
                problem = "it was fitted by another version of spacy-medlink"
                raise Errors.model_mismatch(
                    model="calibrator", path=file.parent, problem=problem,
                    how="`medlink learn`", without="`calibrator = false`",
                )  # fmt: skip
            named, misspelt, resembling = (_model(stored[name]) for name in MODELS)
            trusted, fitted_for = frozenset(stored["trusted"]), dict(stored["fitted_for"])
            if not trusted <= set(KINDS):
                raise ValueError("it trusts what is no kind of names")
            return cls(named, misspelt, resembling, trusted, fitted_for, threshold, facts)


def calibrator_features(rankings: Iterable[Sequence[Candidate]], name_facts: NameFacts) -> Features:
    """Compute the features of rankings, none of them empty: (n, len(CALIBRATOR_FEATURES))."""
    return features_of_firsts(rankings, CALIBRATOR_FEATURES, name_facts)


def kinds_of(features: Features) -> NDArray[np.int64]:
    """Tell what vouches for the first candidate of each ranking: places in KINDS, (n,).

    A name: the text is a name of the first candidate, and not of the runner-up. If it were a name
    of another concept, that concept would be the runner-up, since no other name resembles the text
    as much. A shared name: the text is a name of both.

    features (Features): CALIBRATOR_FEATURES of the rankings.
    """
    exact, rival, short, remembered, misspelt = features[:, _EVIDENCE].T > 0
    kinds: NDArray[np.int64] = np.select(
        [remembered, exact & rival, exact & short, exact, misspelt], [3, 2, 1, 0, 4], 5
    )
    return kinds


def model_of(kinds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Tell which model estimates each kind: places in MODELS, (n,)."""
    return np.maximum(kinds - 3, 0)


def as_spelt(features: Features, others: NDArray[np.bool_]) -> Features:
    """Make the features that the matched names would have, had the texts been spelt like them.

    What the names' own rankings would say is not known: they get the least of it.

    others (NDArray[bool]): whether each text is spelt otherwise, (n,); the rest stays as it is.
    """
    meant: Features = features.copy()
    meant[others, _COLUMN["rival"]] = features[others, _COLUMN["tied"]]
    meant[others, _COLUMN["is preferred"]] = features[others, _COLUMN["preferred"]]
    meant[others, _COLUMN["exact"]], meant[others, _COLUMN["margin"]] = 1.0, 0.0
    length = np.maximum(np.expm1(features[others, _COLUMN["length"]]) - _LETTERS, 0)
    meant[others, _COLUMN["length"]] = np.log1p(length)
    return meant


def with_shared(features: Features, shared: NDArray[np.bool_]) -> Features:
    """Say of misspelt names that several concepts have them.

    shared (NDArray[bool]): whether the name that was found is known to be such a name, (n,).
    """
    told: Features = features.copy()
    told[shared & (model_of(kinds_of(features)) == MODELS.index("misspelt")), _COLUMN["tied"]] = 1
    return told


def column(features: Features, name: str) -> Floats:
    """Take one of CALIBRATOR_FEATURES: (n,)."""
    return features[:, _COLUMN[name]]


def logistic(z: Floats) -> Floats:
    """Compute 1 / (1 + exp(-z)); the exponential of a large positive number would overflow."""
    smaller = np.exp(-np.abs(z))
    return np.asarray(np.where(z >= 0, 1, smaller) / (1 + smaller), dtype=np.float64)


def _model(stored: Facts) -> LinearModel:
    (bias,) = numbers([stored["bias"]]).tolist()
    return LinearModel.from_json(CALIBRATOR_FEATURES, stored, bias)
