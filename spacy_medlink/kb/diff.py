"""The differences between two knowledge bases, found in bounded memory.

Joins over the two files compare the concepts. Names that a concept has lost or gained are noted in
a temporary file, to see which of them have moved to another concept.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ..types import ISA
from .gold import GoldMention, read_gold
from .knowledge_base import KnowledgeBase
from .scratch import scratch

NameRow = tuple[str, str, str, str, bool]
"""Text, language, source, term type, obsolete."""

_FACTS = ("source", "term type", "obsolete")


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


class Facts(NamedTuple):
    """Columns of a concept, as its table has them."""

    types: str
    codes: str
    parents: str
    definition: str


def fact_changes(id: str, name: str, old: Facts, new: Facts) -> Iterator[Change]:
    """List the changes of a concept's facts; another order of values is no change.

    name (str): its preferred name now.
    """
    if old.codes != new.codes:
        had, has = _mapping(old.codes), _mapping(new.codes)
        yield from value_changes("codes changed", id, name, had, has)
    for kind, one, other in (
        ("types", old.types, new.types),
        ("parents", old.parents, new.parents),
    ):
        before, after = _list(one), _list(other)
        if one != other and set(before) != set(after):
            yield _change(f"{kind} changed", id, name, before, after)
    if old.definition != new.definition:
        said = (old.definition, new.definition)
        yield Change("definition changed", id, text=name, before=said[0], after=said[1])


def name_changes(
    id: str, had: Sequence[NameRow], has: Sequence[NameRow]
) -> tuple[list[Change], list[tuple[str, str]], list[tuple[str, str]]]:
    """Compare the names of a concept.

    RETURNS: the changes of names that stay; the names (text, language) that were dropped; the names
        that are new.
    """
    before = {name[:2]: name for name in had}
    after = {name[:2]: name for name in has}
    found = [
        Change(f"name {fact} changed", id, "", *key, before=_said(one), after=_said(other))
        for key in before if key in after
        for fact, one, other in zip(_FACTS, before[key][2:], after[key][2:], strict=True)
        if one != other
    ]  # fmt: skip
    gone = [key for key in before if key not in after]
    come = [key for key in after if key not in before]
    for text, lang in list(gone):
        langs = [other for own, other in come if own == text]
        if len(langs) == 1 and sum(own == text for own, _ in gone) == 1:
            found.append(
                Change("name language changed", id, "", text, langs[0], before=lang, after=langs[0])
            )
            gone.remove((text, lang))
            come.remove((text, langs[0]))
    return found, gone, come


def value_changes(
    kind: str,
    id: str,
    name: str,
    old: Mapping[str, Collection[str]],
    new: Mapping[str, Collection[str]],
) -> Iterator[Change]:
    """List the labels whose sets of values differ, such as vocabularies and their codes."""
    for label in sorted({*old, *new}):
        before, after = old.get(label, ()), new.get(label, ())
        if set(before) != set(after):
            yield _change(kind, id, name, before, after)._replace(label=label)


def _change(kind: str, id: str, name: str, old: Iterable[str], new: Iterable[str]) -> Change:
    return Change(kind, id, text=name, before=", ".join(old), after=", ".join(new))


def _list(text: str) -> list[str]:
    return list(json.loads(text)) if text else []


def _mapping(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(text) if text else {}
    return found


def _said(value: Any) -> str:
    return ("obsolete" if value else "in use") if isinstance(value, bool) else str(value)


__all__ = ["Change", "KbDiff", "Total", "changes", "diff", "gold_changes"]

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

    def note(self, found: Iterable[Change], examples: int) -> None:
        """Count changes, and keep the first of each kind."""
        for change in found:
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
    found = KbDiff(totals=list(_totals(old, new)))
    found.note(changes(old, new), examples)
    if gold is not None:
        verdict = gold_verdict(old, new)
        for mention in mentions_of(gold):
            found.gold_links += len(mention.ids)
            found.note(verdict(mention), examples)
    return found


def changes(old: KnowledgeBase, new: KnowledgeBase) -> Iterator[Change]:
    """Stream the differences: concepts first, in the order of their rows, then names."""
    labels = {"old": old.labels, "new": new.labels}
    with scratch(_TABLES) as db:
        for name, base in (("old", old), ("new", new)):
            uri = base.path.absolute().as_uri() + "?mode=ro&immutable=1"
            db.execute(f"ATTACH ? AS {name}", (uri,))
        db.execute("BEGIN")
        yield from _lone_concepts(db, new, labels)
        yield from _shared_concepts(db, labels)
        for id, before, after in db.execute(_SUCCESSORS):
            yield Change("successor changed", id, before=before, after=after)
        db.execute("COMMIT")
        db.executescript(_INDICES)
        yield from _named(db, "name moved", _MOVED)
        yield from _named(db, "name dropped", _UNMATCHED.format(one="gone", other="come"))
        yield from _named(db, "name new", _UNMATCHED.format(one="come", other="gone"))


def _totals(old: KnowledgeBase, new: KnowledgeBase) -> Iterator[Total]:
    """List the counts of both, including equal ones."""
    yield Total("concepts", "", len(old), len(new))
    yield Total("names", "", old.n_names, new.n_names)
    retired = [int(base.manifest.get("retired", 0)) for base in (old, new)]
    yield Total("retired ids", "", *retired)
    for what, one, other in (
        ("names by language", old.manifest.get("by_lang", {}), new.manifest.get("by_lang", {})),
        ("names by source", old.manifest.get("by_source", {}), new.manifest.get("by_source", {})),
        ("concepts with codes", old.count_codes(), new.count_codes()),
        ("relations", old.manifest.get("by_relation", {}), new.manifest.get("by_relation", {})),
    ):
        for label in sorted({*one, *other}):
            yield Total(what, label, one.get(label, 0), other.get(label, 0))


_Labels = Mapping[str, Mapping[int, str]]


def _lone_concepts(db: sqlite3.Connection, new: KnowledgeBase, labels: _Labels) -> Iterator[Change]:
    for id, name, *place in db.execute(_ONLY_IN.format(one="new", other="old")):
        _note(db, "come", id, [row[:2] for row in _names(db, "new", labels, *place)])
        yield Change("concept new", id, text=name)
    for id, name, *place in db.execute(_ONLY_IN.format(one="old", other="new")):
        _note(db, "gone", id, [row[:2] for row in _names(db, "old", labels, *place)])
        successor = new.resolve(id)
        if successor:
            yield Change("concept merged", id, successor, name)
        else:
            known = db.execute("SELECT 1 FROM new.retired WHERE id = ?", (id,)).fetchone()
            yield Change("concept retired" if known else "concept vanished", id, text=name)


def _shared_concepts(db: sqlite3.Connection, labels: _Labels) -> Iterator[Change]:
    for id, old_row, new_row, *rest in db.execute(_SHARED):
        old_name, new_name, first, count, new_first, new_count, *facts = rest
        had = _names(db, "old", labels, first, count)
        has = _names(db, "new", labels, new_first, new_count)
        found: list[Change] = []
        if had != has:
            found, gone, come = name_changes(id, had, has)
            _note(db, "gone", id, gone)
            _note(db, "come", id, come)
        if old_name != new_name:
            yield Change("concept renamed", id, id, f"{old_name} -> {new_name}")
        if facts[:4] != facts[4:]:
            yield from fact_changes(id, new_name, Facts(*facts[:4]), Facts(*facts[4:]))
        was, now = _related(db, "old", labels, old_row), _related(db, "new", labels, new_row)
        yield from value_changes("relations changed", id, new_name, was, now)
        was, now = _mapped(db, "old", labels, old_row), _mapped(db, "new", labels, new_row)
        yield from value_changes("maps changed", id, new_name, was, now)
        yield from found


def _names(
    db: sqlite3.Connection, base: str, labels: _Labels, first: int, count: int
) -> list[NameRow]:
    text_of = labels[base]
    rows = db.execute(_NAMES.format(base=base), (first, first + count))
    return [
        (text, text_of[lang], text_of[source], text_of[tty], bool(obsolete))
        for text, lang, source, tty, obsolete in rows
    ]


def _related(
    db: sqlite3.Connection, base: str, labels: _Labels, row: int
) -> dict[str, dict[str, None]]:
    """List a concept's relations without those of the hierarchy (see "parents changed")."""
    found: dict[str, dict[str, None]] = {}
    for relation, other in db.execute(_RELATED.format(base=base), (row,)):
        found.setdefault(labels[base][relation], {})[other] = None
    found.pop(ISA, None)
    return found


