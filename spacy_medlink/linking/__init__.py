"""The engine: mentions in, ranked candidates out. Knows no spaCy."""

from .engine import LinkingEngine
from .tiers import TIERS

__all__ = ["TIERS", "LinkingEngine"]
