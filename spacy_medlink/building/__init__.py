"""Building assets: encode all names, build the tiers, choose the fusion weights, swap in whole."""

from .build import build_assets

__all__ = ["build_assets"]
