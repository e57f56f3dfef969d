"""What changed between two knowledge bases, in bounded memory."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ..gold import GoldMention, read_gold
from .knowledge_base import KnowledgeBase
from .scratch import scratch

_TABLES = """
CREATE TABLE gone (text TEXT, lang TEXT, id TEXT);
CREATE TABLE come (text TEXT, lang TEXT, id TEXT);
"""
_INDICES = """
CREATE INDEX gone_name ON gone (text, lang);
CREATE INDEX come_name ON come (text, lang);
"""
# Ids of one that the other lacks, in the order of their rows.
_ONLY_IN = (
    "SELECT id, name FROM {one}.concept AS mine"
    " WHERE NOT EXISTS (SELECT 1 FROM {other}.concept AS theirs WHERE theirs.id = mine.id)"
    " ORDER BY row"
)
_SHARED = (
    "SELECT o.id, o.name, n.name, o.first_name, o.n_names, n.first_name, n.n_names"
    " FROM old.concept AS o JOIN new.concept AS n ON n.id = o.id ORDER BY o.row"
)
_NAMES = (
    "SELECT name.text, label.text FROM {base}.name JOIN {base}.label ON label.row = name.lang"
    " WHERE name.row >= ? AND name.row < ? ORDER BY name.row"
)
_MOVED = (
    "SELECT gone.id, come.id, gone.text, gone.lang FROM gone JOIN come"
    " ON come.text = gone.text AND come.lang = gone.lang ORDER BY gone.rowid, come.rowid"
)
_UNMATCHED = (
    "SELECT id, '', text, lang FROM {one} AS mine WHERE NOT EXISTS (SELECT 1 FROM {other} AS theirs"
    " WHERE theirs.text = mine.text AND theirs.lang = mine.lang) ORDER BY rowid"
)


class Change(NamedTuple):
    """One difference.

    kind (str): "concept new", "concept retired", "concept merged", "concept vanished" (gone, and
        the new base says nothing of it), "concept renamed"; "name new", "name dropped", "name
        moved"; "gold merged", "gold lost", "gold gained" (an id found again), "gold unknown" (in
        neither), "gold findable" and "gold unfindable" (an exact match of the mention has a gold
        id, now or no more).
    id, other (str): the concept, and the one that it or its name went to.
    text, lang (str): the name, or the mention.
    """

    kind: str
    id: str
    other: str = ""
    text: str = ""
    lang: str = ""


@dataclass
class KbDiff:
    """Counts of changes by kind, and the first of each kind."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[Change]] = field(default_factory=dict)
    gold_links: int = 0


def diff(
    old: KnowledgeBase, new: KnowledgeBase, gold: Path | None = None, examples: int = 20
) -> KbDiff:
    """Compare two knowledge bases, and say what becomes of gold links.

    gold (Optional[Path]): gold mentions, JSON Lines. examples (int): changes to keep of each kind;
        `changes` and `gold_changes` stream them all.
    RAISES (MedlinkError): E164 without room for temporary files, E107 and E401-E404 for the file
        of gold mentions.
    """
    found = KbDiff()

    def note(changes: Iterator[Change]) -> None:
        for change in changes:
            found.counts[change.kind] += 1
            kept = found.examples.setdefault(change.kind, [])
            if len(kept) < examples:
                kept.append(change)

    note(changes(old, new))
    if gold is not None:
        verdict = _gold_verdict(old, new)
        for mention in _mentions(gold):
            found.gold_links += len(mention.ids)
            note(verdict(mention))
    return found


def changes(old: KnowledgeBase, new: KnowledgeBase) -> Iterator[Change]:
    """Stream the differences: concepts first, in the order of their rows, then names."""
    with scratch(_TABLES) as db:
        for name, base in (("old", old), ("new", new)):
            uri = base.path.absolute().as_uri() + "?mode=ro&immutable=1"
            db.execute(f"ATTACH ? AS {name}", (uri,))
        db.execute("BEGIN")
        yield from _lone_concepts(db, new)
        yield from _shared_concepts(db)
        db.execute("COMMIT")
        db.executescript(_INDICES)
        yield from _named(db, "name moved", _MOVED)
        yield from _named(db, "name dropped", _UNMATCHED.format(one="gone", other="come"))
        yield from _named(db, "name new", _UNMATCHED.format(one="come", other="gone"))


