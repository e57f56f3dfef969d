"""The differences between two knowledge bases, found in bounded memory.

Joins over the two files compare the concepts. Names that a concept has lost or gained are noted in
a temporary file, to see which of them have moved to another concept.
"""

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ..types import ISA
from .gold import GoldMention, read_gold
from .knowledge_base import KnowledgeBase
from .schema import load_codes, load_list
from .scratch import scratch

_OF_NAMES = ("source", "term type", "obsolete")
_TABLES = """
CREATE TABLE gone (text TEXT, lang TEXT, id TEXT);
CREATE TABLE come (text TEXT, lang TEXT, id TEXT);
"""
_INDICES = """
CREATE INDEX gone_name ON gone (text, lang);
CREATE INDEX come_name ON come (text, lang);
"""
# The ids that only one of the knowledge bases has, in the order of their rows.
_ONLY_IN = (
    "SELECT id, name, first_name, n_names FROM {one}.concept AS mine"
    " WHERE NOT EXISTS (SELECT 1 FROM {other}.concept AS theirs WHERE theirs.id = mine.id)"
    " ORDER BY row"
)
_SHARED = (
    "SELECT o.id, o.row, n.row, o.name, n.name, o.first_name, o.n_names, n.first_name, n.n_names,"
    " o.types, o.codes, o.parents, o.definition, n.types, n.codes, n.parents, n.definition"
    " FROM old.concept AS o JOIN new.concept AS n ON n.id = o.id ORDER BY o.row"
)
_NAMES = (
    "SELECT text, lang, source, tty, obsolete FROM {base}.name WHERE row >= ? AND row < ?"
    " ORDER BY row"
)
_RELATED = (
    "SELECT relation, other.id FROM {base}.relation JOIN {base}.concept AS other"
    " ON other.row = object WHERE subject = ? ORDER BY object"
)
_MAPPED = "SELECT vocabulary, code, relation FROM {base}.map WHERE concept = ? ORDER BY code"
_SUCCESSORS = (
    "SELECT o.id, o.replaced_by, n.replaced_by FROM old.retired AS o JOIN new.retired AS n"
    " ON n.id = o.id WHERE n.replaced_by != o.replaced_by ORDER BY o.id"
)
_MOVED = (
    "SELECT gone.id, come.id, gone.text, gone.lang FROM gone JOIN come"
    " ON come.text = gone.text AND come.lang = gone.lang ORDER BY gone.rowid, come.rowid"
)
_UNMATCHED = (
    "SELECT id, '', text, lang FROM {one} AS mine WHERE NOT EXISTS (SELECT 1 FROM {other} AS theirs"
    " WHERE theirs.text = mine.text AND theirs.lang = mine.lang) ORDER BY rowid"
)

_NameKey = tuple[str, str]  # text and language
_NameRow = tuple[str, str, str, str, str]  # then source, term type, and "in use" or "obsolete"


class Change(NamedTuple):
    """One difference.

    kind (str): "concept new", "concept retired", "concept merged", "concept vanished" (gone, and
        the new base has no history of it), "concept renamed", "codes changed", "types changed",
        "parents changed", "definition changed", "relations changed" (without the hierarchy) and
        "maps changed" (both only if both bases have them); "name new", "name dropped", "name
        moved"; for names that stay "name source changed", "name term type changed", "name obsolete
        changed", "name language changed"; "successor changed" (of a retired id); "gold merged",
        "gold lost", "gold gained" (an id found again), "gold unknown" (in neither), "gold findable"
        and "gold unfindable" (an exact match of the mention has a gold id only now, or no longer).
    id, other (str): the concept, and the concept that replaces it or now has its name.
    text, lang (str): the name, or the mention; the preferred name where a fact has changed.
    label (str): the vocabulary of codes that have changed, or the relation.
    before, after (str): what has changed; values of a list are joined with ", ".
    """

    kind: str
    id: str
    other: str = ""
    text: str = ""
    lang: str = ""
    label: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Total:
    """A count of something in both knowledge bases.

    what (str): "concepts", "names", "retired ids", "names by language", "names by source",
        "concepts with codes", "relations". label (str): the language, source, vocabulary or
        relation.
    """

    what: str
    label: str
    before: int
    after: int


@dataclass
class KbDiff:
    """Counts of changes by kind, and the first of each kind.

    totals (List[Total]): counts of both. labels (Dict[str, Counter[str]]): changes of a kind by
        language of the name, or by vocabulary of the codes.
    """

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[Change]] = field(default_factory=dict)
    gold_links: int = 0
    totals: list[Total] = field(default_factory=list)
    labels: dict[str, Counter[str]] = field(default_factory=dict)

    def note(self, changes: Iterable[Change], examples: int) -> None:
        """Count changes, and keep the first of each kind."""
        for change in changes:
            self.counts[change.kind] += 1
            if label := change.label or change.lang:
                self.labels.setdefault(change.kind, Counter())[label] += 1
            kept = self.examples.setdefault(change.kind, [])
            if len(kept) < examples:
                kept.append(change)


