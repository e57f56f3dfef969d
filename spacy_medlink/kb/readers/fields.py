"""Checks of ids and names, for the readers of all formats."""

from dataclasses import replace
from typing import Any

from ...types import Concept


class FieldError(Exception):
    """The problem of a line, and what was expected instead."""

    def __init__(self, problem: str, expected: str) -> None:
        super().__init__(problem, expected)
        self.problem = problem
        self.expected = expected


def identifier(text: str, what: str = "id") -> str:
    """Check an id, and strip the white space around it.

    People compare, type and paste ids, so an id must not hold invisible characters.
    RAISES (FieldError): when it is empty, or holds a control or invisible character.
    """
    text = text.strip()
    if not text:
        raise FieldError(f"an empty {what}", f"an {what}")
    if not text.isprintable():
        raise FieldError(
            f"a control or invisible character in the {what} {text[:60]!a}", "printable characters"
        )
    return text


def surface(text: str, what: str = "name") -> str:
    """Check that a name is not blank; the builder normalises its inner white space.

    RAISES (FieldError): when it is empty.
    """
    text = text.strip()
    if not text:
        raise FieldError(f"an empty {what}", f"a {what}")
    return text


def has_blank_names(concept: Concept) -> bool:
    """Tell whether some name of a concept is blank."""
    return not all(name.text and not name.text.isspace() for name in concept.names)


def without_blank_names(concept: Concept) -> Concept:
    """Remove the blank names, so that the rest of the concept is kept."""
    return replace(concept, names=tuple(name for name in concept.names if name.text.strip()))


def storable(value: Any) -> None:
    """Check the strings of decoded JSON, whose escapes can make characters that are not allowed.

    RAISES (FieldError): for half of a surrogate pair, and for NUL.
    """
    if isinstance(value, str):
        if "\0" in value or not (value.isascii() or value.isprintable() or _encodes(value)):
            raise FieldError(f"NUL or half a surrogate pair in {value[:60]!a}", "Unicode text")
    elif isinstance(value, dict):
        for key, inner in value.items():
            storable(key)
            storable(inner)
    elif isinstance(value, list):
        for inner in value:
            storable(inner)


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
