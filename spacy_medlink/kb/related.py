"""What concepts are to each other: relations of one, and the hierarchy above and below it."""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..types import ISA, Relation

if TYPE_CHECKING:
    from .database import Connection
    from .knowledge_base import KnowledgeBase

_IS_THERE = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'relation'"
_OF_ONE = (
    "SELECT said.text, other.id, teller.text FROM relation"
    " JOIN label AS said ON said.row = relation JOIN label AS teller ON teller.row = source"
    " JOIN concept AS other ON other.row = {other} WHERE {own} = ?"
    " ORDER BY said.text, other.row, teller.text"
)
_ALL = (
    "SELECT subject, said.text, object, teller.text FROM relation"
    " JOIN label AS said ON said.row = relation JOIN label AS teller ON teller.row = source"
    " ORDER BY subject, relation, object, source"
)
_BELOW = "SELECT child FROM json_each(?) AS known JOIN edge ON edge.parent = known.value"
_IDS = "SELECT concept.id FROM json_each(?) AS known JOIN concept ON concept.row = known.value"


def relations_of(kb: "KnowledgeBase", id: str, inverse: bool) -> list[Relation]:
    """List what a concept is to others, or others are to it; see KnowledgeBase.relations."""
    row, db = kb.row_of(id), kb.connection
    if not knows_relations(db):
        others = kb.children(id) if inverse else [one for one in kb[id].parents if one in kb]
        return [Relation(ISA, other, "", inverse) for other in others]
    own, other = ("object", "subject") if inverse else ("subject", "object")
    found = db.execute(_OF_ONE.format(own=own, other=other), (row,))
    return [Relation(relation, other, source, inverse) for relation, other, source in found]


def all_relations(kb: "KnowledgeBase") -> Iterator[tuple[int, str, int, str]]:
    """Stream every relation; see KnowledgeBase.iter_relations."""
    db = kb.connection
    if knows_relations(db):
        yield from db.execute(_ALL)
    else:
        for parent, child in kb.iter_edges():
            yield child, ISA, parent, ""


def ancestors(kb: "KnowledgeBase", id: str) -> dict[str, int]:
    """Map every concept above to the length of the shortest way up, those outside of `kb` too."""
    found: dict[str, int] = {}
    level: Sequence[str] = kb[id].parents
    depth = 1
    while level:
        new = [parent for parent in dict.fromkeys(level) if parent not in found]
        found.update(dict.fromkeys(new, depth))
        above = (kb[parent].parents for parent in new if parent in kb)
        level = [parent for parents in above for parent in parents]
        depth += 1
    found.pop(id, None)
    return found


def descendants(kb: "KnowledgeBase", id: str) -> dict[str, int]:
    """Map every concept below to the length of the shortest way down, nearest first."""
    db, found, depth = kb.connection, dict[str, int](), 0
    level = [kb.row_of(id)] if id in kb else []
    seen = set(level)
    while level:
        below = {row for (row,) in db.execute(_BELOW, (json.dumps(level),))}
        level = sorted(below - seen)
        seen.update(level)
        depth += 1
        ids = db.execute(_IDS, (json.dumps(level),))
        found.update((below, depth) for (below,) in ids)
    return found


def knows_relations(db: "Connection") -> bool:
    """Tell whether a file has relations beside the hierarchy, which earlier ones do not."""
    return db.execute(_IS_THERE).fetchone() is not None
