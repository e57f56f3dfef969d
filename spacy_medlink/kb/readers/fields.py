"""Checks of ids and names, for the readers of all formats, and of what spreadsheets write."""

import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from ...types import BadLines, Record, Retired
from ...util.json_text import is_encodable, read_json
from .lines import report

# What programs and people write into a cell that has no value. "NA" may be a name: of sodium.
_NO_VALUE = frozenset(
    "nan null none <na> n/a n.a. - -- . ? \\n #n/a #na #null! #ref! #value! #name? #div/0! #num!"
    "".split()
)
_FORMULA = re.compile(r'="([^"]*)"|\'(\d.*)')
# Numbers as programs write them: 1E+05, 3.86E8, 386661006.0 (no code of ICD has four digits before
# its dot), 386,661,006.
_REWRITTEN = re.compile(r"\d(?:[.,]\d+)?[eE]\+\d+|\d[.,]\d+[eE]\d+|\d{4,}[.,]0+|\d{1,3}(?:,\d{3})+")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,30});")
_INLINE = r"i|b|u|em|strong|sub|sup|span|font|small|a"
_TAG = re.compile(rf"</?(?:(?P<inline>{_INLINE})|br|p|div|li|ul)(?:\s+\w+=[^<>]*)?\s*/?>", re.I)


Read = TypeVar("Read")
Raw = TypeVar("Raw")


class FieldError(Exception):
    """The problem of a line, and what was expected instead."""

    def __init__(self, problem: str, expected: str) -> None:
        super().__init__(problem, expected)
        self.problem = problem
        self.expected = expected


def sound(
    path: Path,
    rows: Iterable[tuple[int, Raw]],
    read: Callable[[Raw], Read | None],
    bad_lines: BadLines,
    expected: str = "",
) -> Iterator[tuple[int, Read]]:
    """Read numbered rows one by one; those with a FieldError are reported.

    read (Callable): returns None for a row to pass over. expected (str): if all rows are of one
        form, which is what the report says.
    """
    for line, row in rows:
        try:
            record = read(row)
        except FieldError as error:
            report(path, line, error.problem, expected or error.expected, bad_lines)
        else:
            if record is not None:
                yield line, record


def identifier(text: str, what: str = "id") -> str:
    """Check an id, and strip the white space around it.

    People compare, type and paste ids, so an id must not hold invisible characters.
    RAISES (FieldError): when it is empty, or holds a control or invisible character.
    """
    text = text.strip()
    if not text:
        raise FieldError(f"an empty {what}", f"an {what}")
    if text[0].isdigit() and not text.isdigit() and _REWRITTEN.fullmatch(text):
        problem = f"the {what} {text!r}, a number that a spreadsheet has rewritten"
        raise FieldError(problem, "its digits, as text")
    if not text.isprintable():
        raise FieldError(
            f"a control or invisible character in the {what} {text[:60]!a}", "printable characters"
        )
    return text


def cell(text: str, *, is_name: bool = False) -> str:
    """Read a cell: "" for the marks of a missing value, `="00456"` and `'00456` as 00456.

    is_name (bool): whether it is a name or names, which "NA" may be; entities and tags of HTML are
        decoded.
    """
    text = text.strip()
    if text[:1] in ("=", "'") and (match := _FORMULA.fullmatch(text)):
        text = (match[1] or match[2] or "").strip()
    if text.casefold() in _NO_VALUE or (text == "NA" and not is_name):
        return ""
    return decoded(text) if is_name else text


def decoded(text: str) -> str:
    """Decode the entities, and remove the tags, that stand in text from web pages."""
    if "&" in text:
        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    return _TAG.sub(lambda tag: "" if tag["inline"] else " ", text) if "<" in text else text


def surface(text: str, what: str = "name") -> str:
    """Check that a name is not blank; the builder normalises its inner white space.

    RAISES (FieldError): when it is empty.
    """
    text = text.strip()
    if not text:
        raise FieldError(f"an empty {what}", f"a {what}")
    return text


def without_blank_names(
    record: Record, path: Path, line: int, expected: str, bad_lines: BadLines
) -> Record:
    """Remove blank names, so that the rest of a concept is kept, and report them."""
    if isinstance(record, Retired) or all(
        name.text and not name.text.isspace() for name in record.names
    ):
        return record
    report(path, line, "an empty name", expected, bad_lines)
    return replace(record, names=tuple(name for name in record.names if name.text.strip()))


def json_of(line: str, expected: str) -> object:
    """Decode a line of JSON. RAISES (FieldError): where it is none; expected (str): says the error.

    Half of a surrogate pair is none, and neither is a number of more than 4,300 digits.
    """
    try:
        data: object = read_json(line)
    except ValueError as error:
        raise FieldError(f"not JSON ({error})", expected) from error
    return data


def storable(value: object) -> None:
    """Check the strings of decoded JSON, whose escapes can make characters that are not allowed.

    RAISES (FieldError): for half of a surrogate pair, and for NUL.
    """
    if isinstance(value, str):
        if "\0" in value or not (value.isascii() or value.isprintable() or is_encodable(value)):
            raise FieldError(f"NUL or half a surrogate pair in {value[:60]!a}", "Unicode text")
    elif isinstance(value, dict):
        for key, inner in value.items():
            storable(key)
            storable(inner)
    elif isinstance(value, list):
        for inner in value:
            storable(inner)
