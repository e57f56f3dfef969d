"""Lexicons: the meanings of short forms that documents use without a definition.

entries: reads the lines of a file. conditions: decide between meanings. lexicon: finds the meaning
of a short form in its place. clinical: the lexicons of the package, one TSV file a language.
"""

from .clinical import CLINICAL, languages, open_lexicon
from .conditions import Surroundings
from .lexicon import Lexicon, Sense

__all__ = ["CLINICAL", "Lexicon", "Sense", "Surroundings", "languages", "open_lexicon"]