def _mapped(
    db: sqlite3.Connection, base: str, labels: _Labels, row: int
) -> dict[str, dict[str, None]]:
    """List a concept's mapped codes with their relation ("E11 broader"), by vocabulary."""
    found: dict[str, dict[str, None]] = {}
    for vocabulary, code, relation in db.execute(_MAPPED.format(base=base), (row,)):
        said = f"{code} {labels[base][relation]}"
        found.setdefault(labels[base][vocabulary], {})[said.strip()] = None
    return found


def _note(db: sqlite3.Connection, table: str, id: str, names: Iterable[tuple[str, str]]) -> None:
    db.executemany(f"INSERT INTO {table} VALUES (?,?,?)", [(*name, id) for name in names])


def _named(db: sqlite3.Connection, kind: str, query: str) -> Iterator[Change]:
    for row in db.execute(query):
        yield Change(kind, *row)


def gold_changes(old: KnowledgeBase, new: KnowledgeBase, gold: Path) -> Iterator[Change]:
    """Stream what becomes of the links of a gold file, mention by mention."""
    verdict = gold_verdict(old, new)
    for mention in mentions_of(gold):
        yield from verdict(mention)


def mentions_of(gold: Path) -> Iterator[GoldMention]:
    """Stream the mentions of a gold file."""
    return (mention for document in read_gold(gold) for mention in document.mentions)


def gold_verdict(
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
