"""Lexicons: what short forms mean that documents use without defining them.

entries: a line of a file, and how files are read. conditions: what decides between meanings.
lexicon: what a short form means where it stands. clinical: the lexicons that come with the package,
one TSV file a language.
"""

from .clinical import CLINICAL, languages, open_lexicon
from .conditions import Surroundings
from .lexicon import Lexicon, Sense

__all__ = ["CLINICAL", "Lexicon", "Sense", "Surroundings", "languages", "open_lexicon"]
