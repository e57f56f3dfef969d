"""OBO graphs: the JSON format into which ROBOT and the OBO Foundry convert OWL ontologies."""

import sqlite3
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from ...types import ISA, BadLine, Concept, Name, Record, Relation, Retired
from ..scratch import scratch
from .fields import FieldError, has_blank_names, identifier, storable, surface, without_blank_names
from .json_stream import JsonStream
from .lines import report
from .xrefs import codes_of, compact, maps_of, relation_of_match, skos_match, source_of

_TABLES = """
CREATE TABLE edge (child TEXT, relation TEXT, parent TEXT, line INTEGER);
CREATE TABLE node (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE property (id TEXT PRIMARY KEY, label TEXT) WITHOUT ROWID;
"""
_INDEX = "CREATE INDEX edge_child ON edge (child)"
_RELATED = (
    "SELECT DISTINCT coalesce(label, relation), parent FROM edge LEFT JOIN property"
    " ON property.id = relation WHERE child = ? ORDER BY line, parent"
)
_IS_A = frozenset({"is_a", "http://www.w3.org/2000/01/rdf-schema#subClassOf"})
# Properties of nodes without a key of their own, by the last part of the property's IRI.
_REPLACED_BY = frozenset({"IAO_0100001", "term_replaced_by"})
_OTHER_ID = "hasAlternativeId"
_NAMESPACE = "hasOBONamespace"


def read(path: Path, bad_lines: list[BadLine] | None = None) -> Iterator[Record]:
    """Stream the live classes of an OBO graph file as concepts, other ids as retired.

    The file is read twice, first for the hierarchy, and is never in memory as a whole. Ids are
    shortened to their usual form ("HP:0001250"). Synonyms have their scope and type as term type,
    as in OBO files. Properties, individuals, and classes that are only referred to are no concepts.
    Edges become relations with the label of their property, with underscores as in OBO ("part_of").
    The source of names and relations is the ontology's id, in capitals ("HP").
    RAISES (MedlinkError): E105 for a bad node or edge, unless `bad_lines` collects it; always E105
        where the file is not JSON.
    """
    with scratch(_TABLES) as db:
        _load_hierarchy(db, path, bad_lines)
        id = _first(path, "id")
        ontology = id if isinstance(id, str) else ""
        for _, line, node in _elements(path, ("nodes",)):
            try:
                records = _records(node, ontology, path, db)
            except FieldError as error:
                report(path, line, error.problem, error.expected, bad_lines)
                continue
            for record in records:
                if isinstance(record, Concept) and has_blank_names(record):
                    report(path, line, "an empty synonym", "a synonym", bad_lines)
                    record = without_blank_names(record)
                yield record


def release_of(path: Path) -> str:
    """Read the version of the first graph, "" when it has none."""
    meta = _first(path, "meta")
    return str(meta.get("version") or "") if isinstance(meta, dict) else ""


def _first(path: Path, wanted: str) -> Any:
    """Read a field of the first graph that has it."""
    with JsonStream(path) as stream:
        for key in _graph_keys(stream):
            if key == wanted:
                return stream.value()
            stream.skip()
    return None


def _elements(path: Path, lists: tuple[str, ...]) -> Iterator[tuple[str, int, Any]]:
    """Stream (list, line, element) of the lists of these names in all graphs."""
    with JsonStream(path) as stream:
        for key in _graph_keys(stream):
            if key in lists and stream.is_next("["):
                for line in stream.elements():
                    yield key, line, stream.value()
            else:
                stream.skip()
        stream.finish()


def _graph_keys(stream: JsonStream) -> Iterator[str]:
    for key in stream.items():
        if key == "graphs":
            for _ in stream.elements():
                yield from stream.items()
        else:
            stream.skip()


def _load_hierarchy(db: sqlite3.Connection, path: Path, bad_lines: list[BadLine] | None) -> None:
    db.execute("BEGIN")
    for kind, line, element in _elements(path, ("nodes", "edges")):
        try:
            if kind == "edges":
                _load_edge(db, line, _object(element, "edge"))
            else:
                id = _id(_text(_object(element, "node"), "id"), "id")
                db.execute("INSERT OR IGNORE INTO node VALUES (?)", (id,))
                if _text(element, "type") == "PROPERTY" and (label := _text(element, "lbl")):
                    called = id, "_".join(label.split())
                    db.execute("INSERT OR IGNORE INTO property VALUES (?,?)", called)
        except FieldError as error:
            if kind == "edges":  # bad nodes are reported by the second reading
                report(path, line, error.problem, error.expected, bad_lines)
    db.execute(_INDEX)
    strays = db.execute(
        "SELECT line, child FROM edge WHERE relation = ? AND child NOT IN (SELECT id FROM node)"
        " ORDER BY line",
        (ISA,),
    )
    for line, child in strays:
        problem = f"an edge from {child!r}, which is no node"
        report(path, line, problem, "edges between the nodes of the file", bad_lines)


