"""Answers and signs: "Fever: none", "Any fever? No.", "asthma (no)", "-fever", "cough (+)".

They stand directly beside a mention and speak of it alone, so that no cue is made of them.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

_WINDOW = 48  # characters beside a mention
_BEHIND = re.compile(
    r"(?P<sign>\s*(?:\?+|[:=(\[/]|\.{2,}|…|\s[-–—])?\s*)"
    r"(?:(?:A|pt|patient|he|she|mom|mother|dad|father|wife|husband)(?::|\s+(?:says|said))\s*)?"
    r"(?P<word>[^\W\d_]+|[+\-−–✓✗](?:(?<!\s.)|(?!\s+[^\W\d_])))(?P<end>\s*(?:[,.;:)\]!/|\n]|$)|\s|)",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"(?P<start>^|[\s,;/(])"
    r"(?P<sign>\([-−+]\)|\[\s?\]|\[[xX✓]\]|[☐☑☒✓✔✗✘Ø∅⌀]|\(\s?\)|\([xX]\)|(?:neg|pos)\.|[-−+](?:ve)?)(?P<space>\s?)$",
    re.IGNORECASE,
)
_SIGNED = re.compile(r"\w\+(?=\s|$)|(?<=\s)\+\w")  # a line where signs are answers
_YES = frozenset("+ ✓ ✔ ☑ ☒ [x] [X] [✓] (+) (x) (X) +ve pos.".split())
_DASHES = frozenset("-−–")


class Answer(NamedTuple):
    """An answer about a mention: whether it is yes, and the characters that it takes up."""

    is_yes: bool
    start: int
    end: int


def answer_to(text: str, start: int, end: int, words: Mapping[str, bool]) -> Answer | None:
    """Find the answer beside a mention.

    start, end (int): characters of the mention. words (Mapping[str, bool]): answers, in lower case,
        and whether they are yes.
    """
    return _behind(text, end, words) or _before(text, start)


def _behind(text: str, end: int, words: Mapping[str, bool]) -> Answer | None:
    found = _BEHIND.match(text, end, end + _WINDOW)
    # An answer may stand in the next line only behind a sign: "Any fever?", a line end, "No."
    if found is None or found["sign"].count("\n") > bool(found["sign"].strip()):
        return None
    word, sign, closing = found["word"].lower(), found["sign"], found["end"]
    is_closed = bool(closing.strip()) or "\n" in closing or found.end() == len(text)
    answer = Answer(word in _YES or words.get(word, False), end, found.end("word"))
    if word in _YES or word in _DASHES:
        in_brackets = sign.strip() in ("(", "[") and closing.strip() in (")", "]")
        line = text[max(0, end - _WINDOW) : end + _WINDOW]
        is_attached = not sign and (is_closed or _SIGNED.search(line) is not None)
        is_apart = sign == " " and is_closed and closing.strip() != "/"
        is_attached = is_attached and (is_closed or bool(closing))
        return answer if in_brackets or is_attached or is_apart else None
    if word not in words:
        return None
    if len(word) == 1 and sign.strip() not in ("(", "[", ":", "=", "?"):
        return None
    return answer if "?" in sign or is_closed else None


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
