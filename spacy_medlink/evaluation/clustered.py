"""Standard errors of means over mentions, of which equal ones are one draw."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def standard_error(values: NDArray[np.float64], groups: Sequence[str]) -> float:
    """Estimate the standard error of a mean; values of the same group are not independent.

    Of few groups the spread between them says little: it is never less than that of single values.
    """
    if not len(values):
        return 0.0
    _, cluster = np.unique(np.asarray(groups), return_inverse=True)
    sums = np.bincount(cluster, weights=values - values.mean())
    alone = float(values.std() / np.sqrt(len(values)))
    return max(alone, float(np.sqrt((sums**2).sum()) / len(values)))
