"""Assets: the directory that holds all parts of one linker, and functions that open the parts."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .assets import Assets

__all__ = ["Assets"]


def __getattr__(name: str) -> Any:
    # `spacy.blank` imports modules of this room, and must not import all of it.
    if name != "Assets":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .assets import Assets

    return Assets
