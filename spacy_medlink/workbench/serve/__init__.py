"""A service and a page: `medlink serve`."""

from .app import make_app
from .correction_file import CorrectionFile
from .desk import Desk, Limits

__all__ = ["CorrectionFile", "Desk", "Limits", "make_app"]
