"""Fusion: registered functions that combine the tiers' scores of the same names.

Such a function takes the scores of the same names (n, m) by each tier and returns one score for
each name (n, m). A name that is first in every weighted tier scores 1.0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import Errors
from ..types import Facts, Floats2d, Fusion
from ..util.setting_types import is_weight
from .tier import tier_of_names

DEFAULT_WEIGHTS = {"exact": 0.1, "ngram": 0.3, "dense": 1.0}
WEIGHTED = "spacy-medlink.WeightedFusion.v1"
RECIPROCAL_RANK = "spacy-medlink.ReciprocalRankFusion.v1"


def fuse(scores: Mapping[str, Floats2d], weights: Mapping[str, float]) -> Floats2d:
    """Add the tiers' scores, weighted.

    scores (Mapping[str, Floats2d]): for each tier the scores of the same names, (n, m).
    weights (Mapping[str, float]): weight of each tier; 0 where none is given.
    RETURNS (Floats2d): (n, m).
    """
    total = sum(weights.get(tier, 0.0) * values for tier, values in scores.items())
    return np.asarray(total, dtype=np.float32)


@dataclass(frozen=True)
class WeightedFusion:
    """Fusion by the weighted sum of the tiers' scores.

    weights (Optional[Dict[str, float]]): of each tier; None takes those that the build chose.
    RAISES (MedlinkError): E302 for weights that are not numbers of at least 0.
    """

    weights: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        _check_weights(self.weights)

    def __call__(self, scores: Mapping[str, Floats2d]) -> Floats2d:
        """Fuse."""
        return fuse(scores, self.weights or {})

    def with_weights(self, weights: Mapping[str, float]) -> "WeightedFusion":
        """Set the weights."""
        return replace(self, weights=weights)


@dataclass(frozen=True)
class ReciprocalRankFusion:
    """Fusion by the weighted sum of 1 / (k + rank); first in every tier gives the sum of weights.

    Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
    learning methods", SIGIR 2009, with weights. A name with a score of 0 or less has no rank in
    that tier. Ranks count distinct scores among the names that any tier found.

    weights (Optional[Dict[str, float]]): of each tier; None takes those that the build chose.
    k (int): the larger, the smaller the difference between first ranks; 60 in the paper.
    RAISES (MedlinkError): E302 for weights or a k that are not numbers of at least 0.
    """

    weights: Mapping[str, float] | None = None
    k: int = 60

    def __post_init__(self) -> None:
        _check_weights(self.weights)
        if not is_weight(self.k):
            raise Errors.bad_setting(name="k", value=self.k, rule="must be a number from 0")

    def __call__(self, scores: Mapping[str, Floats2d]) -> Floats2d:
        """Fuse."""
        weights = self.weights or {}
        total = sum(
            weights.get(tier, 0.0) * (self.k + 1) / (self.k + _ranks(values)) * (values > 0)
            for tier, values in scores.items()
        )
        return np.asarray(total, dtype=np.float32)

    def with_weights(self, weights: Mapping[str, float]) -> "ReciprocalRankFusion":
        """Set the weights."""
        return replace(self, weights=weights)


FUSIONS: Mapping[str, type[WeightedFusion] | type[ReciprocalRankFusion]] = {
    WEIGHTED: WeightedFusion,
    RECIPROCAL_RANK: ReciprocalRankFusion,
}


def fusion_of(entry: Facts) -> Fusion:
    """Make the fusion that a manifest names.

    entry (Mapping[str, Any]): `weights`, and `function` with its `settings` where it is not the
        weighted sum.
    RAISES (MedlinkError): E204 for a function that this version does not have.
    """
    name = entry.get("function", WEIGHTED)
    if name not in FUSIONS:
        problem = f"the fusion {name!r} is unknown"
        raise Errors.assets_mismatch(path="manifest.json", problem=problem)
    return FUSIONS[name](entry["weights"], **entry.get("settings", {}))


def usual_weights(tiers: Sequence[str]) -> dict[str, float]:
    """Get the weights of tiers where none are stated; a tier of a package says its own."""
    weights = (DEFAULT_WEIGHTS.get(tier) for tier in tiers)
    return normalised(
        {
            tier: tier_of_names(tier).weight if weight is None else weight
            for tier, weight in zip(tiers, weights, strict=True)
        }
    )


def normalised(weights: Mapping[str, float]) -> dict[str, float]:
    """Scale weights to sum to 1, so that a perfect match scores 1.0."""
    total = sum(weights.values())
    return {tier: weight / total for tier, weight in weights.items()}


def _check_weights(weights: Mapping[str, float] | None) -> None:
    """Check that weights are finite numbers of at least 0. RAISES (MedlinkError): E302."""
    if weights is not None and not (
        isinstance(weights, Mapping) and all(map(is_weight, weights.values()))
    ):
        rule = "must be numbers from 0, by tier, or null"
        raise Errors.bad_setting(name="weights", value=weights, rule=rule)


def _ranks(scores: Floats2d) -> Floats2d:
    """Rank the scores of each row, best first, from 1; equal scores (within 1e-4) share a rank."""
    rounded = np.round(scores, 4)
    order = np.argsort(-rounded, axis=1, kind="stable")
    ordered = np.take_along_axis(rounded, order, axis=1)
    steps = np.zeros(scores.shape, dtype=np.float32)
    steps[:, 1:] = np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1)
    ranks = np.empty_like(steps)
    np.put_along_axis(ranks, order, steps + 1, axis=1)
    return ranks
