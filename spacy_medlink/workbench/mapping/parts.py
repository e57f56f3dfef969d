"""Parts of a term as people type it: what it names, and what is set aside before matching.

"h/o L knee pain x 3 wks" is knee pain: past, on the left, for some time. "Creatinine, serum umol/L"
has a specimen and a unit, "Metformin HCl 1000 MG tab" a strength.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ...text.context import Cues
from ...text.context.cues import find_words, plain
from ...text.qualifiers import QUALIFIERS, SITES, VAGUE, heads
from .words import (
    BEHIND,
    BROADER,
    CHARGE,
    CODE,
    EDGES,
    EXACT,
    MATCHES,
    OTHER,
    RELATED,
    SALT,
    SAMPLES,
    SCALE,
    TAKEN,
    Words,
    tidy,
    written_out,
)

COLUMNS = ("history", "side", "specimen", "strength", "unit", "other")
"""What is set aside, by the name of its column."""
_LONGEST = 200  # characters; longer terms are sentences
_SHORT = 5  # characters of a short form whose meaning may stand in brackets
_BRACKETS = re.compile(r"(?:^|\s)[(\[]([^()\[\]]*)(?:[)\]]|$)")
_BULLET = re.compile(r"\s*(?:\d{1,2}[.)]\s+|#)(?=[^\W\d_])")
_SEPARATOR = re.compile(r"[,;|]|:\s|\s[-\u2013\u2014]+\s")
_MOST_SEGMENTS = 4
_SLASH = re.compile(r"(?<=\w{4})\s?/\s?(?=\w{4})")
_SPOKEN = frozenset({"historical", "family", "uncertain", "hypothetical"})
_HISTORY = re.compile(
    r"(?:(?:h/?x|hist|history|prior|prev|previous)\b\.?(?: of\b)?|\?+)[\s:-]*", re.I
)
_HISTORY_BEHIND = re.compile(r"[\s,;(-]+(?:by )?(?:h/?x|h/o|history|\?+)[\s)]*$", re.I)


class Form(NamedTuple):
    """A text that is looked up for a term.

    match (str): what a concept with this name is to the term.
    """

    text: str
    match: str


class Parts(NamedTuple):
    """The parts of a term.

    aside (Dict[str, str]): what is set aside, by some of COLUMNS. forms (Tuple[Form, ...]): to be
        looked up, those that say most of the term first; the term itself is not among them. head
        (str): the shortest that may be misspelt; all others must be names.
    """

    aside: dict[str, str] = {}
    forms: tuple[Form, ...] = ()
    head: str = ""


def parts_of(name: str, words: Words) -> Parts:
    """Read a term."""
    if len(name) > _LONGEST:
        return Parts()
    aside: dict[str, list[str]] = {column: [] for column in COLUMNS}
    forms: dict[str, str] = {}
    for text, match in _forms(name, words, aside):
        for form, least in () if _is_empty(text) else written_out(text, name, words):
            if form != name and not _is_empty(form) and any(map(str.isalpha, form)):
                forms.setdefault(form, max(match, least, key=MATCHES.index))
    aside_cells = {column: "; ".join(texts) for column, texts in aside.items() if texts}
    head = next((text for text in reversed(forms) if text in name), "")
    return Parts(aside_cells, tuple(map(Form._make, forms.items())), head)


def _forms(name: str, words: Words, aside: dict[str, list[str]]) -> Iterator[Form]:
    """List the forms of a term, and collect what is set aside."""
    uncoded = _without(CODE, _BULLET.sub("", name, count=1), aside["other"])
    text = _without_history(uncoded, words.cues, aside["history"])
    worst = RELATED if aside["history"] else BROADER
    text = _without_brackets(text, aside["other"])
    bracketed = [*aside["other"]]
    for column in ("strength", "unit"):
        text = _without(TAKEN[column], text, aside[column])
    text = CHARGE.sub("", text)
    is_less = aside["history"] or aside["other"] or aside["strength"]
    match = worst if is_less else EXACT
    yield from _segments(text, match)
    core = _without(TAKEN["specimen"], text, aside["specimen"])
    for sample in dict.fromkeys(SAMPLES.get(s.lower(), s) for s in aside["specimen"]):
        for way in (f"{sample} {core}", f"{core} in {sample}"):
            yield from _segments(way, match)
            yield from _segments(OTHER.sub(" ", way), worst)
    core = _without(TAKEN["side"], core, aside["side"])
    if aside["specimen"] or aside["side"]:
        match = worst
    yield from _segments(core, match)
    if BEHIND.search(core):
        core = BEHIND.split(core)[0]
        yield from _segments(core, worst)
    bare = _without(OTHER, _without(SCALE, core, aside["other"]), aside["other"])
    yield from _segments(bare, worst)
    for rest in words.without_aside(bare, aside["other"]):
        yield from _segments(rest, worst)
        bare = rest
    segments = _split(bare)
    for count in range(min(len(segments) - 1, _MOST_SEGMENTS), 1, -1):
        yield from _segments(", ".join(segments[:count]), worst)
    head = segments[0] if segments else ""
    for text in (head, SALT.sub("", head), *heads(words.spelt(head)), _without_site(head)):
        yield Form(text, worst)
    yield from (Form(tidy(part), RELATED) for part in _SLASH.split(head)[:1])
    if len(head) <= _SHORT and head.isupper() and not name.isupper():  # "HBP (hypertension)"
        yield from (Form(tidy(part), RELATED) for part in bracketed)


def _without_site(text: str) -> str:
    """Take the part of the body from a problem: "knee pain", "hearing loss ear"."""
    words = text.split()
    for rest, site in ((words[1:], words[:1]), (words[:-1], words[-1:])):
        name = " ".join(rest)
        if len(name) > 1 and not VAGUE.issuperset(rest) and SITES.issuperset(site):
            return name
    return text


def _without_history(text: str, cues: Cues, aside: list[str]) -> str:
    """Set aside the words at the beginning that say that a problem is past, and the like."""
    while text:
        if match := _HISTORY.match(text):
            end = match.end()
        else:
            words = list(find_words(text))
            cues_found = cues.find([*(plain(word[0]) for word in words), "."], len(words))
            first, after, cue = cues_found[0] if cues_found else (1, 0, None)
            if first or cue is None or not (cue.forward and cue.kind in _SPOKEN):
                break
            end = words[after].start() if after < len(words) else len(text)
        if not tidy(text[end:]):
            break
        aside.append(text[:end].strip(" :-"))
        text = text[end:].lstrip(" :-")
    behind = _HISTORY_BEHIND.search(text)
    if behind and behind.start():
        aside.append(behind[0].strip(EDGES) or "?")
        text = text[: behind.start()]
    return text


def _without_brackets(text: str, aside: list[str]) -> str:
    """Set brackets aside, unless all that is in them is a unit, a specimen, or the like."""

    def rest(bracket: re.Match[str]) -> str:
        content = bracket[1]
        for pattern in TAKEN.values():
            content = pattern.sub(" ", content)
        if not tidy(content):
            return f", {bracket[1]}"
        aside.append(bracket[1].strip())
        return " "

    bare = _BRACKETS.sub(rest, text)
    return bare if tidy(bare) else text


def _without(pattern: re.Pattern[str], text: str, aside: list[str]) -> str:
    """Set aside what fits a pattern, unless nothing would be left."""
    rest = pattern.sub(" ", text)
    if not tidy(rest):
        return text
    aside += [match[0].strip() for match in pattern.finditer(text)]
    return rest


def _segments(text: str, match: str) -> Iterator[Form]:
    """List a text, and its parts in the other order: "Hemorrhoids, internal"."""
    segments = _split(text)
    yield Form(tidy(text), match)
    if 1 < len(segments) <= _MOST_SEGMENTS:
        yield Form(" ".join(reversed(segments)), match)
        yield Form(" ".join(segments), match)


def _split(text: str) -> list[str]:
    return [segment for part in _SEPARATOR.split(text) if (segment := tidy(part))]


def _is_empty(text: str) -> bool:
    """Tell whether a text says no problem: "acute", or "left leg"."""
    return all(word in QUALIFIERS | SITES | VAGUE for word in text.lower().split())
