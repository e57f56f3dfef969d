"""Abbreviations that a document defines itself: "atrial septal defect (ASD)".

The algorithm is that of Schwartz & Hearst, "A simple algorithm for identifying abbreviation
definitions in biomedical text", Pacific Symposium on Biocomputing 2003, sections 3.1-3.2.
"""

import re
from collections.abc import Iterable, Mapping

_PARENTHESIS = re.compile(r"\(([^()]{2,120})\)")
_WORD_START = re.compile(r"\S+")
_CLAUSE_END = re.compile(r"[.;!?]\s(?=[A-Z])|\n\s*\n")
_MAX_SHORT_CHARS = 10
_MAX_SHORT_WORDS = 2


def find_definitions(text: str) -> dict[str, str]:
    """Find the abbreviations that a text defines, in either order ("long (short)", "short (long)").

    text (str): the document.
    RETURNS (Dict[str, str]): short form to long form; the first definition of a short form wins.
    """
    found: dict[str, str] = {}
    if "(" not in text:
        return found
    for match in _PARENTHESIS.finditer(text):
        inside = re.split(r"[;,]\s", match.group(1))[0].strip()
        before = _clause_before(text, match.start())
        if _is_short_form(inside):
            long = _long_form(inside, _last_words(before, inside)) or _permuted(inside, before)
            short = inside
        else:
            short = before.split()[-1] if before.split() else ""
            long = _long_form(short, inside) if _is_short_form(short) else ""
        if long:
            found.setdefault(short, long)
    return found


def written_out(text: str, defined: Mapping[str, str]) -> str:
    """Write a mention's abbreviations out: "SJS type 2" is "Schwartz-Jampel syndrome type 2".

    A short form in parentheses behind its own long form is dropped, and a plural is its singular.

    text (str): the mention. defined (Mapping[str, str]): long form of each short form.
    RETURNS (str): "" where nothing is abbreviated.
    """
    stripped = text.strip()
    if whole := defined.get(stripped):
        return whole
    inside = [short for short in defined if short in stripped]
    if not inside:
        return ""
    if stripped[-1:] == "s" and stripped[:-1] in inside:
        return defined[stripped[:-1]]
    either = "|".join(map(re.escape, sorted(inside, key=lambda short: (-len(short), short))))
    written = re.sub(
        rf"(?<!\w)({either})s?(?!\w)(?=(?:\s+(\w+))?)",
        lambda found: _without_next(defined[found[1]], found[2]),
        _undefined(stripped, inside, defined),
    )
    return "" if written == stripped else " ".join(written.split())


def _undefined(text: str, shorts: Iterable[str], defined: Mapping[str, str]) -> str:
    """Drop the definitions that a mention contains: "long form (short)" is "long form"."""
    for short in shorts:
        pattern = rf"({re.escape(defined[short])}\w?)\s*\({re.escape(short)}s?\)"
        text = re.sub(pattern, r"\1", text, flags=re.IGNORECASE)
    return text


def _without_next(long: str, following: str | None) -> str:
    """Leave its last word to the text where that says it: "SJS syndrome" has one syndrome."""
    rest, _, last = long.rpartition(" ")
    return rest if rest and following and last.lower() == following.lower() else long


def _is_short_form(text: str) -> bool:
    """Section 3.1: 2 to 10 characters, at most two words, a letter, alphanumeric at the start.

    Beyond the paper at least one upper-case letter or digit is asked for: "(see below)" is prose.
    """
    return (
        2 <= len(text) <= _MAX_SHORT_CHARS
        and len(text.split()) <= _MAX_SHORT_WORDS
        and text[0].isalnum()
        and any(char.isalpha() for char in text)
        and any(char.isupper() or char.isdigit() for char in text)
    )


def _clause_before(text: str, end: int) -> str:
    start = max(0, end - 300)
    start = max(start, text.rfind("(", start, end) + 1, text.rfind(")", start, end) + 1)
    window = text[start:end]
    cut = 0
    for boundary in _CLAUSE_END.finditer(window):
        cut = boundary.end()
    return window[cut:].rstrip()


def _last_words(text: str, short: str) -> str:
    """Section 3.1: the long form has at most min(|A| + 5, 2 |A|) words, |A| the short's length."""
    limit = min(len(short) + 5, 2 * len(short))
    starts = [match.start() for match in _WORD_START.finditer(text)]
    return text[starts[-limit] :] if len(starts) > limit else text


def _long_form(short: str, text: str) -> str:
    """Section 3.2: match the short form's characters from the right, the first at a word start."""
    position = len(text)
    for index in range(len(short) - 1, -1, -1):
        char = short[index].lower()
        if not char.isalnum():
            continue
        position -= 1
        while position >= 0 and (
            text[position].lower() != char
            or (index == 0 and position > 0 and text[position - 1].isalnum())
        ):
            position -= 1
        if position < 0:
            return ""
    # The paper keeps the whole first word, hyphenated parts included.
    while position > 0 and not text[position - 1].isspace():
        position -= 1
    long = text[position:].strip(" \t\r\n\"'[]{},")
    return "" if _implausible(short, long) else " ".join(long.split())


def _permuted(short: str, text: str) -> str:
    """Beyond the paper: initials in another order, "myotonic dystrophy (DM)" from the Latin."""
    words = text.split()[-len(short) :]
    if not short.isalpha() or not short.isupper() or len(words) < len(short):
        return ""
    initials = [word[0].lower() for word in words]
    return " ".join(words) if sorted(initials) == sorted(short.lower()) else ""


def _implausible(short: str, long: str) -> bool:
    return len(long) <= len(short) or short in long.split() or len(long.split()) > 2 * len(short)
