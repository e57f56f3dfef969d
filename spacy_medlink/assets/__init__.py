"""Assets: the directory with all parts of one linker; they are built, fitted and opened here."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .assets import Assets
    from .build import build_assets

__all__ = ["Assets", "build_assets"]

_WHERE = {"Assets": "assets", "build_assets": "build"}


def __getattr__(name: str) -> object:
    # `spacy.blank` imports modules of this room, and must not import all of it.
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    part: object = getattr(import_module(f".{_WHERE[name]}", __name__), name)
    return part
