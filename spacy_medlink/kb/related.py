"""Queries for relations between concepts: relations, code maps, and the hierarchy."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from ..types import CodeMap, Relation
from .database import Connection

Node = TypeVar("Node")

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
    return levels(id, lambda ids: (parent for (parent,) in _asked(db, _ABOVE, ids)))


def descendants(db: Connection, row: int, id: str) -> dict[str, int]:
    """Map every descendant's id to its distance in levels, nearest first."""
    below = levels((row, id), lambda nodes: _asked(db, _BELOW, [row for row, _ in nodes]))
    return {id: depth for (_, id), depth in below.items()}


def _asked(db: Connection, query: str, values: Sequence[object]) -> list[Any]:
    rows: list[Any] = db.execute(query, (json.dumps(values),)).fetchall()
    return rows


def levels(start: Node, near: Callable[[list[Node]], Iterable[Node]]) -> dict[Node, int]:
    """Map all that can be reached to the fewest steps, nearest first; cycles do no harm.

    near (Callable): lists what is one step from any of some nodes.
    """
    steps, level = {start: 0}, [start]
    while level:
        depth = steps[level[0]] + 1
        level = [node for node in dict.fromkeys(near(level)) if node not in steps]
        steps.update(dict.fromkeys(level, depth))
    del steps[start]
    return steps


def shared_codes(db: Connection, vocabulary: str) -> dict[str, tuple[int, ...]]:
    """Map the codes that several concepts share to the rows of these concepts."""
    rows = db.execute(_SHARED, (vocabulary,))
    return {code: tuple(map(int, concepts.split(","))) for code, concepts in rows}
