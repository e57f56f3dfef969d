"""SNOMED CT, from the RF2 snapshot of any edition or extension."""

from .reader import read, release_of

__all__ = ["read", "release_of"]
