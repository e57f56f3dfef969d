"""A mention with its abbreviations written out."""

import re
from collections.abc import Iterable, Mapping

_NESTED = 2  # long forms within long forms; documents that define in circles end, too


def written_out(text: str, defined: Mapping[str, str]) -> str:
    """Write a mention's abbreviations out: "SJS type 2" is "Schwartz-Jampel syndrome type 2".

    A short form in parentheses behind its own long form is dropped, and a plural is its singular.
    Abbreviations within a long form are written out, too: "attenuated FAP (AFAP)".

    text (str): the mention. defined (Mapping[str, str]): long form of each short form.
    RETURNS (str): "" where nothing is abbreviated.
    """
    return _written_out(text, defined, _NESTED)


def _written_out(text: str, defined: Mapping[str, str], nested: int) -> str:
    stripped = text.strip()
    if stripped in defined:
        return _whole(stripped, defined, nested)
    inside = [short for short in defined if short in stripped]
    if not inside:
        return ""
    if stripped[-1:] == "s" and stripped[:-1] in inside:
        return _whole(stripped[:-1], defined, nested)
    either = "|".join(map(re.escape, sorted(inside, key=lambda short: (-len(short), short))))
    written = re.sub(
        rf"(?<!\w)({either})s?(?!\w)(?=(?:\s+(\w+))?)",
        lambda found: _without_next(_whole(found[1], defined, nested), found[2]),
        _undefined(stripped, inside, defined),
    )
    return "" if written == stripped else " ".join(written.split())


def _whole(short: str, defined: Mapping[str, str], nested: int) -> str:
    """Look up a long form, and write out by the others what it abbreviates itself."""
    long = defined[short]
    if not nested or not any(other in long for other in defined if other != short):
        return long
    others = {other: its for other, its in defined.items() if other != short}
    return _written_out(long, others, nested - 1) or long


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
