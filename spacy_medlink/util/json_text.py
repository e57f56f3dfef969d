"""JSON that users wrote or sent: read and written with the standard library alone.

JSON can spell half of a surrogate pair, as in "\\ud800". No file and no answer can hold it, and
JSON libraries in C may end the process at it, so it is refused wherever JSON comes in.
"""

import json
import re
from typing import Any

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class HalfPairError(ValueError):
    """Half of a surrogate pair. place (Tuple[object, ...]): keys and numbers that lead to it."""

    def __init__(self, place: tuple[object, ...], is_key: bool) -> None:
        self.place, self.is_key = place, is_key
        super().__init__(self.said_at(self.place))

    def said_at(self, place: tuple[object, ...]) -> str:
        """Say what is wrong, with another place."""
        at = f"{'a key of ' if self.is_key else ''}{'.'.join(map(str, place)) or 'the value'}"
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


def write_json(value: Any) -> str:
    """Write a value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False)


def check_pairs(value: Any) -> None:
    """Check a value for half of a surrogate pair, in keys too. RAISES (HalfPairError)."""
    waiting: list[tuple[tuple[object, ...], Any]] = [((), value)]
    while waiting:
        place, inner = waiting.pop()
        if isinstance(inner, str):
            if not _is_encodable(inner):
                raise HalfPairError(place, is_key=False)
        elif isinstance(inner, dict):
            if not all(map(_is_encodable, inner)):
                raise HalfPairError(place, is_key=True)
            waiting += [((*place, key), one) for key, one in inner.items()]
        elif isinstance(inner, list):
            waiting += [((*place, at), one) for at, one in enumerate(inner)]


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
