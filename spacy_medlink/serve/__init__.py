"""A service and a page: `medlink serve`."""

from .app import Limits, make_app
from .corrections import CorrectionFile
from .desk import Desk

__all__ = ["CorrectionFile", "Desk", "Limits", "make_app"]
