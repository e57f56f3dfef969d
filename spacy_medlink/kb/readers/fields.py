"""What every reader asks of ids and names, whatever format they come in."""

from dataclasses import replace
from typing import Any

from ...types import Concept


class FieldError(Exception):
    """What is wrong with a line, and what was expected instead."""

    def __init__(self, problem: str, expected: str) -> None:
        super().__init__(problem, expected)
        self.problem = problem
        self.expected = expected


def identifier(text: str, what: str = "id") -> str:
    """Check an id, and take the white space around it off.

    Ids are compared, typed and pasted by people: what cannot be seen has no place in them.
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
    """Check that a name holds something; its inner white space is the builder's business.

    RAISES (FieldError): when it is empty.
    """
    text = text.strip()
    if not text:
        raise FieldError(f"an empty {what}", f"a {what}")
    return text


def has_blank_names(concept: Concept) -> bool:
    """Tell whether some name of a concept holds nothing."""
    return not all(name.text and not name.text.isspace() for name in concept.names)


def without_blank_names(concept: Concept) -> Concept:
    """Take out the names that hold nothing: no reason to lose the rest of the concept."""
    return replace(concept, names=tuple(name for name in concept.names if name.text.strip()))


def storable(value: Any) -> None:
    """Check the strings of decoded JSON: its escapes can spell what no text file can hold.

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
