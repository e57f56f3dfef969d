"""JSON that users wrote or sent: read and written with the standard library alone.

JSON can spell half of a surrogate pair, as in "\\ud800". No file and no answer can hold it, and
JSON libraries in C may end the process at it, so it is refused wherever JSON comes in.
"""

import json
import re
from typing import Any

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(text: str) -> Any:
    """Read a JSON value.

    RAISES (ValueError): for what is no JSON, is nested too deeply, or has half of a surrogate pair
        in a string or a key; the message says where.
    """
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if _SURROGATE.search(text) and (place := _half_pair(value)) is not None:
        raise ValueError(f"half a surrogate pair in {place or 'the value'}")
    return value


def write_json(value: Any) -> str:
    """Write a value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False)


def _half_pair(value: Any) -> str | None:
    """Find the first string that cannot be encoded: its place, such as "texts.0"."""
    waiting = [("", value)]
    while waiting:
        place, inner = waiting.pop()
        if isinstance(inner, str):
            if not _is_encodable(inner):
                return place
        elif isinstance(inner, dict):
            if not all(map(_is_encodable, inner)):
                return f"a key of {place}" if place else "a key"
            waiting += [(f"{place}.{key}".lstrip("."), one) for key, one in inner.items()]
        elif isinstance(inner, list):
            waiting += [(f"{place}.{at}".lstrip("."), one) for at, one in enumerate(inner)]
    return None


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
