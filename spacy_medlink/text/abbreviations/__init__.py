"""Abbreviations: their definitions in a document, and the expansion of mentions.

definitions: "atrial septal defect (ASD)".
implied: "congestive heart failure" in one place of a document and "CHF" in another.
expansion: a mention with its abbreviations written out.
"""

from .definitions import Definitions, find_definitions
from .expansion import LongForms
from .implied import implied_definitions

__all__ = ["Definitions", "LongForms", "find_definitions", "implied_definitions"]
