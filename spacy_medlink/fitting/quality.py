"""How good probabilities are, over weighted trials.

`probs` (n,), `right` (n,) whether it came true, `weights` (n,) how much each counts.
"""

import numpy as np

from ..evaluation.calibration import calibration_error, reliability_bins
from .trials import Flags, Floats

__all__ = ["calibration_error", "log_loss", "reliability_bins"]

_LEAST = 1e-12


def log_loss(probs: Floats, right: Flags, weights: Floats) -> float:
    """Compute the mean of -log of the probability that was given to what came true."""
    given = np.where(right, probs, 1 - probs)
    return float(np.average(-np.log(np.maximum(given, _LEAST)), weights=weights))
