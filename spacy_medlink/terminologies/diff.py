"""The differences between two knowledge bases, found in bounded memory by joins of both files."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ..errors import Errors
from ..kb.browse import verify
from ..kb.gold import GoldMention, read_gold
from ..kb.knowledge_base import KnowledgeBase
from ..kb.schema import load_codes, load_list
from ..kb.scratch import scratch

# Names that concepts of only one of the knowledge bases have; some have moved to another concept.
_TABLES = """
CREATE TABLE gone (text TEXT, lang TEXT, id TEXT);
CREATE TABLE come (text TEXT, lang TEXT, id TEXT);
"""
_NAMES = (
    "SELECT name.text, label.text, concept.id FROM {0}.name JOIN {0}.label ON label.row = lang"
    " JOIN {0}.concept ON concept.row = name.concept"
)
_COMPARE_NAMES = f"""
INSERT INTO gone {_NAMES.format("old")} EXCEPT {_NAMES.format("new")} ORDER BY 3, 1, 2;
INSERT INTO come {_NAMES.format("new")} EXCEPT {_NAMES.format("old")} ORDER BY 3, 1, 2;
CREATE INDEX gone_name ON gone (text, lang);
CREATE INDEX come_name ON come (text, lang);
"""
# The ids that only one of the knowledge bases has, in the order of their rows.
_ONLY_IN = (
    "SELECT id, name FROM {one}.concept AS mine"
    " WHERE NOT EXISTS (SELECT 1 FROM {other}.concept AS theirs WHERE theirs.id = mine.id)"
    " ORDER BY row"
)
_SHARED = (
    "SELECT o.id, o.name, n.name, o.types, o.codes, o.parents, o.definition,"
    " n.types, n.codes, n.parents, n.definition"
    " FROM old.concept AS o JOIN new.concept AS n ON n.id = o.id"
    " WHERE (o.name, o.types, o.codes, o.parents, o.definition)"
    " != (n.name, n.types, n.codes, n.parents, n.definition) ORDER BY o.row"
)
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


class Change(NamedTuple):
    """One difference.

    kind (str): "concept new", "concept retired", "concept merged", "concept vanished" (gone, and
        the new base has no history of it), "concept renamed", "codes changed", "types changed",
        "parents changed", "definition changed"; "name new", "name dropped", "name moved";
        "successor changed" (of a retired id); "gold merged",
        "gold lost", "gold gained" (an id found again), "gold unknown" (in neither), "gold findable"
        and "gold unfindable" (an exact match of the mention has a gold id only now, or no longer).
    id, other (str): the concept, and the concept that replaces it or now has its name.
    text, lang (str): the name, or the mention; the preferred name where a fact has changed.
    label (str): the vocabulary of codes that have changed.
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
    """Stream the differences: concepts in the order of their rows, then names by id.

    RAISES (MedlinkError): E102 for a damaged file, E164 without room for temporary files.
    """
    with scratch(_TABLES) as db:
        for alias, kb in (("old", old), ("new", new)):
            uri = kb.path.absolute().as_uri() + "?mode=ro&immutable=1"
            db.execute(f"ATTACH ? AS {alias}", (uri,))
        try:
            yield from _changes(db, new)
        except (sqlite3.Error, ValueError) as error:
            for kb in (old, new):
                verify(kb)
            if isinstance(error, sqlite3.OperationalError):
                raise
            path = f"{old.path} or {new.path}"
            raise Errors.kb_damaged(path=path, reason=error) from error


def _changes(db: sqlite3.Connection, new: KnowledgeBase) -> Iterator[Change]:
    yield from _lone_concepts(db, new)
    for id, before, name, *rest in db.execute(_SHARED):
        if before != name:
            yield Change("concept renamed", id, id, f"{before} -> {name}")
        yield from _value_changes(id, name, rest[:4], rest[4:])
    for id, heir, other_heir in db.execute(_SUCCESSORS):
        yield Change("successor changed", id, before=heir, after=other_heir)
    db.executescript(_COMPARE_NAMES)
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


def _lone_concepts(db: sqlite3.Connection, new: KnowledgeBase) -> Iterator[Change]:
    for id, name in db.execute(_ONLY_IN.format(one="new", other="old")):
        yield Change("concept new", id, text=name)
    for id, name in db.execute(_ONLY_IN.format(one="old", other="new")):
        if successor := new.resolve(id):
            yield Change("concept merged", id, successor, name)
        else:
            query = "SELECT 1 FROM new.retired WHERE id = ?"
            is_retired = db.execute(query, (id,)).fetchone()
            yield Change("concept retired" if is_retired else "concept vanished", id, text=name)


def _value_changes(id: str, name: str, old: Sequence[str], new: Sequence[str]) -> Iterator[Change]:
    """Compare types, codes, parents and definition; another order of values is no change."""
    for change, before, after in (
        ("codes changed", load_codes(old[1]), load_codes(new[1])),
        ("types changed", {"": load_list(old[0])}, {"": load_list(new[0])}),
        ("parents changed", {"": load_list(old[2])}, {"": load_list(new[2])}),
    ):
        for label in sorted({*before, *after}):
            had, has = before.get(label, ()), after.get(label, ())
            if set(had) != set(has):
                yield Change(change, id, "", name, "", label, ", ".join(had), ", ".join(has))
    if old[3] != new[3]:
        yield Change("definition changed", id, text=name, before=old[3], after=new[3])


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
