"""JSON Lines: one concept a line, a superset of the format of scispaCy's knowledge bases."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...types import BadLine, Concept, Name, Record, Retired
from .lines import numbered_lines, report

_EXPECTED = (
    'an object with "concept_id" (a string), "canonical_name" (a string), and "aliases" or "names"'
)


class _BadRecord(Exception):
    """What is wrong with a line."""


def read(path: Path, bad_lines: list[BadLine] | None = None) -> Iterator[Record]:
    """Stream the concepts of a `.jsonl` or `.jsonl.gz` file.

    A line with `replaced_by` (an id, or "" for none) and without names tells of a retired id.
    RAISES (MedlinkError): E105 for a bad line, unless `bad_lines` collects them.
    """
    for number, line in numbered_lines(path, bad_lines):
        if not line.strip():
            continue
        try:
            yield _record(json.loads(line))
        except (_BadRecord, json.JSONDecodeError, RecursionError) as error:
            problem = str(error) if isinstance(error, _BadRecord) else f"not JSON ({error})"
            report(path, number, problem, _EXPECTED, bad_lines)


def _record(data: Any) -> Record:
    if not isinstance(data, dict):
        raise _BadRecord("not an object")
    id = _string(data, "concept_id")
    if not id:
        raise _BadRecord('"concept_id" is missing or empty')
    names = (*_names(data), *(Name(alias) for alias in _strings(data, "aliases")))
    preferred = _string(data, "canonical_name") or (names[0].text if names else "")
    if "replaced_by" in data and not names:
        return Retired(id, _string(data, "replaced_by"), "replaced")
    if not preferred.strip():
        raise _BadRecord('neither "canonical_name" nor any name')
    return Concept(
        id=id,
        name=preferred,
        names=names,
        types=_strings(data, "types"),
        definition=_string(data, "definition"),
        codes=_codes(data),
        parents=_strings(data, "parents"),
    )


def _names(data: dict[str, Any]) -> Iterator[Name]:
    for entry in _list(data, "names"):
        if isinstance(entry, str):
            yield Name(entry)
        elif isinstance(entry, dict) and isinstance(entry.get("name"), str):
            lang, source, tty = (_string(entry, field) for field in ("lang", "source", "tty"))
            yield Name(entry["name"], lang, source, tty, bool(entry.get("obsolete", False)))
        else:
            raise _BadRecord('an entry of "names" is neither a string nor an object with "name"')


def _codes(data: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    codes = data.get("codes") or {}
    if not isinstance(codes, dict):
        raise _BadRecord('"codes" is not an object')
    return {vocabulary: _strings(codes, vocabulary) for vocabulary in codes}


def _string(data: dict[str, Any], field: str) -> str:
    value = data.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _BadRecord(f'"{field}" is not a string')
    return value


def _list(data: dict[str, Any], field: str) -> list[Any]:
    value = data.get(field)
    if value is None:
        return []
    if not isinstance(value, list):
        raise _BadRecord(f'"{field}" is not a list')
    return value


def _strings(data: dict[str, Any], field: str) -> tuple[str, ...]:
    values = _list(data, field)
    if not all(isinstance(value, str) for value in values):
        raise _BadRecord(f'"{field}" holds something other than strings')
    return tuple(values)
