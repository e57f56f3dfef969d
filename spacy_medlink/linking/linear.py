"""LinearModel: a linear model over named features, as plain numbers; what it was fitted for."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, MedlinkError
from ..types import Facts

Floats = NDArray[np.float64]

_NUMBERS = ("mean", "scale", "weights")
_CONSTANT = 1e-9  # a feature with a smaller deviation is constant


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
        """Make a model without weights that standardises by the mean and deviation of rows.

        rows (Floats): (n, n_features). counts (Optional[Floats]): weight of each row, (n,).
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
        """Make a model from one number for each feature, or one for all of them."""
        every = np.zeros(len(features))
        return cls(tuple(features), every + mean, every + scale, every + weights, bias)

    def standardise(self, rows: Floats) -> Floats:
        """Scale columns to mean 0 and deviation 1."""
        return np.asarray((rows - self.mean) / self.scale, dtype=np.float64)

    def score(self, rows: Floats) -> Floats:
        """Compute the scores of rows (n, n_features): (n,)."""
        # The last digits of a matrix product would depend on the number of rows.
        terms = (rows - self.mean) / self.scale * self.weights
        return np.asarray(terms.sum(axis=1) + self.bias, dtype=np.float64)

    def to_json(self) -> dict[str, list[float]]:
        """Make a dict of each feature's numbers, without the names and the bias."""
        return {name: getattr(self, name).tolist() for name in _NUMBERS}

    @classmethod
    def from_json(cls, features: Sequence[str], stored: Facts, bias: float = 0.0) -> "LinearModel":
        """Read the dict of `to_json`. RAISES (ValueError, KeyError): when it is damaged."""
        mean, scale, weights = (numbers(stored[name]) for name in _NUMBERS)
        if any(values.shape != (len(features),) for values in (mean, scale, weights)):
            raise ValueError("a number for each feature was expected")
        if not (scale > 0).all():
            raise ValueError("a scale is not positive")
        return cls(tuple(features), mean, scale, weights, bias)


def numbers(values: Any) -> Floats:
    """Check a list of finite numbers: (n,). RAISES (ValueError): when it is something else."""
    if not isinstance(values, list) or not all(type(value) in (int, float) for value in values):
        raise ValueError("a list of numbers was expected")
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError("a number is not finite")
    return array


@contextmanager
def damage_is_told(file: Path) -> Iterator[None]:
    """Turn the exceptions of reading a damaged file into E202."""
    try:
        yield
    except MedlinkError:
        raise
    except (
        OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError
    ) as error:  # fmt: skip
        raise Errors.assets_incomplete(path=file.parent, problem=f"{file.name}: {error}") from error


def difference(fitted_for: Facts, used: Facts) -> str:
    """Describe how conditions of fitting and use differ (`Parts.conditions`); "" for none."""
    for name in {**used, **fitted_for}:
        fitted, value = fitted_for.get(name), used.get(name)
        if fitted != value:
            return f"it was fitted for {name} {_text(fitted)}, but here {name} is {_text(value)}"
    return ""


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {part}" for name, part in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value) if value else "none"
