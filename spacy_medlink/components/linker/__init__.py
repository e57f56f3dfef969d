"""The `medical_linker` component: glue between Docs and the linker."""

from .annotation import NIL, Link
from .component import MedicalLinker
from .factory import make_medical_linker
from .settings import DEFAULT_CONFIG

__all__ = ["DEFAULT_CONFIG", "NIL", "Link", "MedicalLinker", "make_medical_linker"]
