"""Assets: the directory with all parts of one linker; they are built, fitted and opened here."""

from typing import TYPE_CHECKING

from ..util.after_import import names_from

if TYPE_CHECKING:
    from .assets import Assets
    from .build import build_assets

__all__ = ["Assets", "build_assets"]
# `spacy.blank` imports modules of this room, and must not import all of it.
__getattr__ = names_from(__name__, Assets="assets", build_assets="build")
