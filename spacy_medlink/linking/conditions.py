"""Conditions of what was fitted to a linker (`Parts.conditions`): they must be the same in use."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..types import Facts

_DIGITS = 4  # of weights


def difference(fitted_for: Facts, used: Facts) -> str:
    """Describe the difference of two such lists; "" for none."""
    for name in {**used, **fitted_for}:
        fitted, value = fitted_for.get(name), used.get(name)
        if fitted != value:
            return f"it was fitted for {name} {_text(fitted)}, but here {name} is {_text(value)}"
    return ""


def rounded_weights(tiers: Sequence[str], weights: Mapping[str, float]) -> dict[str, float]:
    """Round the weights of tiers, so that conditions compare equal."""
    return {tier: round(weights.get(tier, 0.0), _DIGITS) for tier in sorted(tiers)}


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {part}" for name, part in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value) if value else "none"
