"""ICD-11: the WHO's tabulation (a table), and entities as its API gives them (JSON)."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeGuard

from ..kb.readers.fields import FieldError, cell, identifier, sound, surface
from ..kb.readers.rows import Row
from ..types import ISA, BadLines, Concept, Name, Relation
from .json_stream import JsonStream

_COLUMNS = ("code", "title", "classkind", "blockid", "chapterno")
_DASHES = re.compile(r"(?:-\s*)+")  # before a title, one for each level
_LANGUAGE = re.compile(r"-([a-z]{2})\.\w+(?:\.gz)?$")
_FURTHER = ("synonym", "inclusion", "indexTerm")
_Entity = dict[str, object]


def is_tabulation(header: Sequence[str]) -> bool:
    """Tell whether a table is the WHO's tabulation, by its first row."""
    return set(_COLUMNS[:3]) <= {cell.strip().lower() for cell in header}


def read_tabulation(
    path: Path, rows: Iterator[Row], bad_lines: BadLines, lang: str, source: str
) -> Iterator[Concept]:
    """Stream chapters, blocks and categories; dashes before a title say how deep it stands.

    What has no code has the number of its chapter or block as id.
    """
    _, first = next(rows)
    headers = [title.strip().lower() for title in first]
    places = {name: headers.index(name) for name in _COLUMNS if name in headers}
    match = _LANGUAGE.search(path.name)
    lang = lang or (match[1] if match else "en")
    above: list[str] = []

    def concept(cells: list[str]) -> Concept:
        if len(cells) != len(headers):
            raise FieldError(f"{len(cells)} columns", f"{len(headers)} columns as in line 1")
        row = {name: cell(cells[column]) for name, column in places.items()}
        dashes = _DASHES.match(row["title"])
        depth = dashes[0].count("-") if dashes else 0
        name = surface(row["title"][dashes.end() if dashes else 0 :], "title")
        given = row.get("chapterno" if row["classkind"] == "chapter" else "blockid", "")
        id = identifier(row["code"] or given, "code")
        above[depth:] = [id]
        names = (Name(name, lang, source, "PT"),)
        return _concept(id, names, row["classkind"], "", above[max(depth - 1, 0) : depth], source)

    return (record for _, record in sound(path, rows, concept, bad_lines))


def read_entities(path: Path, bad_lines: BadLines, lang: str, source: str) -> Iterator[Concept]:
    """Stream entities of the API, in a list, in an object, or one after the other.

    The id is the code; a block has its own, and an entity of the foundation the end of its address.
    Synonyms, inclusions and terms of the index are further names.
    """
    ids = {str(entity["@id"]): _id(entity) for _, entity in _entities(path)}

    def concept(entity: _Entity) -> Concept:
        titles = _names(entity.get("title"), lang, source, "PT")
        full = _names(entity.get("fullySpecifiedName"), lang, source, "FSN")
        further = [
            name
            for key in _FURTHER for item in _list(entity.get(key)) if isinstance(item, dict)
            for name in _names(item.get("label"), lang, source, "SY")
        ]  # fmt: skip
        if not titles:
            raise FieldError("an entity without a title", 'a "title" with "@value"')
        above = [ids[up] for up in map(str, _list(entity.get("parent"))) if up in ids]
        definition = _names(entity.get("definition"), lang, source, "")
        return _concept(
            identifier(_id(entity), "code"), (*titles, *full, *further),
            str(entity.get("classKind") or ""), definition[0].text if definition else "", above,
            source,
        )  # fmt: skip

    return (record for _, record in sound(path, _entities(path), concept, bad_lines))


def _concept(
    id: str,
    names: tuple[Name, ...],
    class_kind: str,
    definition: str,
    above: list[str],
    source: str,
) -> Concept:
    return Concept(
        id, names[0].text, names, (class_kind,) if class_kind else (), definition, {source: (id,)},
        tuple(above), tuple(Relation(ISA, up, source) for up in above),
    )  # fmt: skip


def _entities(path: Path) -> Iterator[tuple[int, _Entity]]:
    with JsonStream(path) as stream:
        while not stream.is_next(""):
            if stream.is_next("["):
                yield from (
                    (line, entity) for line in stream.elements() for entity in _in(stream.value())
                )
            else:
                line = stream.line
                yield from ((line, entity) for entity in _in(stream.value()))


def _in(value: object) -> Iterator[_Entity]:
    """Stream the entities that a value is or holds, at most in a list of an object."""
    held = value.values() if isinstance(value, dict) else ()
    inner = (
        inner_value for many in held for inner_value in (many if isinstance(many, list) else [many])
    )
    yield from filter(_is_entity, [value] if _is_entity(value) else inner)


def _is_entity(value: object) -> TypeGuard[_Entity]:
    return isinstance(value, dict) and "@id" in value and "title" in value


def _id(entity: _Entity) -> str:
    last_part = str(entity["@id"]).rstrip("/").rpartition("/")[2]
    return str(entity.get("code") or entity.get("blockId") or last_part)


def _names(labels: object, lang: str, source: str, tty: str) -> list[Name]:
    """List texts with their languages: {"@language": "en", "@value": "Cholera"}, or several."""
    return [
        Name(text, str(label.get("@language") or lang or "en"), source, tty)
        for label in _list(labels) if isinstance(label, dict)
        and isinstance(text := label.get("@value"), str) and (text := text.strip())
    ]  # fmt: skip


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [] if value is None else [value]
