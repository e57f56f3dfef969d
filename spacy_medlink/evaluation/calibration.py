"""How reliable probabilities are."""

import numpy as np
from numpy.typing import NDArray

BINS = 10

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def calibration_error(probs: Floats, right: Flags, weights: Floats, bins: int = BINS) -> float:
    """Compute the expected calibration error (Guo et al. 2017, equation 3), bins of equal width."""
    found_bins = reliability_bins(probs, right, weights, bins)
    return sum(
        each_bin["weight"] * abs(each_bin["prob"] - each_bin["accuracy"]) for each_bin in found_bins
    )


def reliability_bins(
    probs: Floats, right: Flags, weights: Floats, bins: int = BINS
) -> list[dict[str, float]]:
    """Compare probabilities with the share of right answers.

    RETURNS (List[Dict[str, float]]): "low", "high", "weight" (they sum to 1), mean "prob" and
        "accuracy" of each bin that is not empty.
    """
    places = np.clip((probs * bins).astype(np.int64), 0, bins - 1)
    filled = []
    for bin in np.unique(places).tolist():
        within = places == bin
        share = weights[within]
        filled.append(
            {
                "low": bin / bins,
                "high": (bin + 1) / bins,
                "weight": float(share.sum() / weights.sum()),
                "prob": float(np.average(probs[within], weights=share)),
                "accuracy": float(np.average(right[within], weights=share)),
            }
        )
    return filled
