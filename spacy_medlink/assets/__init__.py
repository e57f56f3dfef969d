"""Assets: the directory that holds all parts of one linker, and the parts, opened."""

from .assets import Assets

__all__ = ["Assets"]
