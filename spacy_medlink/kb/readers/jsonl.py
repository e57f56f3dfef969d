"""JSON Lines: one concept a line, a superset of the format of scispaCy's knowledge bases."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...types import ISA, BadLines, Concept, Name, Record, Relation, Retired
from ...util.json_text import read_json
from .fields import FieldError, identifier, storable, without_blank_names
from .lines import numbered_lines, report

EXPECTED = (
    'an object with "concept_id" (a string), "canonical_name" (a string), and "aliases" or "names"'
)


def read(path: Path, bad_lines: BadLines = None) -> Iterator[Record]:
    """Stream the concepts of a `.jsonl` or `.jsonl.gz` file.

    A line is a retired id if its `replaced_by` is an id, or is "" and the line has no names.
    RAISES (MedlinkError): E105 for a bad line, unless `bad_lines` collects it; if only a name is
        empty, the rest of the line is kept.
    """
    return (record for _, record in numbered(path, bad_lines))


def numbered(path: Path, bad_lines: BadLines = None) -> Iterator[tuple[int, Record]]:
    """Stream the records of `read`, each with its line number."""
    for number, line in numbered_lines(path, bad_lines):
        if not line.strip():
            continue
        try:
            record = record_of(_decode(line))
        except FieldError as error:
            report(path, number, error.problem, EXPECTED, bad_lines)
            continue
        yield number, without_blank_names(record, path, number, EXPECTED, bad_lines)


def record_of(data: Any) -> Record:
    """Make the record of one decoded object.

    RAISES (FieldError): when the object is no valid record.
    """
    if not isinstance(data, dict):
        raise _bad("not an object")
    id = identifier(_string(data, "concept_id"), '"concept_id"')
    aliases = _strings(data, "aliases")
    names = (*_names(data), *map(Name, aliases))
    spelled = (name.text for name in names if name.text.strip())
    preferred = _string(data, "canonical_name") or next(spelled, "")
    successor = _string(data, "replaced_by")  # exports write null for concepts in use
    if successor:
        return Retired(id, identifier(successor, '"replaced_by"'), "replaced")
    if data.get("replaced_by") == "" and not preferred:
        return Retired(id, "", "obsolete")
    if not preferred.strip():
        raise _bad('neither "canonical_name" nor any name')
    relations = tuple(_relations(data))
    above = (one.id for one in relations if one.relation == ISA)
    return Concept(
        id=id,
        name=preferred,
        names=names,
        types=_strings(data, "types"),
        definition=_string(data, "definition"),
        codes=_codes(data),
        parents=tuple(dict.fromkeys((*_strings(data, "parents"), *above))),
        relations=relations,
    )


def _decode(line: str) -> Any:
    try:
        data = read_json(line)
    # A number of more than 4,300 digits also raises a ValueError.
    except ValueError as error:
        raise FieldError(f"not JSON ({error})", EXPECTED) from error
    if "\\u" in line:
        storable(data)
    return data


def _names(data: dict[str, Any]) -> Iterator[Name]:
    for entry in _list(data, "names"):
        if isinstance(entry, str):
            yield Name(entry)
        elif isinstance(entry, dict) and isinstance(entry.get("name"), str):
            lang, source, tty = (_string(entry, field) for field in ("lang", "source", "tty"))
            yield Name(entry["name"], lang, source, tty, bool(entry.get("obsolete", False)))
        else:
            raise _bad('an entry of "names" is neither a string nor an object with "name"')


def _relations(data: dict[str, Any]) -> Iterator[Relation]:
    for entry in _list(data, "relations"):
        if not isinstance(entry, dict):
            raise _bad('an entry of "relations" is not an object with "relation" and "id"')
        relation, id = (identifier(_string(entry, field), field) for field in ("relation", "id"))
        yield Relation(relation, id, _string(entry, "source"))


def _codes(data: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    codes = data.get("codes") or {}
    if not isinstance(codes, dict):
        raise _bad('"codes" is not an object')
    return {vocabulary: _strings(codes, vocabulary) for vocabulary in codes}


def _string(data: dict[str, Any], field: str) -> str:
    value = data.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _bad(f'"{field}" is not a string')
    return value


def _list(data: dict[str, Any], field: str) -> list[Any]:
    value = data.get(field)
    if value is None:
        return []
    if not isinstance(value, list):
        raise _bad(f'"{field}" is not a list')
    return value


def _strings(data: dict[str, Any], field: str) -> tuple[str, ...]:
    values = _list(data, field)
    if not all(isinstance(value, str) for value in values):
        raise _bad(f'"{field}" holds something other than strings')
    return tuple(values)


def _bad(problem: str) -> FieldError:
    return FieldError(problem, EXPECTED)
