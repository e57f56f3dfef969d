"""Identifiers that a document writes itself, as in "Fabry disease (OMIM 301500)".

found: where they stand in a text, and of which vocabulary they are.
attached: which mentions they are written for.
spelling: how identifiers of texts and of knowledge bases compare.
"""

from .attached import identifiers_of
from .found import find_identifiers
from .spelling import IDENTIFIER, identifies, is_identified, spellings

__all__ = [
    "IDENTIFIER",
    "find_identifiers",
    "identifiers_of",
    "identifies",
    "is_identified",
    "spellings",
]