def gold_changes(old: KnowledgeBase, new: KnowledgeBase, gold: Path) -> Iterator[Change]:
    """Stream what becomes of the links of a gold file, mention by mention."""
    verdict = _gold_verdict(old, new)
    for mention in _mentions(gold):
        yield from verdict(mention)


def _mentions(gold: Path) -> Iterator[GoldMention]:
    return (mention for document in read_gold(gold) for mention in document.mentions)


def _lone_concepts(db: sqlite3.Connection, new: KnowledgeBase) -> Iterator[Change]:
    for id, name in db.execute(_ONLY_IN.format(one="new", other="old")):
        _note_names(db, "come", "new", id)
        yield Change("concept new", id, text=name)
    for id, name in db.execute(_ONLY_IN.format(one="old", other="new")):
        _note_names(db, "gone", "old", id)
        successor = new.resolve(id)
        if successor:
            yield Change("concept merged", id, successor, name)
        else:
            known = db.execute("SELECT 1 FROM new.retired WHERE id = ?", (id,)).fetchone()
            yield Change("concept retired" if known else "concept vanished", id, text=name)


def _note_names(db: sqlite3.Connection, table: str, base: str, id: str) -> None:
    query = f"SELECT first_name, n_names FROM {base}.concept WHERE id = ?"
    first, count = db.execute(query, (id,)).fetchone()
    rows = db.execute(_NAMES.format(base=base), (first, first + count)).fetchall()
    db.executemany(f"INSERT INTO {table} VALUES (?,?,?)", [(*row, id) for row in rows])


def _shared_concepts(db: sqlite3.Connection) -> Iterator[Change]:
    before, after = _NAMES.format(base="old"), _NAMES.format(base="new")
    for row in db.execute(_SHARED):
        id, old_name, new_name, old_first, old_count, new_first, new_count = row
        had = db.execute(before, (old_first, old_first + old_count)).fetchall()
        has = db.execute(after, (new_first, new_first + new_count)).fetchall()
        if had != has:
            for table, one, other in (("gone", had, has), ("come", has, had)):
                known = set(other)
                rows = [(*name, id) for name in one if name not in known]
                db.executemany(f"INSERT INTO {table} VALUES (?,?,?)", rows)
        if old_name != new_name:
            yield Change("concept renamed", id, id, f"{old_name} -> {new_name}")


def _named(db: sqlite3.Connection, kind: str, query: str) -> Iterator[Change]:
    for row in db.execute(query):
        yield Change(kind, *row)


def _gold_verdict(
    old: KnowledgeBase, new: KnowledgeBase
) -> Callable[[GoldMention], Iterator[Change]]:
    """Make the function that says what changes for a mention; equal mentions are looked up once."""
    find_old, find_new = _finder(old), _finder(new)

    @lru_cache(maxsize=1 << 16)
    def fate(id: str) -> tuple[str, str]:
        before, after = id in old, id in new
        if before == after:
            return ("", "") if before else ("gold unknown", "")
        if after:
            return "gold gained", ""
        successor = new.resolve(id)
        return ("gold merged", successor) if successor else ("gold lost", "")

    def verdict(mention: GoldMention) -> Iterator[Change]:
        wanted = set(mention.ids)
        for id in mention.ids:
            kind, successor = fate(id)
            if kind:
                yield Change(kind, id, successor, mention.text)
            wanted.add(successor)
        was = not wanted.isdisjoint(find_old(mention.text))
        is_now = not wanted.isdisjoint(find_new(mention.text))
        if was != is_now:
            kind = "gold findable" if is_now else "gold unfindable"
            yield Change(kind, "|".join(mention.ids), text=mention.text)

    return verdict


def _finder(base: KnowledgeBase) -> Callable[[str], frozenset[str]]:
    @lru_cache(maxsize=1 << 16)
    def find(text: str) -> frozenset[str]:
        return frozenset(concept.id for concept in base.find(text))

    return find
