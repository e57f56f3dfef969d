"""Answers and signs: "Fever: none", "Any fever? No.", "asthma (no)", "-fever", "cough (+)".

They stand directly beside a mention and speak of it alone, so that no cue is made of them.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_WINDOW = 64  # characters beside a mention
_LINE = 4 * _WINDOW  # of its line
_EMPTY, _FULL = r"(?:\[\s?\]|☐)", r"(?:\[[xX✓]\]|[☑☒✓✔✗✘])"
_MARK = r"(?:\+{1,3}|[-−–]{1,2}|[xX✓✔✗yYnN0]|\s?)"
_BRACKETS = rf"\({_MARK}\)|\[{_MARK}\]|\{{{_MARK}\}}|<{_MARK}>"
_SYMBOLS = "[☐☑☒✓✔✅⊕✗✘❌⊖Øø∅⌀]"
_BEHIND = (
    r"(?P<sign>\s*(?:\?+(?:\s*[-–—]+)?|[:=(\[/|]|\.{2,}|…|\s[-–—]|\s?[-–]>|\s?→|_{2,})?\s*)"
    r"(?:(?:A|pt|patient|he|she|mom|mother|dad|father|wife|husband)(?::|\s+(?:says|said))\s*)?"
    rf"(?P<box>(?:{_EMPTY}\s*[^\W\d_]+\s*)*{_FULL}\s*)?"
    r"(?P<word>(?:WORDS)(?![\w'’])|\+/-|±|0(?:/10)?(?!\w)"
    r"|[+\-−–✓✗✅❌⊕⊖]{1,3}(?:(?<!\s.)|(?!\s+[^\W\d_])))"
    r"(?P<end>\s*(?:[,.;:)\]!/|\n]|$)|\s{2,}|\t|\s|)"
)
_BEFORE = re.compile(
    rf"(?P<start>^|[\s,;/(])(?P<sign>{_BRACKETS}|{_SYMBOLS}|_+[xX]?_+|\+/-|±|[-−+](?:ve)?"
    r"|(?<![^,;(\n] )0|(?:neg|pos)\.)(?P<space>:?\s?)$",
    re.IGNORECASE,
)
_BOX = re.compile(rf"\s?(?P<sign>{_BRACKETS}|{_SYMBOLS})(?=[\s,;/.]|$)")
_SIGNED = re.compile(r"\w\+(?=\s|$)|(?<=\s)\+\w")  # a line where signs are answers
_LISTED = re.compile(r"(?:^|[,;])\s*\+\s?\w")  # a list where they are
_DASHED = re.compile(r"[,;]\s*[-−–]\s?\w")
# "Pallor - edema +": a sign before a word, in a line that ends with a sign.
_APART = re.compile(r" ([+\-−–]) [^\W\d_][^\n]*\s[+\-−–][ \t]*(?:\n|(?!.))", re.DOTALL)
_LEADING = re.compile(rf"{_BRACKETS}|{_SYMBOLS}")
_YES = frozenset("+ ++ +++ x y ✓ ✔ ☑ ☒ ✅ ⊕ +ve pos".split())
_MAYBE = frozenset(("+/-", "±"))
_OF_LISTS = frozenset("+-−–")  # in brackets before a list, they speak of all in it
_DASHES = frozenset("-−–")


_ASKED = re.compile(r"[^.;:?!|\n]+(?=\?)")  # the rest of a question


class Answer(NamedTuple):
    """What an answer says, "" for yes, "negated" or "uncertain", and the characters it takes up.

    is_of_list (bool): whether it speaks of the rest of a list, too: "(-) fever, cough".
    """

    kind: str
    start: int
    end: int
    is_of_list: bool = False


def answer_pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Make the pattern of an answer behind a mention; words (Iterable[str]): those that answer."""
    listed = sorted(map(re.escape, words), key=len, reverse=True)
    return re.compile(_BEHIND.replace("WORDS", "|".join(listed) or "(?!)"), re.IGNORECASE)


def answer_to(
    text: str, start: int, end: int, words: Mapping[str, bool], pattern: re.Pattern[str]
) -> Answer | None:
    """Find the answer beside a mention.

    start, end (int): characters of the mention. words (Mapping[str, bool]): answers, in lower case,
        and whether they are yes. pattern (Pattern): what `answer_pattern` makes of them.
    """
    first = _first_sign(text, start, end)
    if first:  # "(-) fever (-) cough": signs stand before their mentions
        return _before(text, start)
    answer = _behind(text, end, words, pattern) or _before(text, start)
    if answer is None and (asked := _ASKED.match(text, end, end + _WINDOW)):
        answer = _behind(text, asked.end(), words, pattern, is_closed_only=True)
    if answer is None and first is not None and (box := _BOX.match(text, end)):
        return Answer(_kind(box["sign"]), end, box.end())
    if answer is None and (sign := _APART.match(text, end, end + _LINE)):
        return Answer(_kind(sign[1]), end, sign.end(1))
    return answer


