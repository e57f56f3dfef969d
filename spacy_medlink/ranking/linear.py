"""LinearModel: a linear model over named features, as plain numbers."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, MedlinkError
from ..util.held import File, place_of

Floats = NDArray[np.float64]

_NUMBERS = ("mean", "scale", "weights")
_CONSTANT = 1e-9  # a feature that varies less does not vary


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Scores rows of features: bias + sum of weight * (feature - mean) / scale.

    features (Tuple[str, ...]): names of the columns.
    mean, scale, weights (Floats): (n_features,). bias (float).
    """

    features: tuple[str, ...]
    mean: Floats
    scale: Floats
    weights: Floats
    bias: float = 0.0

    @classmethod
    def standardising(
        cls, features: Sequence[str], rows: Floats, counts: Floats | None = None
    ) -> "LinearModel":
        """Make a model without weights that standardises by what rows have.

        rows (Floats): (n, n_features). counts (Optional[Floats]): what each row counts, (n,).
        """
        if not len(rows):
            return cls.of(features, 0.0, 1.0, 0.0)
        mean = np.average(rows, axis=0, weights=counts)
        scale = np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=counts))
        return cls.of(features, mean, np.where(scale < _CONSTANT, 1.0, scale), 0.0)

    @classmethod
    def of(
        cls,
        features: Sequence[str],
        mean: Floats | float,
        scale: Floats | float,
        weights: Floats | float,
        bias: float = 0.0,
    ) -> "LinearModel":
        """Make a model of numbers for each feature, or of one number for all of them."""
        every = np.zeros(len(features))
        return cls(tuple(features), every + mean, every + scale, every + weights, bias)

    def standardise(self, rows: Floats) -> Floats:
        """Give columns the mean 0 and the deviation 1."""
        return np.asarray((rows - self.mean) / self.scale, dtype=np.float64)

    def score(self, rows: Floats) -> Floats:
        """Compute the scores of rows (n, n_features): (n,)."""
        # Not a matrix product, whose last digits depend on how many rows there are.
        terms = self.standardise(rows) * self.weights
        return np.asarray(terms.sum(axis=1) + self.bias, dtype=np.float64)

    def to_json(self) -> dict[str, list[float]]:
        """Write down the numbers of each feature; their names and the bias are the caller's."""
        return {name: getattr(self, name).tolist() for name in _NUMBERS}

    @classmethod
    def from_json(
        cls, features: Sequence[str], facts: Mapping[str, Any], bias: float = 0.0
    ) -> "LinearModel":
        """Read what `to_json` wrote. RAISES (ValueError, KeyError): when that cannot be."""
        mean, scale, weights = (numbers(facts[name]) for name in _NUMBERS)
        if any(own.shape != (len(features),) for own in (mean, scale, weights)):
            raise ValueError("a number for each feature was expected")
        if not (scale > 0).all():
            raise ValueError("a scale is not positive")
        return cls(tuple(features), mean, scale, weights, bias)


def numbers(values: Any) -> Floats:
    """Check a list of numbers: (n,). RAISES (ValueError): when it is none, or one is not finite."""
    if not isinstance(values, list) or not all(type(one) in (int, float) for one in values):
        raise ValueError("a list of numbers was expected")
    found = np.asarray(values, dtype=np.float64)
    if not np.isfinite(found).all():
        raise ValueError("a number is not finite")
    return found


@contextmanager
def damage_is_told(file: File) -> Iterator[None]:
    """Turn what reading a damaged file raises into E202."""
    try:
        yield
    except MedlinkError:
        raise
    except (
        OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError
    ) as error:  # fmt: skip
        path = place_of(file)
        raise Errors.assets_incomplete(path=path.parent, problem=f"{path.name}: {error}") from error
