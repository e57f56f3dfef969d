"""How good probabilities are, over weighted trials.

`probs` (n,), `right` (n,) whether it came true, `weights` (n,) how much each counts.
"""

import numpy as np

from .trials import Flags, Floats

BINS = 10
_LEAST = 1e-12


def log_loss(probs: Floats, right: Flags, weights: Floats) -> float:
    """Compute the mean of -log of the probability that was given to what came true."""
    given = np.where(right, probs, 1 - probs)
    return float(np.average(-np.log(np.maximum(given, _LEAST)), weights=weights))


def calibration_error(probs: Floats, right: Flags, weights: Floats, bins: int = BINS) -> float:
    """Compute the expected calibration error (Guo et al. 2017, equation 3), bins of equal width."""
    found = reliability_bins(probs, right, weights, bins)
    return sum(one["weight"] * abs(one["prob"] - one["accuracy"]) for one in found)


def reliability_bins(
    probs: Floats, right: Flags, weights: Floats, bins: int = BINS
) -> list[dict[str, float]]:
    """Compare probabilities with how often they came true.

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
