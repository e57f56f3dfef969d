"""Bulk annotation: documents of a file or directory in, their links out, in bounded memory."""

from .journal import kept_parts
from .records import Shape
from .run import Annotation, annotate_file
from .text_inputs import Columns

__all__ = ["Annotation", "Columns", "Shape", "annotate_file", "kept_parts"]
