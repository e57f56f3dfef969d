"""JSON that users wrote or sent: read and written with the standard library alone.

JSON can spell half of a surrogate pair, as in "\\ud800". No file and no answer can hold it, and
JSON libraries in C may end the process at it, so it is refused wherever JSON comes in.
"""

import json
import re
from math import isfinite
from typing import Any

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class HalfPairError(ValueError):
    """Half of a surrogate pair. keys (Tuple[object, ...]): keys and numbers that lead to it."""

    def __init__(self, keys: tuple[object, ...], is_key: bool) -> None:
        self.place, self.is_key = keys, is_key
        super().__init__(self.said_at(self.place))

    def said_at(self, keys: tuple[object, ...]) -> str:
        """Say what is wrong, with another place."""
        at = f"{'a key of ' if self.is_key else ''}{'.'.join(map(str, keys)) or 'the value'}"
        return f"half a surrogate pair in {at}"


def read_json(text: str) -> Any:
    """Read a JSON value.

    RAISES (ValueError): for what is no JSON, is nested too deeply, or has half of a surrogate pair
        in a string or a key (HalfPairError); the message says where.
    """
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if has_surrogate(text):
        check_pairs(value)
    return value


def has_surrogate(text: str) -> bool:
    """Tell whether JSON spells a surrogate, half of a pair or not."""
    return _SURROGATE.search(text) is not None


def write_json(value: object) -> str:
    """Write a value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False)


def check_pairs(value: object) -> None:
    """Check a value for half of a surrogate pair, in keys too. RAISES (HalfPairError)."""
    waiting: list[tuple[tuple[object, ...], object]] = [((), value)]
    while waiting:
        keys, inner = waiting.pop()
        if isinstance(inner, str):
            if not is_encodable(inner):
                raise HalfPairError(keys, is_key=False)
        elif isinstance(inner, dict):
            if not all(map(is_encodable, inner)):
                raise HalfPairError(keys, is_key=True)
            waiting += [((*keys, key), value_within) for key, value_within in inner.items()]
        elif isinstance(inner, list):
            waiting += [((*keys, at), value_within) for at, value_within in enumerate(inner)]


def is_encodable(text: str) -> bool:
    """Tell whether a text is free of half a surrogate pair, and can be stored."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_storable(value: object) -> bool:
    """Tell whether a value has whole characters, finite numbers and integers of 64 bits at most."""
    if isinstance(value, dict):
        return is_storable([*value, *value.values()])
    if isinstance(value, list):
        return all(map(is_storable, value))
    if isinstance(value, str):
        return is_encodable(value)
    if isinstance(value, float):
        return isfinite(value)
    return not isinstance(value, int) or -(1 << 63) <= value < 1 << 63