def diff(
    old: KnowledgeBase, new: KnowledgeBase, gold: Path | None = None, examples: int = 20
) -> KbDiff:
    """Compare two knowledge bases, and say what becomes of gold links.

    gold (Optional[Path]): gold mentions, JSON Lines. examples (int): changes to keep of each kind;
        `changes` and `gold_changes` stream them all.
    RAISES (MedlinkError): E164 without room for temporary files, E107 and E401-E404 for the file
        of gold mentions.
    """
    result = KbDiff(totals=list(_totals(old, new)))
    result.note(changes(old, new), examples)
    for mention in _mentions_of(gold) if gold is not None else ():
        result.gold_links += len(mention.ids)
        result.note(_of_mention(old, new, mention), examples)
    return result


def changes(old: KnowledgeBase, new: KnowledgeBase) -> Iterator[Change]:
    """Stream the differences: concepts first, in the order of their rows, then names."""
    with scratch(_TABLES) as db:
        for alias, kb in (("old", old), ("new", new)):
            uri = kb.path.absolute().as_uri() + "?mode=ro&immutable=1"
            db.execute(f"ATTACH ? AS {alias}", (uri,))
        before, after = _Side(db, "old", old.labels), _Side(db, "new", new.labels)
        db.execute("BEGIN")
        yield from _lone_concepts(db, before, after, new)
        yield from _shared_concepts(db, before, after)
        for id, heir, other_heir in db.execute(_SUCCESSORS):
            yield Change("successor changed", id, before=heir, after=other_heir)
        db.execute("COMMIT")
        db.executescript(_INDICES)
        for change, query in (
            ("name moved", _MOVED),
            ("name dropped", _UNMATCHED.format(one="gone", other="come")),
            ("name new", _UNMATCHED.format(one="come", other="gone")),
        ):
            for row in db.execute(query):
                yield Change(change, *row)


def _totals(old: KnowledgeBase, new: KnowledgeBase) -> Iterator[Total]:
    """List the counts of both, including equal ones."""
    yield Total("concepts", "", len(old), len(new))
    yield Total("names", "", old.n_names, new.n_names)
    retired = [int(kb.manifest.get("retired", 0)) for kb in (old, new)]
    yield Total("retired ids", "", *retired)
    for what, before, after in (
        ("names by language", old.manifest.get("by_lang", {}), new.manifest.get("by_lang", {})),
        ("names by source", old.manifest.get("by_source", {}), new.manifest.get("by_source", {})),
        ("concepts with codes", old.count_codes(), new.count_codes()),
        ("relations", old.manifest.get("by_relation", {}), new.manifest.get("by_relation", {})),
    ):
        for label in sorted({*before, *after}):
            yield Total(what, label, before.get(label, 0), after.get(label, 0))


class _Side(NamedTuple):
    """One of the two knowledge bases, attached to the database under an alias."""

    db: sqlite3.Connection
    alias: str
    labels: Mapping[int, str]

    def names(self, first: int, count: int) -> list[_NameRow]:
        """List the names of a concept."""
        rows = self.db.execute(_NAMES.format(base=self.alias), (first, first + count))
        text_of = self.labels
        return [
            (text, text_of[lang], text_of[source], text_of[tty], "obsolete" if old else "in use")
            for text, lang, source, tty, old in rows
        ]

    def relations(self, row: int) -> dict[str, dict[str, None]]:
        """List a concept's relations without those of the hierarchy (see "parents changed")."""
        related: dict[str, dict[str, None]] = {}
        for relation, other in self.db.execute(_RELATED.format(base=self.alias), (row,)):
            related.setdefault(self.labels[relation], {})[other] = None
        related.pop(ISA, None)
        return related

    def maps(self, row: int) -> dict[str, dict[str, None]]:
        """List a concept's mapped codes with their relation ("E11 broader"), by vocabulary."""
        mapped: dict[str, dict[str, None]] = {}
        for vocabulary, code, relation in self.db.execute(_MAPPED.format(base=self.alias), (row,)):
            text = f"{code} {self.labels[relation]}".strip()
            mapped.setdefault(self.labels[vocabulary], {})[text] = None
        return mapped


def _lone_concepts(
    db: sqlite3.Connection, before: _Side, after: _Side, new: KnowledgeBase
) -> Iterator[Change]:
    for id, name, *rows in db.execute(_ONLY_IN.format(one="new", other="old")):
        _note(db, "come", id, [row[:2] for row in after.names(*rows)])
        yield Change("concept new", id, text=name)
    for id, name, *rows in db.execute(_ONLY_IN.format(one="old", other="new")):
        _note(db, "gone", id, [row[:2] for row in before.names(*rows)])
        if successor := new.resolve(id):
            yield Change("concept merged", id, successor, name)
        else:
            query = "SELECT 1 FROM new.retired WHERE id = ?"
            is_retired = db.execute(query, (id,)).fetchone()
            yield Change("concept retired" if is_retired else "concept vanished", id, text=name)


