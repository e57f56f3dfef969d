"""Checking that a knowledge base is whole: every page, every count, every reference."""

from ..errors import Errors
from .database import Connection
from .knowledge_base import KnowledgeBase

# Each query with what it counts. All counts must be 0.
_MUST_BE_NONE = (
    ("SELECT count(*) FROM name LEFT JOIN concept ON concept.row = name.concept"
     " WHERE concept.row IS NULL OR name.row < first_name OR name.row >= first_name + n_names",
     "names without their concept"),
    ("SELECT count(*) FROM lookup LEFT JOIN name ON name.row = lookup.name"
     " WHERE name.row IS NULL", "entries of the exact tier without a name"),
    ("SELECT count(*) FROM edge LEFT JOIN concept AS above ON above.row = edge.parent"
     " LEFT JOIN concept AS below ON below.row = edge.child"
     " WHERE above.row IS NULL OR below.row IS NULL", "steps of the hierarchy that lead nowhere"),
)  # fmt: skip
_OF_RELATIONS = (
    ("SELECT count(*) FROM relation LEFT JOIN concept AS one ON one.row = subject"
     " LEFT JOIN concept AS other ON other.row = object LEFT JOIN label ON label.row = relation"
     " WHERE one.row IS NULL OR other.row IS NULL OR label.row IS NULL",
     "relations that lead nowhere"),
    ("SELECT count(*) FROM map LEFT JOIN concept ON concept.row = map.concept"
     " WHERE concept.row IS NULL", "maps of no concept"),
    ("SELECT abs(count(*) - (SELECT length(edges) / 8 FROM hierarchy)) FROM edge",
     "steps of the hierarchy that its array has not, or alone has"),
)  # fmt: skip


def verify(kb: KnowledgeBase) -> None:
    """Read the whole file and check it; takes minutes for the largest terminologies.

    RAISES (MedlinkError): E102 with what is wrong.
    """
    problem = _problem(kb.connection, kb)
    if problem:
        raise Errors.kb_damaged(path=kb.path, reason=problem)


def _problem(db: Connection, kb: KnowledgeBase) -> str:
    (state,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    if state != "ok":
        return str(state)
    for table, expected in (("concept", len(kb)), ("name", kb.n_names)):
        count, first, last = db.execute(
            f"SELECT count(*), coalesce(min(row), 0), coalesce(max(row), -1) FROM {table}"
        ).fetchone()
        if (count, first, last) != (expected, 0, expected - 1):
            return f"{count} rows in the table {table}, {expected} expected"
    for query, what in (*_MUST_BE_NONE, *_OF_RELATIONS):
        (count,) = db.execute(query).fetchone()
        if count:
            return f"{count} {what}"
    return ""
