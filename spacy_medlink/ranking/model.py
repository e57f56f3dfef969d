"""RankingModel: a linear model over traits, as plain numbers."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..util.held import File, content_of, place_of
from .traits import TRAITS, Traits

FORMAT = 3
_MOST = 1000
TOP = 10  # candidates that are described, where nothing else was asked for
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RankingModel:
    """Gives candidates a logit: sum of weight * (trait - mean) / scale.

    mean, scale, weights (Floats): (n_traits,).
    top (int): candidates that are ordered.
    fitted_for (Mapping[str, Any]): what must be the same where it is used: tiers, fusion, encoder.
    """

    mean: Floats
    scale: Floats
    weights: Floats
    top: int = TOP
    fitted_for: Mapping[str, Any] = field(default_factory=dict)

    def logits(self, traits: Traits) -> Floats:
        """Compute the logits of candidates: (n,)."""
        # Not a matrix product, whose last digits depend on how many rows there are.
        return np.asarray(self.terms(traits).sum(axis=1), dtype=np.float64)

    def terms(self, traits: Traits) -> Floats:
        """Compute what each trait adds to the logit: (n, n_traits)."""
        return np.asarray((traits - self.mean) / self.scale * self.weights, dtype=np.float64)

    @property
    def fingerprint(self) -> str:
        """Identify what it decides by."""
        parts = [part.tolist() for part in (self.mean, self.scale, self.weights)]
        return hashlib.sha256(json.dumps([TRAITS, self.top, parts]).encode()).hexdigest()[:32]

    def save(self, path: Path) -> None:
        """Write a JSON file."""
        facts = {
            "format": FORMAT,
            "traits": list(TRAITS),
            "mean": self.mean.tolist(),
            "scale": self.scale.tolist(),
            "weights": self.weights.tolist(),
            "top": self.top,
            "fitted_for": dict(self.fitted_for),
        }
        path.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: File) -> "RankingModel":
        """Read what `save` wrote.

        RAISES (MedlinkError): E202 when the file is damaged, E219 when it is of another version.
        """
        try:
            facts = json.loads(content_of(path))
            known = facts["format"] == FORMAT and facts["traits"] == list(TRAITS)
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise _incomplete(path, error) from error
        if not known:
            problem = "it was fitted by another version of spacy-medlink"
            raise Errors.ranker_mismatch(path=place_of(path).parent, problem=problem)
        try:
            mean, scale, weights = (
                np.asarray(facts[name], dtype=np.float64) for name in ("mean", "scale", "weights")
            )
            own = np.stack([mean, scale, weights])
            if own.shape[1] != len(TRAITS) or not np.isfinite(own).all() or (scale <= 0).any():
                raise ValueError("numbers that cannot be")
            if type(facts["top"]) is not int or not 1 <= facts["top"] <= _MOST:
                raise ValueError(f"it would order {facts['top']!r} candidates")
            return cls(mean, scale, weights, facts["top"], dict(facts["fitted_for"]))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise _incomplete(path, error) from error


def _incomplete(file: File, error: Exception) -> Exception:
    path = place_of(file)
    return Errors.assets_incomplete(path=path.parent, problem=f"{path.name}: {error}")
