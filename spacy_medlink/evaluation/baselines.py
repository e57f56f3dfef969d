"""Linkers to measure: with the default settings, and each tier alone as a baseline beside it."""

from collections.abc import Sequence

from ..linking import Linker, LinkSettings, open_linker
from ..linking.asset_parts import AssetParts
from ..linking.settings import NAMES_PER_TIER

BASELINES = ("exact", "ngram")
"""The tiers that are measured alone beside every linker: they need no training."""


def default_linker(assets: AssetParts, tiers: Sequence[str], depth: int) -> Linker:
    """Make the linker of assets with the default settings, for the depth of the evaluation.

    depth (int): concepts or names that each ranking must have. Up to half of the names that a tier
        proposes by default, these stay as many, so that acc@1 does not depend on other depths.
    RAISES (MedlinkError): E405 for a tier that was not built.
    """
    settings = LinkSettings(tiers=tiers, names_per_tier=max(NAMES_PER_TIER, 2 * depth))
    return open_linker(assets, settings).using(top_k=max(settings.top_k, depth))


def alone(linker: Linker, tier: str, assets: AssetParts) -> Linker:
    """Make a linker with the settings of another, but only one tier, and nothing that was fitted.

    Identifiers, abbreviations of the document and corrections are left out: they help every tier.
    """
    return linker.with_parts(
        exact=assets.exact if tier == "exact" else None,
        ngram=(linker.parts.ngram or assets.ngram) if tier == "ngram" else None,
        dense=assets.dense if tier == "dense" else None,
        encoder=(linker.parts.encoder or assets.encoder) if tier == "dense" else None,
        fusion=linker.parts.fusion.with_weights({tier: 1.0}), languages=None,
        memory=None, rescorer=None, calibrator=None, identifiers_of=None, gate=None,
    )  # fmt: skip
