"""Calibration: from the scores of a ranking to the probability that its first answer is right."""

from .calibrator import RankingCalibrator
from .features import DEPTH, FEATURES, STRATA, Names, features_of
from .fitting import Fitted, fit
from .thresholds import Point, best_threshold, points
from .trials import Trials

__all__ = [
    "DEPTH",
    "FEATURES",
    "STRATA",
    "Fitted",
    "Names",
    "Point",
    "RankingCalibrator",
    "Trials",
    "best_threshold",
    "features_of",
    "fit",
    "points",
]  # fmt: skip
