"""Conditions of a calibrator: what must be the same where it is fitted and where it is used."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..types import Data, Facts

_DIGITS = 4  # of weights


def conditions(
    tiers: Sequence[str],
    fusion: object,
    weights: Mapping[str, float],
    encoder: str,
    reranker: str,
    languages: Mapping[str, Mapping[str, float]] | None = None,
) -> Data:
    """List the conditions on which scores depend, as plain data.

    tiers (Sequence[str]): the tiers asked. fusion (object): the function, weights (Mapping): its
    weights. encoder, reranker (str): their fingerprints, "" for none.
    languages (Optional[Mapping]): weights by language, where some have their own.
    """
    by_language = {
        lang: _rounded(tiers, shares) for lang, shares in sorted((languages or {}).items())
    }
    return {
        "tiers": sorted(tiers),
        "fusion": type(fusion).__name__,
        "weights": _rounded(tiers, weights),
        "encoder": encoder,
        "reranker": reranker,
    } | ({"languages": by_language} if by_language else {})


def difference(fitted_for: Facts, used: Facts) -> str:
    """Describe the difference of two such lists; "" for none."""
    for name in {**used, **fitted_for}:
        fitted, value = fitted_for.get(name), used.get(name)
        if fitted != value:
            return f"it was fitted for {name} {_text(fitted)}, but here {name} is {_text(value)}"
    return ""


def _rounded(tiers: Sequence[str], weights: Mapping[str, float]) -> dict[str, float]:
    return {tier: round(weights.get(tier, 0.0), _DIGITS) for tier in sorted(tiers)}


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {part}" for name, part in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value) if value else "none"
