"""Giving the concepts of a source the ids of another vocabulary."""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..types import ISA, CodeMap, Concept, Name, Record, Relation, Retired
from .scratch import scratch

# codes: the new ids of a concept, NULL of a retired id. All columns but the first are JSON.
_TABLES = "CREATE TABLE record (id TEXT, codes TEXT, parents TEXT, data TEXT)"
_INDEX = "CREATE INDEX record_id ON record (id)"
# A concept may come in several records, only one of which has the code: '["' is less than '[]'.
_UNCODED = (
    "SELECT count(*) FROM (SELECT id FROM record WHERE codes NOT NULL GROUP BY id"
    " HAVING min(codes) = '[]')"
)
_PREFIXED = re.compile(r"([A-Za-z][\w.\-]*):.+")
_CUI = re.compile(r"C\d{7}")
_FIELDS = "id name names types definition codes parents relations maps".split()


def rekey(
    records: Iterable[Record], scheme: str, dropped: Counter[str] | None = None
) -> Iterator[Record]:
    """Stream the records with the codes of a scheme as their ids.

    A concept with several codes gives one record for each code. A concept without a code is
    dropped, and its children move to its parents. Old ids become codes of the old vocabulary.
    Retired ids stay, and lead to the new ids. All records pass through a temporary file, because
    the parents' new ids are known only at the end.

    scheme (str): vocabulary of the codes, such as "UMLS".
    dropped (Optional[Counter[str]]): counts dropped concepts ("without UMLS") by distinct ids.
    RAISES (MedlinkError): E164 when there is no room for the temporary file.
    """
    with scratch(_TABLES) as db:
        db.execute("BEGIN")
        db.executemany("INSERT INTO record VALUES (?,?,?,?)", _spooled(records, scheme))
        db.execute(_INDEX)
        if dropped is not None:
            dropped[f"without {scheme}"] += db.execute(_UNCODED).fetchone()[0]
        for (text,) in db.execute("SELECT data FROM record ORDER BY rowid"):
            record = _load(json.loads(text))
            if isinstance(record, Retired):
                yield record._replace(replaced_by=_successor(db, record.replaced_by))
                continue
            for id in _new_ids(db, record.id):
                yield _renamed(db, record, id, scheme)


def _spooled(records: Iterable[Record], scheme: str) -> Iterator[tuple[str, str | None, str, str]]:
    """Write each record as a row of the table."""
    for record in records:
        if isinstance(record, Retired):
            yield record.id, None, "[]", _dump(record)
        else:
            ids = (record.id,) if scheme_of(record) == scheme else record.codes.get(scheme, ())
            fields = [getattr(record, field) for field in _FIELDS]
            yield record.id, _dump(ids), _dump(record.parents), _dump(fields)


def _renamed(db: sqlite3.Connection, concept: Concept, id: str, scheme: str) -> Concept:
    codes: dict[str, tuple[str, ...]] = {**concept.codes, scheme: (id,)}
    if (old_scheme := scheme_of(concept)) != scheme:
        codes[old_scheme] = tuple(dict.fromkeys((concept.id, *codes.get(old_scheme, ()))))
    parents = tuple(parent for parent in _new_parents(db, concept.parents) if parent != id)
    relations = tuple(
        relation._replace(id=other)
        for relation in concept.relations
        for other in _new_related(db, relation)
        if other != id
    )
    return replace(concept, id=id, codes=codes, parents=parents, relations=relations)


def _new_related(db: sqlite3.Connection, relation: Relation) -> Iterable[str]:
    if relation.relation == ISA and not relation.inverse:
        return _new_parents(db, [relation.id])
    return _new_ids(db, relation.id)


def _new_parents(db: sqlite3.Connection, parents: Iterable[str]) -> Iterator[str]:
    """Find the new ids of the nearest ancestors that have a new id."""
    seen: dict[str, None] = {}
    waiting = list(dict.fromkeys(parents))
    nearest: dict[str, None] = {}
    while waiting:
        parent = waiting.pop(0)
        if parent in seen:
            continue
        seen[parent] = None
        ids = _new_ids(db, parent)
        nearest.update(dict.fromkeys(ids))
        if not ids:
            waiting += _listed(db, "parents", parent)
    return iter(nearest)


def _new_ids(db: sqlite3.Connection, id: str) -> list[str]:
    return sorted(set(_listed(db, "codes", id)))


def _listed(db: sqlite3.Connection, column: str, id: str) -> list[str]:
    """List what the records of an id have in a column."""
    rows = db.execute(f"SELECT {column} FROM record WHERE id = ? AND codes NOT NULL", (id,))
    return [value for (text,) in rows for value in json.loads(text)]


def _successor(db: sqlite3.Connection, id: str) -> str:
    """Find the new id of a successor; its old id if the successor is retired too."""
    ids = _new_ids(db, id)
    if ids:
        return ids[0]
    query = "SELECT 1 FROM record WHERE id = ? AND codes IS NULL"
    return id if db.execute(query, (id,)).fetchone() else ""


def scheme_of(concept: Concept) -> str:
    """Return the vocabulary of a concept's id, as far as id, codes and source tell."""
    prefixed = _PREFIXED.fullmatch(concept.id)
    if prefixed:
        return prefixed[1]
    if _CUI.fullmatch(concept.id):
        return "UMLS"
    by_code = next((scheme for scheme, codes in concept.codes.items() if concept.id in codes), "")
    source = concept.names[0].source if concept.names else ""
    return by_code or source.partition("|")[0] or "ID"


def _dump(values: Sequence[object]) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"), default=dict)


def _load(values: list[Any]) -> Record:
    if len(values) == len(Retired._fields):
        return Retired(*values)
    id, name, names, types, definition, codes, parents, relations, maps = values
    return Concept(
        id, name, tuple(Name(*fields) for fields in names), tuple(types), definition,
        {vocabulary: tuple(own_codes) for vocabulary, own_codes in codes.items()}, tuple(parents),
        tuple(Relation(*fields) for fields in relations),
        tuple(CodeMap(*fields) for fields in maps),
    )  # fmt: skip
