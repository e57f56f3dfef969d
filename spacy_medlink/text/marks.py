"""Marks of forms: words, codes and signs that answer yes or no in any language, and what is void.

Cells, fields of JSON and boxes have no sentence around them, so that these hold in all languages.
"""

FILL = "\x1f"
"""What stands for a character that says nothing: white space, but no column and no line."""
_YES = "yes y true present positive pos si sí sì oui ja vrai wahr 1 + ++ +++ ✓ ✔ ✅"
_NO = (
    "no n false absent negative neg none denied denies non nein kein niega nega nie faux falsch 0 "
    "- – − ✗ ✘ ❌ ne"
)
_SIGNS = dict.fromkeys(_YES.split(), "+") | dict.fromkeys(_NO.split(), "-")
WORDS = "|".join(sorted((word for word in _SIGNS if word.isalpha()), key=len, reverse=True))
"""The words, as alternatives of a regular expression."""
ANSWER = f"(?:{WORDS}|[01✓✔✗✘])"
"""Words and signs that answer alone, as a group of a regular expression."""
FULL = r"(?:\[[xX✓✔]\]|\([xX✓✔]\)|[☑☒■✓✔])"
"""A box that is ticked, as a group."""


def sign_of(answer: str) -> str:
    """Get "+" for yes, "-" for no, and "" for what is no answer."""
    return _SIGNS.get(answer.strip(" \t\xa0.\x1f\"'").lower(), "")


def padded(text: str, length: int) -> str:
    """Fill a text up from the left; of one that is too long, the end is left."""
    return (FILL * (length - len(text)) + text)[-length:] if length else ""
