"""The linker: mentions in, links out. Knows no spaCy."""

from .linker import Linker
from .opening import open_linker
from .parts import Parts
from .settings import LinkSettings

__all__ = ["LinkSettings", "Linker", "Parts", "open_linker"]