def _kind(sign: str) -> str:
    core = sign.strip("()[]{}<>_ .").lower()
    return "uncertain" if core in _MAYBE else "" if core in _YES else "negated"


def _first_sign(text: str, start: int, end: int) -> bool | None:
    """Tell whether signs of a line stand before their mentions; None without any."""
    begin = max(0, start - _LINE)
    before = text[begin:start].replace("):", ") ").replace("]:", "] ")
    begin += max(map(before.rfind, ("\n", ":", ".", ";"))) + 1
    sign = _LEADING.search(text, begin, end + 5)
    return None if sign is None else not text[begin : sign.start()].strip(" \t-*•")


def _behind(
    text: str,
    end: int,
    words: Mapping[str, bool],
    pattern: re.Pattern[str],
    is_closed_only: bool = False,
) -> Answer | None:
    answer = pattern.match(text, end, end + _WINDOW)
    # An answer may stand in the next line only behind a sign: "Any fever?", a line end, "No."
    if answer is None or answer["sign"].count("\n") > bool(answer["sign"].strip()):
        return None
    closing = answer["end"]
    is_closed = bool(closing.strip()) or len(closing) > 1 or closing in ("\n", "\t")
    is_closed = is_closed or answer.end() == len(text)
    if is_closed_only and not is_closed:
        return None
    word = answer["word"].lower()
    if word not in words:
        line = text[max(0, end - _WINDOW) : end + _WINDOW]
        is_answer, kind = _is_sign(answer, line, is_closed), _kind(word)
    else:
        is_answer, kind = _is_word(answer, is_closed), "" if words[word] else "negated"
    return Answer(kind, end, answer.end("word")) if is_answer else None


def _is_word(answer: re.Match[str], is_closed: bool) -> bool:
    """Tell whether a word behind a mention answers: a letter only in capitals, or behind a sign."""
    sign = answer["sign"]
    is_signed = bool(sign.strip()) and sign.strip() not in "/-–—"
    is_capital = bool(answer["end"].strip()) and answer["word"].isupper()
    if len(answer["word"]) == 1 and not (is_signed or is_capital):
        return False
    return "?" in sign or is_closed or bool(answer["box"])


def _is_sign(answer: re.Match[str], line: str, is_closed: bool) -> bool:
    """Tell whether a sign behind a mention answers, and is no dash, slash or sum."""
    sign, closing = answer["sign"].strip(), answer["end"]
    if sign in ("(", "[") and closing.strip() in (")", "]"):
        return True
    if not answer["sign"]:
        return is_closed or (_SIGNED.search(line) is not None and bool(closing))
    is_apart = answer["sign"] == " " and closing.strip() != "/"
    return is_closed and (is_apart or sign in (":", "="))


def _before(text: str, start: int) -> Answer | None:
    answer = _BEFORE.search(text, max(0, start - 8), start)
    if answer is None:
        return None
    sign, is_spaced = answer["sign"], bool(answer["space"])
    is_listed = is_spaced and _is_listed(text, start, answer.start("sign"))
    if sign in _DASHES and (is_spaced or _is_bullet(text, answer.start("sign"))) and not is_listed:
        return None
    if (
        sign == "+"
        and is_spaced
        and not answer["start"].strip()
        and answer.start()
        and not is_listed
    ):
        return None
    is_of_list = is_spaced and sign.strip("([<>])") in _OF_LISTS and len(sign) > 1
    return Answer(_kind(sign), answer.start("sign"), start, is_of_list)


def _is_listed(text: str, start: int, sign: int) -> bool:
    """Tell whether signs are answers in the list of a line: "- CP, - SOB, + edema".

    start (int): of a mention. sign (int): of the sign before it. A dash that begins the line may
    be a bullet, and is none before a list of dashes.
    """
    before = text[max(0, start - _LINE) : start].rpartition("\n")[2]
    behind = text[start : start + _LINE].partition("\n")[0]
    begins = not text[start - len(before) : sign].strip()
    is_signed = _LISTED.search(before) or _LISTED.search(behind)
    return bool(is_signed and not (begins and not _DASHED.search(behind)))


def _is_bullet(text: str, index: int) -> bool:
    """Tell whether a hyphen begins a line as that of a neighbouring line does."""
    line = text.rfind("\n", 0, index) + 1
    if text[line:index].strip():
        return False
    before = text[:line].rstrip("\n").rpartition("\n")[2].lstrip()
    after = text[index:].partition("\n")[2].partition("\n")[0].lstrip()
    return before[:1] in _DASHES or after[:1] in _DASHES
