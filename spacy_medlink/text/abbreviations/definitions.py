"""Abbreviations that a document defines itself: "atrial septal defect (ASD)".

The algorithm is that of Schwartz & Hearst, "A simple algorithm for identifying abbreviation
definitions in biomedical text", Pacific Symposium on Biocomputing 2003, sections 3.1-3.2.
Extensions are marked "Beyond the paper".
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..normalisation import key

_PARENTHESIS = re.compile(r"\(([^()]{2,120})\)")
_CLAUSE_END = re.compile(r"[.;!?]\s(?=[A-Z])|\n\s*\n")
_TWO = re.compile(r"([A-Z]{2,6})(?:\s?/\s?|\s+(?:and|or|y|und|et|e)\s+)([A-Z]{2,6})")
_WORD_BEFORE = re.compile(r"(\S+)\s+(?:and|or|and/or|y|und|et|e)\s*$")
_JOINT = re.compile(r"[-\u2010\u2011]")
# No long form begins with one, nor does a part of one end with it.
_FUNCTION_WORDS = frozenset("a an and as at by for from in is of on or the to was with".split())
_BRACKET = re.compile(r"[()]")
_PART_END = re.compile(r"[;,]\s")
_WORD_CHARS = 40  # characters that are searched for the word before a parenthesis
_MAX_SHORT_CHARS = 10
_MAX_SHORT_WORDS = 2

_Definition = tuple[str, str]


class Definitions(Mapping[str, str]):
    """The abbreviations that a text defines: short form to long form, the first definition of each.

    definitions (Iterable[Tuple[int, str, str]]): where each definition begins (in characters), its
        short form, its long form; in the order of the text, of equal rank the surer one first.
    """

    def __init__(self, definitions: Iterable[tuple[int, str, str]] = ()) -> None:
        self._first: dict[str, str] = {}
        self._all: dict[str, list[tuple[int, str]]] = {}
        for start, short, long in definitions:
            self._first.setdefault(short, long)
            self._all.setdefault(short, []).append((start, long))
        self._varying = {
            short: sorted(places)
            for short, places in self._all.items()
            if len(places) > 1 and len({key(long) for _, long in places}) > 1
        }
        self._starts = sorted({start for places in self._varying.values() for start, _ in places})

    def __getitem__(self, short: str) -> str:
        return self._first[short]

    def __iter__(self) -> Iterator[str]:
        return iter(self._first)

    def __len__(self) -> int:
        return len(self._first)

    @property
    def parts(self) -> Sequence[int]:
        """Where in the text a short form gets another meaning; () if each has one."""
        return self._starts

    def at(self, start: int) -> Mapping[str, str]:
        """Get the definitions that hold at a character: of several, the last one before it."""
        if not self._varying:
            return self._first
        return self._first | {short: self.long(short, start) for short in self._varying}

    def long(self, short: str, start: int) -> str:
        """Get the long form of a short form that stands at a character."""
        if short not in self._varying:
            return self._first[short]
        meanings = self._varying[short]
        return meanings[max(bisect_right([begin for begin, _ in meanings], start) - 1, 0)][1]


_NONE = Definitions()


def find_definitions(text: str) -> Definitions:
    """Find the abbreviations that a text defines, in either order ("long (short)", "short (long)").

    text (str): the document.
    RETURNS (Definitions): short form to long form, and where in the text it holds.
    """
    if "(" not in text:
        return _NONE
    definitions: list[tuple[int, str, str]] = []
    derived: list[tuple[int, str, str]] = []
    long_forms: dict[str, str] = {}
    for match in _PARENTHESIS.finditer(text):
        inside = _PART_END.split(match[1], maxsplit=1)[0].strip()
        if not _may_define(inside, text, match.start()):
            continue
        before = _clause_before(text, match.start())
        short, long = _defined(inside, before)
        if long:
            start = match.start() if short in inside else text.rfind(short, 0, match.start())
            definitions.append((start, short, long))
            long_forms.setdefault(short, long)
        for short, its in _derived(inside, before, long, long_forms):
            derived.append((match.start(), short, its))
            long_forms.setdefault(short, its)
    defined = {short for _, short, _ in definitions}  # its own definition wins
    return Definitions(
        [*definitions, *(further for further in derived if further[1] not in defined)]
    )


def _may_define(inside: str, text: str, start: int) -> bool:
    """Tell whether a short form stands within a parenthesis or right before it."""
    if _is_short_form(inside):
        return True
    word = _BRACKET.sub(" ", text[max(0, start - _WORD_CHARS) : start]).split()[-1:]
    return bool(word and _is_short_form(word[0])) or _TWO.fullmatch(inside) is not None


def _defined(inside: str, before: str) -> _Definition:
    """Return the definition made by a parenthesis and the words before it; ("", "") if none."""
    if not _is_short_form(inside):
        short = before.split()[-1] if before.split() else ""
        return (short, _long_form(short, inside)) if _is_short_form(short) else ("", "")
    if long := _long_form_before(inside, before):
        return inside, long
    return (inside, _long_form_before(inside[:-1], before)) if _is_plural(inside) else ("", "")


def _derived(
    inside: str, before: str, long: str, long_forms: Mapping[str, str]
) -> Iterator[_Definition]:
    """List the further definitions that follow from a definition or a similar phrase.

    long (str): the long form of the text inside, "" if none. long_forms: those so far.
    """
    if two := _TWO.fullmatch(inside):
        yield from _coordinated(two[1], two[2], before)
    elif long and _is_short_form(inside):
        yield from _by_joints(inside, long)
        # A final s may mark a plural or stand for a word: the s of "HBs" is that of "surface".
        plural = _is_plural(inside) and (long[-1] == "s" or not _long_form(inside, long))
        if plural and _long_form(inside[:-1], long) == long:
            yield inside[:-1], long
    elif _is_short_form(inside):
        yield from _last_joint(inside, before, long_forms)


def _long_form_before(short: str, before: str) -> str:
    words = _last_words(before, short)
    return _initials(short, words) or _long_form(short, words) or _permuted(short, before)


def _is_plural(short: str) -> bool:
    """Tell whether a short form is a plural: "VSDs" also defines "VSD"."""
    return len(short) > 2 and short[-1] == "s" and short[:-1].isupper()


def _initials(short: str, text: str) -> str:
    """Beyond the paper: initials of whole words go before letters from inside a shorter text.

    "attenuated adenomatous polyposis coli (AAPC)" has its second A from "attenuated".
    """
    words = text.split()[-len(short) :]
    if len(short) < 3 or not short.isalpha() or len(words) < len(short):
        return ""
    if any(word[0].lower() != char.lower() for word, char in zip(words, short, strict=True)):
        return ""
    long = " ".join(words)
    return "" if _implausible(short, long) else long


def _by_joints(short: str, long: str) -> Iterator[_Definition]:
    """Beyond the paper: "hyperparathyroidism-jaw tumor syndrome (HPT-JT)" defines HPT and JT."""
    parts = _JOINT.split(short)
    if len(parts) < 2 or not all(part.isalpha() and part.isupper() for part in parts):
        return  # "5-HT" does not define HT
    end, definitions = len(long), list[_Definition]()
    for part in reversed(parts):
        start, stop = _matched(part, long[:end])
        if start < 0:
            return
        definitions.append((part, long[start:stop]))
        end = start
    for part, its in definitions:
        if _is_short_form(part) and not _implausible(part, its):
            yield part, its


def _last_joint(short: str, before: str, long_forms: Mapping[str, str]) -> Iterator[_Definition]:
    """Beyond the paper: after a known part, "(ATT)-associated liver failure (ATT-LF)"."""
    *first, last = _JOINT.split(short)
    behind = first and all(part in long_forms for part in first) and _is_short_form(last)
    if behind and (long := _long_form_before(last, before)):
        yield last, long


def _coordinated(first: str, second: str, before: str) -> Iterator[_Definition]:
    """Beyond the paper: "Duchenne and Becker muscular dystrophy (DMD/BMD)" defines both."""
    long = _initials(second, _last_words(before, second))
    other = _WORD_BEFORE.search(before[: -len(long)]) if long and before.endswith(long) else None
    if other is None:
        return
    yield second, long
    if its := _initials(first, f"{other[1]} {long.partition(' ')[2]}"):
        yield first, its


def _is_short_form(text: str) -> bool:
    """Section 3.1: 2 to 10 characters, at most two words, a letter, alphanumeric at the start.

    Beyond the paper, at least one upper-case letter or digit is required: "(see below)" is prose.
    """
    return (
        2 <= len(text) <= _MAX_SHORT_CHARS
        and len(text.split()) <= _MAX_SHORT_WORDS
        and text[0].isalnum()
        and any(map(str.isalpha, text))
        and (text.lower() != text or any(map(str.isdigit, text)))
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
    """Section 3.1: a long form has at most min(|A| + 5, 2 |A|) words; |A|: short form's length."""
    limit = min(len(short) + 5, 2 * len(short))
    parts = text.rsplit(None, limit)
    return text[len(parts[0]) :].lstrip() if len(parts) > limit else text