def _shared_concepts(db: sqlite3.Connection, before: _Side, after: _Side) -> Iterator[Change]:
    for id, old_row, new_row, old_name, name, *rest in db.execute(_SHARED):
        old_names, new_names = before.names(*rest[:2]), after.names(*rest[2:4])
        of_names: list[Change] = []
        if old_names != new_names:
            of_names, gone, come = _name_changes(id, old_names, new_names)
            _note(db, "gone", id, gone)
            _note(db, "come", id, come)
        if old_name != name:
            yield Change("concept renamed", id, id, f"{old_name} -> {name}")
        if rest[4:8] != rest[8:]:
            yield from _fact_changes(id, name, rest[4:8], rest[8:])
        for change, had, has in (
            ("relations changed", before.relations(old_row), after.relations(new_row)),
            ("maps changed", before.maps(old_row), after.maps(new_row)),
        ):
            yield from _value_changes(change, id, name, had, has)
        yield from of_names


def _fact_changes(id: str, name: str, old: Sequence[str], new: Sequence[str]) -> Iterator[Change]:
    """Compare types, codes, parents and definition; another order of values is no change."""
    codes = [load_codes(columns[1]) for columns in (old, new)]
    yield from _value_changes("codes changed", id, name, *codes)
    for change, column in (("types changed", 0), ("parents changed", 2)):
        values = [{"": load_list(columns[column])} for columns in (old, new)]
        yield from _value_changes(change, id, name, *values)
    if old[3] != new[3]:
        yield Change("definition changed", id, text=name, before=old[3], after=new[3])


def _value_changes(
    change: str,
    id: str,
    name: str,
    old: Mapping[str, Collection[str]],
    new: Mapping[str, Collection[str]],
) -> Iterator[Change]:
    """List the labels whose sets of values differ, such as vocabularies and their codes."""
    for label in sorted({*old, *new}):
        had, has = old.get(label, ()), new.get(label, ())
        if set(had) != set(has):
            yield Change(change, id, "", name, "", label, ", ".join(had), ", ".join(has))


def _name_changes(
    id: str, old: Sequence[_NameRow], new: Sequence[_NameRow]
) -> tuple[list[Change], list[_NameKey], list[_NameKey]]:
    """List the changes of names that stay, the names that were dropped, and those that are new."""
    before, after = ({name[:2]: name[2:] for name in names} for names in (old, new))
    staying = [
        Change(f"name {what} changed", id, "", *name, before=had, after=has)
        for name in before
        if name in after
        for what, had, has in zip(_OF_NAMES, before[name], after[name], strict=True)
        if had != has
    ]
    gone = [name for name in before if name not in after]
    come = [name for name in after if name not in before]
    for text, lang in list(gone):
        langs = [lang_now for new_text, lang_now in come if new_text == text]
        if len(langs) == 1 and sum(old_text == text for old_text, _ in gone) == 1:
            staying.append(
                Change("name language changed", id, "", text, langs[0], before=lang, after=langs[0])
            )
            gone.remove((text, lang))
            come.remove((text, langs[0]))
    return staying, gone, come


def _note(db: sqlite3.Connection, table: str, id: str, names: Iterable[_NameKey]) -> None:
    db.executemany(f"INSERT INTO {table} VALUES (?,?,?)", [(*name, id) for name in names])


def gold_changes(old: KnowledgeBase, new: KnowledgeBase, gold: Path) -> Iterator[Change]:
    """Stream what becomes of the links of a gold file, mention by mention."""
    return (change for mention in _mentions_of(gold) for change in _of_mention(old, new, mention))


def _mentions_of(gold: Path) -> Iterator[GoldMention]:
    return (mention for document in read_gold(gold) for mention in document.mentions)


def _of_mention(old: KnowledgeBase, new: KnowledgeBase, mention: GoldMention) -> Iterator[Change]:
    """List what changes for a mention: of its ids, and whether its text finds one of them."""
    wanted = set(mention.ids)
    for id in mention.ids:
        was_there, is_there = id in old, id in new
        successor = ""
        if was_there and not is_there:
            successor = new.resolve(id) or ""
            change = "gold merged" if successor else "gold lost"
        else:
            change = "" if was_there else "gold gained" if is_there else "gold unknown"
        if change:
            yield Change(change, id, successor, mention.text)
        wanted.add(successor)
    was_findable, is_findable = (
        any(concept.id in wanted for concept in kb.find(mention.text)) for kb in (old, new)
    )
    if was_findable != is_findable:
        change = "gold findable" if is_findable else "gold unfindable"
        yield Change(change, "|".join(mention.ids), text=mention.text)
