"""Queries for relations between concepts: relations, code maps, and the hierarchy."""

import json
from collections.abc import Mapping, Sequence

from ..types import CodeMap, Relation
from .database import Connection

ID = "CASE typeof({0}) WHEN 'text' THEN {0} ELSE CAST(x'ff' AS TEXT) END"
_ID = ID.format("concept.id")
_SAID, _TELLER = "CAST(said.text AS TEXT)", "CAST(teller.text AS TEXT)"
_NAMED = (
    "JOIN label AS said ON said.row = relation JOIN label AS teller ON teller.row = relation.source"
)
_OF_ONE = (
    f"SELECT {_SAID}, {ID.format('other.id')}, {_TELLER} FROM relation {_NAMED}"
    " JOIN concept AS other ON other.row = {other} WHERE {own} = ?"
    " ORDER BY said.text, other.row, teller.text"
)
ALL = (
    f"SELECT subject, {_SAID}, object, {_TELLER} FROM relation {_NAMED}"
    " ORDER BY subject, relation, object, relation.source"
)
_MAPS = (
    f"SELECT CAST(kind.text AS TEXT), CAST(code AS TEXT), {_SAID}, {_TELLER}, CAST(note AS TEXT)"
    " FROM map JOIN label AS kind ON kind.row = vocabulary"
    " JOIN label AS said ON said.row = relation JOIN label AS teller ON teller.row = source"
    " WHERE concept = ?"
)
CHILDREN = (
    f"SELECT {_ID} FROM edge JOIN concept ON concept.row = child WHERE parent = ? ORDER BY child"
)
_ABOVE = (
    "SELECT parent.value FROM json_each(?) AS known JOIN concept ON concept.id = known.value"
    " JOIN json_each(concept.parents) AS parent WHERE concept.parents != ''"
)
_BELOW = (
    f"SELECT DISTINCT concept.row, {_ID} FROM json_each(?) AS known"
    " JOIN edge ON edge.parent = known.value JOIN concept ON concept.row = child ORDER BY 1"
)
_SHARED = (
    "SELECT code.value, group_concat(concept.row) FROM concept, json_each(concept.codes) AS own,"
    " json_each(own.value) AS code WHERE concept.codes != '' AND own.key = ?"
    " GROUP BY code.value HAVING count(*) > 1"
)


def relations_of(db: Connection, row: int, inverse: bool) -> list[Relation]:
    """List a concept's relations, or the inverse ones; see KnowledgeBase.relations."""
    own_column, other = ("object", "subject") if inverse else ("subject", "object")
    rows = db.execute(_OF_ONE.format(own=own_column, other=other), (row,)).fetchall()
    return [Relation(relation, id, source, inverse) for relation, id, source in rows]


def maps_of(db: Connection, row: int, codes: Mapping[str, Sequence[str]]) -> list[CodeMap]:
    """List the codes of a concept with relation, source and note; see KnowledgeBase.maps."""
    by_code: dict[tuple[str, str], list[CodeMap]] = {
        (vocabulary, code): [] for vocabulary, listed in codes.items() for code in listed
    }
    for vocabulary, code, *rest in db.execute(_MAPS, (row,)).fetchall():
        # A code that became the concept's id is no longer among the concept's codes.
        by_code.get((vocabulary, code), []).append(CodeMap(vocabulary, code, *rest))
    return [code_map for pair, listed in by_code.items() for code_map in listed or [CodeMap(*pair)]]


def ancestors(db: Connection, id: str) -> dict[str, int]:
    """Map every ancestor's id to its distance in levels, including ids without a concept here."""
    distances, level, depth = {id: 0}, [id], 0
    while level:
        depth += 1
        above = dict.fromkeys(
            parent for (parent,) in db.execute(_ABOVE, (json.dumps(level),)).fetchall()
        )
        level = [parent for parent in above if parent not in distances]
        distances.update(dict.fromkeys(level, depth))
    del distances[id]
    return distances


def descendants(db: Connection, row: int) -> dict[str, int]:
    """Map every descendant's id to its distance in levels, nearest first."""
    distances, seen, level, depth = dict[str, int](), {row}, [row], 0
    while level:
        depth += 1
        below = db.execute(_BELOW, (json.dumps(level),)).fetchall()
        new = [(child, id) for child, id in below if child not in seen]
        level = [child for child, _ in new]
        seen.update(level)
        distances.update((id, depth) for _, id in new)
    return distances


def shared_codes(db: Connection, vocabulary: str) -> dict[str, tuple[int, ...]]:
    """Map the codes that several concepts share to the rows of these concepts."""
    rows = db.execute(_SHARED, (vocabulary,))
    return {code: tuple(map(int, concepts.split(","))) for code, concepts in rows}
