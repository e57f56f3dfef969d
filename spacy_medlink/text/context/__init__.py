"""The context of mentions: negated, past, feared, uncertain, or about a relative."""

from .cues import KINDS, SECTION, Cues, languages, read_cues, shipped_cues
from .scopes import Part, Said, find_sections, said_of

__all__ = ["KINDS", "SECTION", "Cues", "Part", "Said"]
__all__ += ["find_sections", "languages", "read_cues", "said_of", "shipped_cues"]
