"""A pull parser, with line numbers, for JSON documents that are too large for memory."""

import json
import re
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path

from ..errors import Errors
from ..kb.readers.lines import DAMAGED, open_source

_CHUNK = 1 << 20
_LONGEST = 1 << 26  # characters of one value
_DEEPEST = 100  # levels of nested lists whose values are skipped one by one
_BLANKS = re.compile(r"[ \t\r\n]+")
_DECODE = json.JSONDecoder().raw_decode


class JsonStream:
    """Walks a JSON file from its start to its end.

    The caller iterates over objects with `items` and over lists with `elements`. Each value that
    these announce must be consumed: with `value`, with `skip`, or by iterating over it.

    path (Path): UTF-8, plain or `.gz`. file (Optional[BufferedIOBase]): the opened file, if it is
        no file of its own, and the path is only for messages.
    RAISES (MedlinkError): E105, from any method, where the file is not JSON. The rest cannot be
        read, so this error cannot be skipped.
    """

    def __init__(self, path: Path, file: BufferedIOBase | None = None) -> None:
        self.path = path
        self.line = 1
        self._text = ""
        self._at = 0
        self._carry = b""
        self._started = self._ended = False
        self._file = file or open_source(path)

    def __enter__(self) -> "JsonStream":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def items(self) -> Iterator[str]:
        """Iterate over an object: yield each key; its value is next."""
        for _ in self._members("{", "}"):
            key = self.value()
            if not isinstance(key, str):
                raise self.error(f"the key {key!r:.60}", "a string as key")
            self._take(":")
            yield key

    def elements(self) -> Iterator[int]:
        """Iterate over a list: yield the line where each element begins; the element is next."""
        for _ in self._members("[", "]"):
            self._peek()
            yield self.line

    def value(self) -> object:
        """Decode the next value."""
        self._peek()
        ask = _CHUNK
        while True:
            try:
                value, end = _DECODE(self._text, self._at)
            except json.JSONDecodeError as error:
                cut_off = error.msg.startswith("Unterminated") or error.pos > len(self._text) - 16
                if self._ended or not cut_off or len(self._text) - self._at > _LONGEST:
                    raise self.error(f"not JSON ({error.msg})", "JSON") from error
            except (ValueError, RecursionError) as error:
                raise self.error(f"not JSON ({error})", "JSON") from error
            else:
                # A number at the end of what was read may have more digits.
                if end < len(self._text) or self._ended:
                    self._pass(end)
                    return value
            self._more(ask)
            ask *= 2

    def skip(self, depth: int = 0) -> None:
        """Skip the next value, without ever holding a whole large list.

        depth (int): the number of lists around it that are being skipped.
        """
        if self._peek() == "[" and depth < _DEEPEST:
            for _ in self.elements():
                self.skip(depth + 1)
        else:
            self.value()

    def is_next(self, start: str) -> bool:
        """Tell whether the next value begins with a character, such as "["."""
        return self._peek() == start

    def finish(self) -> None:
        """Check that nothing follows."""
        if self._peek():
            raise self.error("text after the end of the JSON value", "one JSON value")

    def error(self, problem: str, expected: str) -> Exception:
        """Make the error E105 for the current place."""
        return Errors.bad_line(path=self.path, line=self.line, problem=problem, expected=expected)

    def _members(self, opening: str, closing: str) -> Iterator[None]:
        self._take(opening)
        if self._peek() == closing:
            self._at += 1
            return
        while True:
            yield
            if self._peek() == closing:
                self._at += 1
                return
            self._take(",")

    def _take(self, character: str) -> None:
        next_character = self._peek()
        if next_character != character:
            what = repr(next_character) if next_character else "the end of the file"
            raise self.error(what, f"{character!r} as in JSON")
        self._at += 1

    def _peek(self) -> str:
        """Skip blanks and return the next character, "" at the end."""
        while True:
            blanks = _BLANKS.match(self._text, self._at)
            self._pass(blanks.end() if blanks else self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._more(_CHUNK)

    def _pass(self, end: int) -> None:
        self.line += self._text.count("\n", self._at, end)
        self._at = end

    def _more(self, size: int) -> None:
        try:
            raw = self._carry + self._file.read(size)
        except DAMAGED as error:
            raise self.error(f"damaged gzip data ({error})", "a complete gzip file") from error
        self._ended = len(raw) == len(self._carry)
        text = ""
        try:
            text = raw.decode()
            self._carry = b""
        except UnicodeDecodeError as error:
            # A character may be cut in two where the read ended, but at most its last 3 bytes.
            if self._ended or error.start < len(raw) - 3:
                self._pass(len(self._text))
                self.line += raw.count(b"\n", 0, error.start)
                raise self.error(f"not UTF-8 at byte 0x{raw[error.start]:02x}", "UTF-8") from error
            text, self._carry = raw[: error.start].decode(), raw[error.start :]
        if not self._started and text:
            self._started, text = True, text.removeprefix("\ufeff")
        self._text = self._text[self._at :] + text
        self._at = 0
