"""A service and a page: `medlink serve`."""

from .app import Limits, make_app
from .desk import Desk

__all__ = ["Desk", "Limits", "make_app"]
