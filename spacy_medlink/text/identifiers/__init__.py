"""Identifiers written in a document, as in "Fabry disease (OMIM 301500)".

found: finds identifiers in a text, with their vocabulary.
attached: assigns identifiers to mentions.
spelling: compares identifiers of texts with those of knowledge bases.
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