def _load_edge(db: sqlite3.Connection, line: int, edge: dict[str, Any]) -> None:
    child, relation, parent = (_id(_text(edge, field), field) for field in ("sub", "pred", "obj"))
    relation = ISA if _text(edge, "pred") in _IS_A else relation
    db.execute("INSERT INTO edge VALUES (?,?,?,?)", (child, relation, parent, line))


def _records(node: Any, ontology: str, path: Path, db: sqlite3.Connection) -> list[Record]:
    data = _object(node, "node")
    storable(data)
    id = _id(_text(data, "id"), "id")
    source = source_of(ontology, id, path)
    if _text(data, "type") not in ("", "CLASS"):
        return []
    meta = _object(data.get("meta") or {}, "meta")
    properties = list(_properties(meta))
    if meta.get("deprecated") is True:
        successors = [_id(value, "id") for name, value in properties if name in _REPLACED_BY]
        return [Retired(id, successors[0] if successors else "", "obsolete")]
    label, synonyms = _text(data, "lbl").strip(), list(_synonyms(meta, source))
    definition = _text(_object(meta.get("definition") or {}, "definition"), "val")
    if not (label or synonyms or definition):
        return []  # only referred to: this file says nothing about it
    matches = [*_matches(meta), *chain.from_iterable(skos_match(*one) for one in properties)]
    xrefs = [identifier(_text(xref, "val")) for xref in _objects(meta, "xrefs")]
    found = db.execute(_RELATED, (id,))
    relations = tuple(Relation(relation, other, source) for relation, other in found)
    concept = Concept(
        id=id,
        name=surface(label, "lbl"),
        names=(Name(label, "en", source, "PT"), *synonyms),
        types=tuple(value for name, value in properties if name == _NAMESPACE),
        definition=definition,
        codes=codes_of(xrefs, matches),
        maps=maps_of(matches, source),
        parents=tuple(one.id for one in relations if one.relation == ISA),
        relations=relations,
    )
    others = [_id(value, "id") for name, value in properties if name == _OTHER_ID]
    return [concept, *(Retired(other, id, "merged") for other in others)]


def _synonyms(meta: dict[str, Any], source: str) -> Iterator[Name]:
    for synonym in _objects(meta, "synonyms"):
        scope = _text(synonym, "pred").removeprefix("has").removesuffix("Synonym").upper()
        kind = _local(_text(synonym, "synonymType"))
        tty = f"{scope or 'RELATED'} {kind}".strip()
        obsolete = kind in ("obsolete_synonym", "OBSOLETE")
        yield Name(_text(synonym, "val"), "en", source, tty, obsolete)


def _matches(meta: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Read the qualifiers of a node's cross-references, such as "MONDO:equivalentTo"."""
    for xref in _objects(meta, "xrefs"):
        said = _properties(_object(xref.get("meta") or {}, "meta"))
        words = [value.partition(":")[2] for _, value in said if value.startswith("MONDO:")]
        if relation := relation_of_match(words):
            yield identifier(_text(xref, "val")), relation


def _properties(meta: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for entry in _objects(meta, "basicPropertyValues"):
        yield _local(_text(entry, "pred")), _text(entry, "val")


def _local(iri: str) -> str:
    return iri.replace("#", "/").rpartition("/")[2]


def _id(iri: str, what: str) -> str:
    return compact(identifier(iri, what))


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FieldError(f"{what} is not an object", "an OBO graph")
    return value


def _objects(data: dict[str, Any], field: str) -> list[dict[str, Any]]:
    values = data.get(field) or []
    if not isinstance(values, list):
        raise FieldError(f'"{field}" is not a list', "an OBO graph")
    return [_object(value, f'an entry of "{field}"') for value in values]


def _text(data: dict[str, Any], field: str) -> str:
    value = data.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise FieldError(f'"{field}" is not a string', "an OBO graph")
    return value
