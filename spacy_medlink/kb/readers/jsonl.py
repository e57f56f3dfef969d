"""JSON Lines, one concept a line, a superset of scispaCy's."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from ...types import ISA, BadLines, Concept, Name, Record, Relation, Retired
from .fields import FieldError, identifier, json_of, sound, storable, without_blank_names
from .lines import filled_lines

EXPECTED = (
    'an object with "concept_id" (a string), "canonical_name" (a string), and "aliases" or "names"'
)


def read(path: Path, bad_lines: BadLines = None) -> Iterator[Record]:
    """Stream the concepts of a `.jsonl` file, plain or `.gz`.

    A record is a retired id if its `replaced_by` is an id, or is "" and there are no names.
    RAISES (MedlinkError): E105 for a bad record, unless `bad_lines` collects it; if only a name is
        empty, the rest is kept.
    """
    return (record for _, record in numbered(path, bad_lines))


def numbered(path: Path, bad_lines: BadLines = None) -> Iterator[tuple[int, Record]]:
    """Stream the records of `read`, each with its line number."""
    records: Iterator[tuple[int, Record]]
    records = sound(path, filled_lines(path, bad_lines), _of_line, bad_lines, EXPECTED)
    return with_names(records, path, bad_lines)


def with_names(
    records: Iterable[tuple[int, Record]], path: Path, bad_lines: BadLines
) -> Iterator[tuple[int, Record]]:
    """Leave blank names out of numbered records, and report them."""
    for line, record in records:
        yield line, without_blank_names(record, path, line, EXPECTED, bad_lines)


def checked(data: object) -> Record:
    """Make a record of a decoded object. RAISES (FieldError): where it is none."""
    storable(data)
    return _record(data)


def _record(data: object) -> Record:
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
    codes = data.get("codes") or {}
    if not isinstance(codes, dict):
        raise _bad('"codes" is not an object')
    relations = tuple(_relations(data))
    above = (relation.id for relation in relations if relation.relation == ISA)
    return Concept(
        id=id,
        name=preferred,
        names=names,
        types=_strings(data, "types"),
        definition=_string(data, "definition"),
        codes={vocabulary: _strings(codes, vocabulary) for vocabulary in codes},
        parents=tuple(dict.fromkeys((*_strings(data, "parents"), *above))),
        relations=relations,
    )


def _of_line(line: str) -> Record:
    data = json_of(line, EXPECTED)
    return checked(data) if "\\u" in line else _record(data)


def _names(data: dict[str, object]) -> Iterator[Name]:
    for entry in _list(data, "names"):
        if isinstance(entry, str):
            yield Name(entry)
        elif isinstance(entry, dict) and isinstance(entry.get("name"), str):
            lang, source, tty = (_string(entry, field) for field in ("lang", "source", "tty"))
            yield Name(entry["name"], lang, source, tty, bool(entry.get("obsolete", False)))
        else:
            raise _bad('an entry of "names" is neither a string nor an object with "name"')


def _relations(data: dict[str, object]) -> Iterator[Relation]:
    for entry in _list(data, "relations"):
        if not isinstance(entry, dict):
            raise _bad('an entry of "relations" is not an object with "relation" and "id"')
        relation, id = (identifier(_string(entry, field), field) for field in ("relation", "id"))
        yield Relation(relation, id, _string(entry, "source"))


def _string(data: dict[str, object], field: str) -> str:
    value = data.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _bad(f'"{field}" is not a string')
    return value


def _list(data: dict[str, object], field: str) -> list[object]:
    value = data.get(field)
    if value is None:
        return []
    if not isinstance(value, list):
        raise _bad(f'"{field}" is not a list')
    return value


def _strings(data: dict[str, object], field: str) -> tuple[str, ...]:
    values = _list(data, field)
    texts = tuple(value for value in values if isinstance(value, str))
    if len(texts) < len(values):
        raise _bad(f'"{field}" holds something other than strings')
    return texts


def _bad(problem: str) -> FieldError:
    return FieldError(problem, EXPECTED)
