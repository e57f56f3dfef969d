"""Bulk annotation: documents of a file or directory in, their links out, in bounded memory."""

from typing import TYPE_CHECKING

from ..util.after_import import names_from

if TYPE_CHECKING:
    from .journal import kept_parts
    from .run import Annotation, annotate_file

__all__ = ["Annotation", "annotate_file", "kept_parts"]
# The command line imports the settings, and must not import spaCy.
__getattr__ = names_from(__name__, Annotation="run", annotate_file="run", kept_parts="journal")
