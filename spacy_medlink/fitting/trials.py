"""Trials: rankings of which it is known whether their first answer is right."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..ranking.features import Features

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Trials(NamedTuple):
    """Rankings to learn from.

    features (Features): (n, n_features). right (Flags): whether the first answer is, (n,).
    known (Flags): whether any answer could be, (n,). weights (Floats): how much each counts, (n,).
    groups (NDArray[int64]): trials of one group, such as mentions of one concept, stand and fall
        together, and are never on both sides of a split, (n,).
    """

    features: Features
    right: Flags
    known: Flags
    weights: Floats
    groups: NDArray[np.int64]

    def part(self, chosen: Flags) -> "Trials":
        """Take some of the trials."""
        return Trials(
            self.features[chosen],
            self.right[chosen],
            self.known[chosen],
            self.weights[chosen],
            self.groups[chosen],
        )
