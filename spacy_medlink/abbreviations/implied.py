"""Abbreviations that a document uses beside their long form and never defines.

"congestive heart failure" in one line of a note and "CHF" in another. Of 277 undefined
abbreviations among the mentions of two training corpora (NCBI disease, BC5CDR), 87 had such a
partner, and it meant the same in every case.
"""

import re
from collections.abc import Iterable, Mapping

from ..text import key
from .expansion import written_out

_SHORT = re.compile(r"[^\W\d_]{3,6}")
_WORD = re.compile(r"[^\W_]+")
_SHORTS, _LONGS = 500, 2_000  # different ones of a document that are compared
_LONGEST = 120  # characters of a long form


def implied_definitions(mentions: Iterable[str], defined: Mapping[str, str]) -> dict[str, str]:
    """Find mentions that abbreviate another mention of their document.

    An abbreviation has three to six capitals. They stand in the other mention in their order, the
    first of each of its words among them, as Schwartz & Hearst (2003) ask of the first of all.

    mentions (Iterable[str]): the texts of a document's mentions.
    defined (Mapping[str, str]): what is defined already: the long form of each short form.
    RETURNS (Dict[str, str]): further short forms; none that two different mentions would explain.
    """
    shorts, longs = dict[str, None](), dict[str, list[str]]()
    texts = dict.fromkeys(mentions)
    for text in texts:
        short = text[:-1] if text[-1:] == "s" else text
        if short.isupper() and _SHORT.fullmatch(short) and not written_out(short, defined):
            shorts[short] = None
    if not shorts:
        return {}
    for text in list(texts)[:_LONGS]:
        if " " in text.strip() and len(text) <= _LONGEST:
            longs.setdefault(text.lstrip()[0].lower(), []).append(text)
    found: dict[str, str] = {}
    for short in list(shorts)[:_SHORTS]:
        own = [text for text in longs.get(short[0].lower(), ()) if _abbreviates(short, text)]
        if own and len({key(text) for text in own}) == 1:
            found[short] = " ".join(own[0].split())
    return found


def _abbreviates(short: str, text: str) -> bool:
    """Tell whether a short form has the first letter of each word, and others between them."""
    words, letters = _WORD.findall(text.lower()), short.lower()
    return 1 < len(words) <= len(short) and letters not in words and _spelled(letters, words)


def _spelled(letters: str, words: list[str]) -> bool:
    if not words or not letters:
        return not words and not letters
    word = words[0]
    if word[0] != letters[0]:
        return False
    # As few letters of this word as possible first: the most common abbreviations are initials.
    place = 0
    for taken in range(1, len(letters) - len(words) + 2):
        if _spelled(letters[taken:], words[1:]):
            return True
        place = word.find(letters[taken], place + 1) if taken < len(letters) else -1
        if place < 0:
            return False
    return False
