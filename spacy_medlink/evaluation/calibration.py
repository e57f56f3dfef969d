"""Calibration curves: how reliable probabilities are, and what each threshold gives."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .intervals import fraction, rounded

BINS = 10
_POINTS = 101

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def reliability(
    probs: Sequence[float], right: Sequence[bool], bins: int = BINS
) -> dict[str, Any] | None:
    """Compare probabilities with the share of right answers.

    probs (Sequence[float]): that the first answer is right, 0 to 1. bins (int): of equal width.
    RETURNS (Optional[Dict[str, Any]]): "n", "ece" (expected calibration error, as
        `calibration_error` computes it) and "bins": "low", "high", "n",
        mean "prob", "accuracy" of each bin that is not empty. None without answers.
    """
    if not len(probs):
        return None
    values, hits = np.asarray(probs, np.float64), np.asarray(right, np.bool_)
    each = np.ones(len(values))
    found = [
        {
            "low": one["low"], "high": one["high"], "n": round(one["weight"] * len(values)),
            "prob": rounded(one["prob"]), "accuracy": rounded(one["accuracy"]),
        }
        for one in reliability_bins(values, hits, each, bins)
    ]  # fmt: skip
    error = calibration_error(values, hits, each, bins)
    return {"n": len(values), "ece": rounded(error), "bins": found}


def coverage_curve(
    scores: Sequence[float], right: Sequence[bool], points: int = _POINTS
) -> list[dict[str, float | None]]:
    """Compute for each threshold the share that is linked, and the precision of these links.

    scores (Sequence[float]): of the first answers, higher is surer; -inf for no answer.
    points (int): most thresholds.
    RETURNS (List[Dict]): "threshold", "coverage", "precision", the highest threshold first.
    """
    values, hits = np.asarray(scores, np.float64), np.asarray(right, np.float64)
    order = np.argsort(-values, kind="stable")
    values, hits = values[order], hits[order].cumsum()
    known = int(np.isfinite(values).sum())
    # Mentions of equal score are linked together, so only the last of them is a point.
    is_last = np.append(values[1:known] != values[: known - 1], True) if known else values[:0] > 0
    return [
        {
            "threshold": rounded(values[end]),
            "coverage": fraction(end + 1, len(values)),
            "precision": fraction(hits[end], end + 1),
        }
        for end in _spread(np.flatnonzero(is_last), points)
    ]


def _spread(places: NDArray[np.intp], points: int) -> list[int]:
    """Select places evenly, with the first and the last."""
    if len(places) <= points:
        return [int(place) for place in places]
    picked = np.unique(np.linspace(0, len(places) - 1, points).round().astype(np.intp))
    return [int(place) for place in places[picked]]


def calibration_error(probs: Floats, right: Flags, weights: Floats, bins: int = BINS) -> float:
    """Compute the expected calibration error (Guo et al. 2017, equation 3), bins of equal width."""
    found = reliability_bins(probs, right, weights, bins)
    return sum(one["weight"] * abs(one["prob"] - one["accuracy"]) for one in found)


def reliability_bins(
    probs: Floats, right: Flags, weights: Floats, bins: int = BINS
) -> list[dict[str, float]]:
    """Compare probabilities with the share of right answers.

    RETURNS (List[Dict[str, float]]): "low", "high", "weight" (they sum to 1), mean "prob" and
        "accuracy" of each bin that is not empty.
    """
    places = np.clip((probs * bins).astype(np.int64), 0, bins - 1)
    found = []
    for place in np.unique(places).tolist():
        own = places == place
        share = weights[own]
        found.append(
            {
                "low": place / bins,
                "high": (place + 1) / bins,
                "weight": float(share.sum() / weights.sum()),
                "prob": float(np.average(probs[own], weights=share)),
                "accuracy": float(np.average(right[own], weights=share)),
            }
        )
    return found
