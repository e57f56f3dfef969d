"""The context of mentions: negated, past, feared, uncertain, or about a relative."""

from .cues import KINDS, SECTION, Cues, shipped_cues
from .scopes import Said, said_of
from .sections import Part, find_sections

__all__ = ["KINDS", "SECTION", "Cues", "Part", "Said"]
__all__ += ["find_sections", "said_of", "shipped_cues"]