def _long_form(short: str, text: str) -> str:
    """Section 3.2: match the short form's characters from the right, the first at a word start."""
    position, _ = _matched(short, text)
    if position < 0:
        return ""
    # The paper keeps the whole first word, hyphenated parts included.
    while position > 0 and not text[position - 1].isspace():
        position -= 1
    long = text[position:].strip(" \t\r\n\"'[]{},")
    return "" if _implausible(short, long) else " ".join(long.split())


def _matched(short: str, text: str) -> tuple[int, int]:
    """Find the start of the match and the end of the word of its last character; -1 if none."""
    position, end, lowered = len(text), -1, _lowered(text)
    for index in range(len(short) - 1, -1, -1):
        char = short[index].lower()
        if not char.isalnum():
            continue
        position = lowered.rfind(char, 0, position)
        while index == 0 and position > 0 and text[position - 1].isalnum():
            position = lowered.rfind(char, 0, position)
        if position < 0:
            return -1, -1
        end = position if end < 0 else end
    while 0 <= end < len(text) and text[end].isalnum():
        end += 1
    return position, end


def _lowered(text: str) -> str:
    """Lower the case and keep all positions: a dotted capital I would become two characters."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _permuted(short: str, text: str) -> str:
    """Beyond the paper: initials in another order, "myotonic dystrophy (DM)" from the Latin."""
    words = text.split()[-len(short) :]
    if not short.isalpha() or not short.isupper() or len(words) < len(short):
        return ""
    initials, long = [word[0].lower() for word in words], " ".join(words)
    fits = sorted(initials) == sorted(short.lower()) and not _implausible(short, long)
    return long if fits else ""


def _implausible(short: str, long: str) -> bool:
    words = long.split()
    return (
        len(long) <= len(short)
        or short in words
        or len(words) > 2 * len(short)
        or (words[0].lower() in _FUNCTION_WORDS and len(words) > 1)
        or words[-1].lower() in _FUNCTION_WORDS
    )
