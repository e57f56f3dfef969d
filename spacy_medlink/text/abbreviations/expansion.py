"""A mention with its abbreviations written out."""

import re
from collections.abc import Iterable, Mapping

LONGEST = 1_000  # characters of a mention, and of its expansion
_NESTED = 2  # levels of long forms within long forms, because definitions may be circular


class LongForms:
    """Writes mentions out: "SJS type 2" is "Schwartz-Jampel syndrome type 2".

    A short form in parentheses after its long form is dropped, and a plural counts as its singular.
    Abbreviations within a long form are also written out: "attenuated FAP (AFAP)".

    defined (Mapping[str, str]): long form of each short form of a document.
    """

    def __init__(self, defined: Mapping[str, str]) -> None:
        self._defined = defined
        self._order = {short: order for order, short in enumerate(defined)}
        self._lengths = sorted({len(short) for short in defined})
        self._known: dict[str, str] = {}  # most mentions of a document occur many times

    def written_out(self, text: str) -> str:
        """Write a mention out.

        RETURNS (str): "" if nothing is abbreviated, or if the mention or its expansion has more
            than LONGEST characters.
        """
        if not self._defined or len(text) > LONGEST:
            return ""
        if text not in self._known:
            written = self._written_out(text, frozenset(), _NESTED)
            self._known[text] = written if len(written) <= LONGEST else ""
        return self._known[text]

    def _written_out(self, text: str, but: frozenset[str], nested: int) -> str:
        """Write out with all definitions but some."""
        stripped = text.strip()
        if stripped in self._defined and stripped not in but:
            return self._whole(stripped, but, nested)
        inside = [short for short in self._inside(stripped) if short not in but]
        if not inside:
            return ""
        if stripped[-1:] == "s" and stripped[:-1] in inside:
            return self._whole(stripped[:-1], but, nested)
        either = "|".join(map(re.escape, sorted(inside, key=lambda short: (-len(short), short))))
        written = re.sub(
            rf"(?<!\w)({either})s?(?!\w)(?=(?:\s+(\w+))?)",
            lambda match: _without_next(self._whole(match[1], but, nested), match[2]),
            _undefined(stripped, inside, self._defined),
        )
        return "" if written == stripped else " ".join(written.split())

    def _whole(self, short: str, but: frozenset[str], nested: int) -> str:
        """Look up a long form, and write out its abbreviations with the other definitions."""
        long, but = self._defined[short], but | {short}
        if not nested or len(long) > LONGEST:
            return long
        written = self._written_out(long, but, nested - 1)
        return written if written and len(written) <= LONGEST else long

    def _inside(self, text: str) -> list[str]:
        """List the short forms that occur in a text, in the order of their definitions.

        Testing every short form would take time quadratic in the length of the document.
        """
        lengths = [length for length in self._lengths if length <= len(text)]
        if len(self._defined) <= len(lengths) * len(text):
            return [short for short in self._defined if short in text]
        parts = {
            text[start : start + length]
            for length in lengths
            for start in range(len(text) - length + 1)
        }
        return sorted(parts & self._defined.keys(), key=self._order.__getitem__)


def _undefined(text: str, shorts: Iterable[str], defined: Mapping[str, str]) -> str:
    """Drop the definitions that a mention contains: "long form (short)" is "long form"."""
    if "(" not in text:
        return text
    for short in shorts:
        pattern = rf"({re.escape(defined[short])}\w?)\s*\({re.escape(short)}s?\)"
        text = re.sub(pattern, r"\1", text, flags=re.IGNORECASE)
    return text


def _without_next(long: str, following: str | None) -> str:
    """Drop the last word of a long form if the text repeats it: "SJS syndrome" has one syndrome."""
    rest, _, last = long.rpartition(" ")
    return rest if rest and following and last.lower() == following.lower() else long
