"""Conditions of a calibrator: what must be the same where it is fitted and where it is used."""

from collections.abc import Mapping, Sequence
from typing import Any

_DIGITS = 4  # of weights


def conditions(
    tiers: Sequence[str], fusion: object, weights: Mapping[str, float], encoder: str, reranker: str
) -> dict[str, Any]:
    """List the conditions on which scores depend, as plain data.

    tiers (Sequence[str]): the tiers asked. fusion (object): the function, weights (Mapping): its
    weights. encoder, reranker (str): their fingerprints, "" for none.
    """
    return {
        "tiers": sorted(tiers),
        "fusion": type(fusion).__name__,
        "weights": {tier: round(weights.get(tier, 0.0), _DIGITS) for tier in sorted(tiers)},
        "encoder": encoder,
        "reranker": reranker,
    }


def difference(fitted_for: Mapping[str, Any], used: Mapping[str, Any]) -> str:
    """Describe the difference of two such lists; "" for none."""
    for name, value in used.items():
        known = fitted_for.get(name)
        if known != value:
            return f"it was fitted for {name} {_text(known)}, but here {name} is {_text(value)}"
    return ""


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {part}" for name, part in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value) if value else "none"
