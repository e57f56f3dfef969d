"""JSON and printed dictionaries as lines: `"asthma": false` is "asthma:-".

A region is read as far as it is JSON, so that a broken export is text from there on.
"""

import re
from typing import NamedTuple

from .marks import FILL, sign_of

_START = re.compile(r"[{\[](?=\s*(?:[{\[]\s*)*[\"'])")
_TOKEN = re.compile(
    r"\s+|[{}\[\],:]|(?P<text>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'(?=\s*[:,}\]]))"
    r"|(?P<word>true|false|null|True|False|None|[+-]?\d[\d.eE+-]*)(?!\w)"
)
_PAIR = re.compile(r"[\"']\s*:")
_ESCAPE = re.compile(r"\\[nrt\"'/\\]")
_NAMES = frozenset(
    "condition name symptom diagnosis problem finding label term text display question item "
    "concept title disease".split()
)
_ANSWERS = frozenset(
    "present value answer status active result response checked selected confirmed".split()
)
_DENIALS = frozenset(
    "negated absent negative negatives denied denies excluded ruled_out pertinent_negatives".split()
)
_UNKNOWN = frozenset("null none None".split())


class _Level(NamedTuple):
    """An object or an array: whether its items are denied, and where the name of a record ends."""

    sign: str
    is_denied: bool
    named: list[int]


def json_lines(text: str) -> str:
    """Write the JSON in a text as lines, each character at its place."""
    if not _PAIR.search(text):
        return text
    out, position = list[str](), 0
    while start := _START.search(text, position):
        region = _Region(text, start.start())
        out += [text[position : start.start()], region.read()]
        position = region.end
    return "".join([*out, text[position:]])


class _Region:
    """A run of tokens of JSON."""

    def __init__(self, text: str, start: int) -> None:
        self._text, self._start, self.end = text, start, start + 1
        self._levels: list[_Level] = []
        self._key: tuple[int, int] | None = None  # a text that may be a key, or is one
        self._is_value = False
        self._signs: list[tuple[int, str]] = []  # characters to be written, and what

    def read(self) -> str:
        """Read until what is no JSON, or until all brackets are closed."""
        position = self._start
        while token := _TOKEN.match(self._text, position):
            if token["text"]:
                self._string(*token.span())
            elif token["word"]:
                self._scalar(token[0], *token.span())
            elif not token[0].isspace():
                self._sign(token[0], token.start())
            position = token.end()
            if not self._levels:
                break
        self.end = max(position, self._start + 1)
        plain = _ESCAPE.sub(
            lambda it: " \n" if it[0] == "\\n" else "  ", self._text[self._start : self.end]
        )
        out = list(plain)
        for place, sign in self._signs:
            out[place - self._start : place - self._start + len(sign)] = sign
        return "".join(out)

    def _sign(self, sign: str, place: int) -> None:
        if sign in "{[":
            name = self._name()
            is_denied = self._is_value and name in _DENIALS
            self._levels.append(_Level(sign, is_denied, []))
            self._write(place, "\n" if self._is_value else FILL)
        elif sign in "}]":
            was_denied = bool(self._levels) and self._levels.pop().is_denied
            self._write(place, "" if was_denied else "\n")
        elif sign == "," and not (self._levels and self._levels[-1].is_denied):
            self._write(place, "\n")
        self._is_value = sign == ":" and self._key is not None
        if sign == ":" and self._key is not None:
            self._read_key(place)
        elif sign != ":":
            self._key = None

    def _name(self) -> str:
        if self._key is None:
            return ""
        return self._text[self._key[0] + 1 : self._key[1] - 1].lower().replace(" ", "_")

    def _read_key(self, colon: int) -> None:
        assert self._key is not None
        start, end = self._key
        level = self._levels[-1] if self._levels else None
        is_answer = self._name() in _ANSWERS | _DENIALS and level is not None and level.named
        if (level is not None and self._name() in _NAMES) or is_answer:
            self._write(start, FILL * (colon + 1 - start))
            return
        self._write(start, FILL)
        self._write(end - 1, FILL)
        for place in range(start, end):
            if self._text[place] == "_":
                self._write(place, " ")

    def _string(self, start: int, end: int) -> None:
        if not self._is_value and self._levels and self._levels[-1].sign == "{":
            self._key = (start, end)
            return
        value = self._text[start + 1 : end - 1]
        self._write(start, FILL)
        self._write(end - 1, FILL)
        level = self._levels[-1] if self._levels else None
        if level and level.sign == "[" and level.is_denied:
            self._write(start, "\n")
            self._write(end - 1, ":-")
        elif self._is_value and level:
            if self._name() in _NAMES:
                level.named.append(end - 1)
            elif sign := sign_of(value):
                self._answer(sign, value, start, end)
            else:
                self._write(end - 1, "\n")

    def _scalar(self, word: str, start: int, end: int) -> None:
        sign = "±" if word in _UNKNOWN else sign_of(word)
        if self._is_value and sign:
            self._answer(sign, word, start, end)

    def _answer(self, sign: str, value: str, start: int, end: int) -> None:
        """Write an answer behind what it answers: the key, or the name in the same object."""
        assert self._key is not None
        level, name = self._levels[-1], self._name()
        if name in _DENIALS and level.named:
            sign = {"+": "-", "-": "+"}.get(sign, sign)
        if name in _ANSWERS | _DENIALS:
            if level.named:
                place = level.named.pop()
                self._write(place, ":" + sign)
                self._write(start, FILL * (end - start))
            return
        self._write(self._key[1] - 1, ":" + sign + FILL * (end - self._key[1] - 1))

    def _write(self, place: int, sign: str) -> None:
        self._signs.append((place, sign))
