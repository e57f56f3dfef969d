"""Gold mentions as the knowledge base needs them: what is said, and which ids it may mean."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import Errors
from ..types import BadLine
from .readers.fields import FieldError, storable
from .readers.lines import numbered_lines

_EXPECTED = (
    'a document {"text", "mentions": [{"start", "end", "mention", "ids"}]}, or a mention'
    ' {"mention", "ids"}'
)


class GoldMention(NamedTuple):
    """A mention and its acceptable ids; none means that it is in no terminology (NIL)."""

    line: int
    text: str
    ids: tuple[str, ...]


def read_gold(path: Path) -> Iterator[GoldMention]:
    """Stream the mentions of a JSON Lines file of documents or bare mentions.

    RAISES (MedlinkError): E107 without the file, E166 at the first bad line.
    """
    if not path.exists():
        raise Errors.source_missing(path=path)
    bad: list[BadLine] = []
    for number, line in numbered_lines(path, bad):
        if bad:
            break
        if not line.strip():
            continue
        try:
            yield from _mentions(number, line)
        except FieldError as error:
            raise Errors.bad_gold(
                path=path, line=number, problem=error.problem, expected=_EXPECTED
            ) from error
    for first in bad[:1]:
        raise Errors.bad_gold(path=path, line=first.line, problem=first.problem, expected="text")


def _mentions(number: int, line: str) -> Iterator[GoldMention]:
    data = _object(_decode(line))
    if "mentions" not in data:
        yield _mention(number, data, "")
        return
    text = data.get("text") or ""
    if not isinstance(data["mentions"], list) or not isinstance(text, str):
        raise FieldError('"mentions" is not a list, or "text" is no text', _EXPECTED)
    for mention in data["mentions"]:
        yield _mention(number, _object(mention), text)


def _mention(number: int, data: dict[str, Any], text: str) -> GoldMention:
    ids = data.get("ids")
    if not isinstance(ids, list) or not all(isinstance(id, str) for id in ids):
        raise FieldError('"ids" is not a list of strings', _EXPECTED)
    said = data.get("mention")
    if said is None:
        start, end = data.get("start"), data.get("end")
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(text)):
            raise FieldError(f'no "mention", and offsets {start!r:.20}, {end!r:.20}', _EXPECTED)
        said = text[start:end]
    if not isinstance(said, str):
        raise FieldError('"mention" is not a string', _EXPECTED)
    return GoldMention(number, said, tuple(ids))


def _object(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise FieldError("not an object", _EXPECTED)
    return data


def _decode(line: str) -> Any:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FieldError(f"not JSON ({error})", _EXPECTED) from error
    storable(data)
    return data
