"""Answers and signs: "Fever: none", "Any fever? No.", "asthma (no)", "-fever", "cough (+)".

They stand directly beside a mention and speak of it alone, so that no cue is made of them.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_WINDOW = 64  # characters beside a mention
_FULL, _EMPTY = r"(?:\[[xX✓]\]|[☑☒✓✔✗✘])", r"(?:\[\s?\]|☐)"
_BEHIND = (
    r"(?P<sign>\s*(?:\?+|[:=(\[/|]|\.{{2,}}|…|\s[-–—])?\s*)"
    r"(?:(?:A|pt|patient|he|she|mom|mother|dad|father|wife|husband)(?::|\s+(?:says|said))\s*)?"
    rf"(?P<box>(?:{_EMPTY}\s*[^\W\d_]+\s*)*{_FULL}\s*)?"
    r"(?P<word>(?:{words})(?![\w'’])|[+\-−–✓✗](?:(?<!\s.)|(?!\s+[^\W\d_])))"
    r"(?P<end>\s*(?:[,.;:)\]!/|\n]|$)|\s{{2,}}|\t|\s|)"
)
_BEFORE = re.compile(
    r"(?P<start>^|[\s,;/(])"
    rf"(?P<sign>\([-−+]\)|{_EMPTY}|{_FULL}|[Ø∅⌀]|\(\s?\)|\([xX]\)|(?:neg|pos)\.|[-−+](?:ve)?)(?P<space>\s?)$",
    re.IGNORECASE,
)
_SIGNED = re.compile(r"\w\+(?=\s|$)|(?<=\s)\+\w")  # a line where signs are answers
# "Pallor - edema +": a sign before a word, in a line that ends with a sign.
_APART = re.compile(r" ([+\-−–]) [^\W\d_][^\n]*\s[+\-−–][ \t]*(?:\n|(?!.))", re.DOTALL)
_BRACKETED = re.compile(r"\([-−+]\)")
_YES = frozenset("+ ✓ ✔ ☑ ☒ [x] [X] [✓] (+) (x) (X) +ve pos.".split())
_DASHES = frozenset("-−–")


class Answer(NamedTuple):
    """An answer about a mention: whether it is yes, and the characters that it takes up."""

    is_yes: bool
    start: int
    end: int


def answer_pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Make the pattern of an answer behind a mention; words (Iterable[str]): those that answer."""
    listed = sorted(map(re.escape, words), key=len, reverse=True)
    return re.compile(_BEHIND.format(words="|".join(listed) or r"(?!)"), re.IGNORECASE)


def answer_to(
    text: str, start: int, end: int, words: Mapping[str, bool], pattern: re.Pattern[str]
) -> Answer | None:
    """Find the answer beside a mention.

    start, end (int): characters of the mention. words (Mapping[str, bool]): answers, in lower case,
        and whether they are yes. pattern (Pattern): what `answer_pattern` makes of them.
    """
    if _is_led(text, start):
        return _before(text, start)
    answer = _behind(text, end, words, pattern) or _before(text, start)
    if answer is None and (sign := _APART.match(text, end, end + 4 * _WINDOW)):
        return Answer(sign[1] == "+", end, sign.end(1))
    return answer


def _behind(
    text: str, end: int, words: Mapping[str, bool], pattern: re.Pattern[str]
) -> Answer | None:
    found = pattern.match(text, end, end + _WINDOW)
    # An answer may stand in the next line only behind a sign: "Any fever?", a line end, "No."
    if found is None or found["sign"].count("\n") > bool(found["sign"].strip()):
        return None
    word, sign, closing = found["word"].lower(), found["sign"], found["end"]
    is_closed = (
        bool(closing.strip())
        or len(closing) > 1
        or closing in ("\n", "\t")
        or found.end() == len(text)
    )
    answer = Answer(word in _YES or words.get(word, False), end, found.end("word"))
    if word in words:
        is_signed = bool(sign.strip()) and sign.strip() not in "/-–—"
        if len(word) == 1 and not (is_signed or (closing.strip() and found["word"].isupper())):
            return None
        return answer if "?" in sign or is_closed or found["box"] else None
    line = text[max(0, end - _WINDOW) : end + _WINDOW]
    in_brackets = sign.strip() in ("(", "[") and closing.strip() in (")", "]")
    is_attached = not sign and (is_closed or (_SIGNED.search(line) is not None and bool(closing)))
    is_apart = sign == " " and is_closed and closing.strip() != "/"
    return answer if in_brackets or is_attached or is_apart else None


def _is_led(text: str, start: int) -> bool:
    """Tell whether signs in brackets stand before their mentions: "GI: (-) fever (-) cough"."""
    before = text[max(0, start - 4 * _WINDOW) : start]
    before = before[max(map(before.rfind, ("\n", ":", ".", ";"))) + 1 :]
    first = _BRACKETED.search(before)
    return first is not None and not before[: first.start()].strip()


def _before(text: str, start: int) -> Answer | None:
    begin = max(0, start - 8)
    found = _BEFORE.search(text, begin, start)
    if found is None:
        return None
    sign, is_spaced = found["sign"], bool(found["space"])
    if sign in _DASHES and (is_spaced or _is_bullet(text, found.start("sign"))):
        return None
    if sign == "+" and is_spaced and not found["start"].strip() and found.start():
        return None
    return Answer(sign.lower() in _YES, found.start("sign"), start)


def _is_bullet(text: str, place: int) -> bool:
    """Tell whether a hyphen begins a line as that of a neighbouring line does."""
    line = text.rfind("\n", 0, place) + 1
    if text[line:place].strip():
        return False
    before = text[:line].rstrip("\n").rpartition("\n")[2].lstrip()
    after = text[place:].partition("\n")[2].partition("\n")[0].lstrip()
    return before[:1] in _DASHES or after[:1] in _DASHES
