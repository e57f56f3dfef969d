"""TableWriter: puts concepts into the tables of an open database, in bounded memory."""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, count, groupby, repeat
from operator import attrgetter, itemgetter
from pathlib import Path

import numpy as np

from ..text.normalisation import ENTITY, key, without_entities
from ..types import ISA, BadLine, CodeMap, Concept, Name, Relation, Retired
from . import schema
from .database import ClosingConnection
from .lookup import LookupSorter
from .schema import concept_of, name_of
from .vocabularies import by_vocabulary

_CHUNK = 20_000
_LONG = 5  # letters of a word that is longer than the parts of most symbols
_LONG_WORD = re.compile(rf"[^\W\d_]{{{_LONG}}}")
# Relations wait in a temporary SQLite file until the rows of their target concepts are known.
_WAITING = (
    "CREATE TEMP TABLE waiting (concept INTEGER, relation INTEGER, id TEXT, source INTEGER,"
    " inverse INTEGER)"
)
_RELATE = (
    "INSERT OR IGNORE INTO relation SELECT"
    " CASE inverse WHEN 0 THEN concept ELSE other.row END, relation,"
    " CASE inverse WHEN 0 THEN other.row ELSE concept END, source"
    " FROM waiting CROSS JOIN concept AS other ON other.id = waiting.id ORDER BY 1, 2, 3, 4"
)

# What is read back where records of one id must be merged.
_PIECES = (
    "SELECT row, id, name, first_name, n_names, types, codes, parents, definition,"
    " MIN(row) OVER (PARTITION BY id) AS first FROM concept ORDER BY first, row"
)
_NAMES = (
    "SELECT text, lang, source, tty, obsolete FROM name WHERE row >= ? AND row < ? ORDER BY row"
)
_RELATED = "SELECT relation, id, source, inverse FROM waiting WHERE concept = ?"
_MAPPED = "SELECT vocabulary, code, relation, source, note FROM map WHERE concept = ?"


@dataclass
class BuildReport:
    """The counts of what a build wrote and left out."""

    concepts: int = 0
    names: int = 0
    retired: int = 0
    merged: int = 0
    without_names: int = 0
    missing_parents: int = 0
    bad_lines: list[BadLine] = field(default_factory=list)
    by_lang: Counter[str] = field(default_factory=Counter)
    by_source: Counter[str] = field(default_factory=Counter)
    by_relation: Counter[str] = field(default_factory=Counter)


class _Numbers(dict[str, int]):
    """Numbers strings in the order in which they are first asked for."""

    def __missing__(self, text: str) -> int:
        label = self[text] = len(self)
        return label


class TableWriter:
    """Writes one database file. Ids may repeat; `index_ids` tells whether they did."""

    def __init__(self, path: Path) -> None:
        self.report = BuildReport()
        self._labels = _Numbers()
        self._concepts: list[tuple[int, str, str, int, int, str, str, str, str]] = []
        self._names: list[Name] = []
        self._relations: list[tuple[int, Relation]] = []
        self._maps: list[tuple[int, CodeMap]] = []
        self._retired: list[tuple[str, str, str]] = []
        self._db = sqlite3.connect(path, isolation_level=None, factory=ClosingConnection)
        # The new file is complete and fsynced before the swap, so a journal would only cost time.
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._db.execute("PRAGMA cache_size = -65536")
        self._db.execute("PRAGMA temp_store = FILE")  # where relations wait, however many
        schema.create(self._db)
        self._db.execute(_WAITING)
        self._db.execute("BEGIN")
        self._lookup = LookupSorter(path.with_name(path.name + ".lookup"))

    def add_concept(self, concept: Concept) -> None:
        """Add a concept; a concept without any name is counted and left out."""
        names = readable_first(distinct_names(concept))
        if not names:
            self.report.without_names += 1
            return
        report, parents = self.report, concept.parents
        if len(parents) > 1:
            parents = _ordered(parents)
        self._names += names
        if parents or concept.relations:
            self._relations += zip(repeat(report.concepts), _relations(concept, parents))
        self._maps += zip(repeat(report.concepts), concept.maps)
        self._concepts.append(
            (report.concepts, concept.id, names[0].text, report.names, len(names),
             schema.dump_list(concept.types), schema.dump_codes(concept.codes),
             schema.dump_list(parents), concept.definition)
        )  # fmt: skip
        report.concepts += 1
        report.missing_parents += len(parents)
        report.names += len(names)
        if len(self._names) >= _CHUNK:
            self.flush()

    def add_retired(self, retired: Retired) -> None:
        """Add the history of an id; the first record of an id counts."""
        self._retired.append((retired.id, retired.replaced_by, retired.reason))
        self.report.retired += 1
        if len(self._retired) >= _CHUNK:
            self.flush()

    def flush(self) -> None:
        """Hand the waiting rows to SQLite."""
        many = self._db.executemany
        many("INSERT INTO concept VALUES (?,?,?,?,?,?,?,?,?)", self._concepts)
        if self._names:
            self._flush_names()
        label_of = self._labels.__getitem__
        many(
            "INSERT INTO waiting VALUES (?,?,?,?,?)",
            [
                (row, label_of(item.relation), item.id, label_of(item.source), item.inverse)
                for row, item in self._relations
            ],
        )
        many(
            "INSERT OR IGNORE INTO map VALUES (?,?,?,?,?,?)",
            [
                (row, label_of(vocabulary), code, label_of(relation), label_of(source), note)
                for row, (vocabulary, code, relation, source, note) in self._maps
            ],
        )
        many("INSERT OR IGNORE INTO retired VALUES (?,?,?)", self._retired)
        self._concepts.clear()
        self._names.clear()
        self._relations.clear()
        self._maps.clear()
        self._retired.clear()

    def _flush_names(self) -> None:
        # Column by column, because a loop in Python over every name would cost minutes.
        texts, langs, sources, ttys, obsolete = (
            list(map(itemgetter(column), self._names)) for column in range(len(Name._fields))
        )
        first = self.report.names - len(texts)
        rows = chain.from_iterable(repeat(concept[0], concept[4]) for concept in self._concepts)
        label_of = self._labels.__getitem__
        columns = zip(
            count(first), rows, texts, map(label_of, langs), map(label_of, sources),
            map(label_of, ttys), map(int, obsolete),
        )  # fmt: skip
        self._db.executemany("INSERT INTO name VALUES (?,?,?,?,?,?,?)", columns)
        self._lookup.add(first, texts)
        self.report.by_lang.update(langs)
        self.report.by_source.update(sources)

    def index_ids(self) -> bool:
        """Index the ids.

        RETURNS (bool): False when an id occurs twice, so that its records must be merged.
        """
        self.flush()
        try:
            self._db.execute(schema.CONCEPT_INDEX)
        except sqlite3.IntegrityError:
            return False
        return True

    def merged(self) -> Iterator[Concept]:
        """Read the concepts back, records of one id merged, in the order of their first records."""
        self._db.execute("CREATE INDEX temp.waiting_concept ON waiting (concept)")
        return united(self._pieces())

    def _pieces(self) -> Iterator[Concept]:
        labels = {row: text for text, row in self._labels.items()}
        for *row, _ in self._db.execute(_PIECES):
            names = self._db.execute(_NAMES, (row[3], row[3] + row[4]))
            related, mapped = (self._db.execute(query, row[:1]) for query in (_RELATED, _MAPPED))
            yield replace(
                concept_of(row, tuple(name_of(name, labels) for name in names)),
                relations=tuple(
                    Relation(labels[relation], id, labels[source], bool(inverse))
                    for relation, id, source, inverse in related
                ),
                maps=tuple(
                    CodeMap(labels[vocabulary], code, labels[relation], labels[source], note)
                    for vocabulary, code, relation, source, note in mapped
                ),
            )

    def retired(self) -> Iterator[Retired]:
        """Read back the histories."""
        for row in self._db.execute("SELECT id, replaced_by, reason FROM retired ORDER BY id"):
            yield Retired(*row)

    def finish(self, given: Mapping[str, object]) -> None:
        """Sort the look-up table, resolve the hierarchy, write the manifest, commit."""
        self.flush()
        for entries in self._lookup.sorted():
            columns = zip(entries["hash"].tolist(), entries["name"].tolist(), strict=True)
            self._db.executemany("INSERT INTO lookup VALUES (?,?)", columns)
        self._write_edges()
        self._db.execute(_RELATE)
        self._db.execute(schema.RELATION_INDEX)
        texts = {label: text for text, label in self._labels.items()}
        relations = self._db.execute("SELECT relation, count(*) FROM relation GROUP BY relation")
        self.report.by_relation.update({texts[label]: count for label, count in relations})
        labels = [(label, text) for text, label in self._labels.items()]
        self._db.executemany("INSERT INTO label VALUES (?,?)", labels)
        counts = {
            name: dict(sorted(value.items())) if isinstance(value, Counter) else value
            for name, value in vars(self.report).items()
        }
        bad_lines = len(self.report.bad_lines)
        manifest = {**given, **counts, "schema": schema.VERSION, "bad_lines": bad_lines}
        rows = [(name, json.dumps(manifest[name], sort_keys=True)) for name in sorted(manifest)]
        self._db.executemany("INSERT INTO meta VALUES (?,?)", rows)
        self._db.execute("COMMIT")

    def close(self) -> None:
        """Close the database; without `finish` the file is incomplete."""
        self._lookup.close()
        self._db.close()

    def _write_edges(self) -> None:
        cursor = self._db.execute(
            "INSERT INTO edge SELECT above.row, concept.row"
            " FROM concept, json_each(concept.parents) AS parent"
            " JOIN concept AS above ON above.id = parent.value"
            " WHERE concept.parents != '' ORDER BY 1, 2"
        )
        self.report.missing_parents -= cursor.rowcount
        edges = np.fromiter(chain.from_iterable(self._db.execute(schema.EDGES)), schema.EDGE)
        self._db.execute("INSERT INTO hierarchy VALUES (?)", (edges.data,))


def distinct_names(concept: Concept) -> list[Name]:
    """List a concept's names, the preferred one first, each (text, language) once.

    Equal names get the sources of all of them, so that a filter by any of these sources keeps them.
    """
    names = concept.names
    if _is_plain(concept):
        return list(names)
    distinct: dict[tuple[str, str], Name] = {}
    preferred = next((name for name in names if name.text == concept.name), None)
    if preferred is None and concept.name.strip():
        preferred = Name(concept.name)
    for name in (preferred, *names) if preferred is not None else names:
        text = _tidied(name.text)
        first = distinct.get((text, name.lang))
        if text and first is None:
            distinct[text, name.lang] = name if name.text == text else name._replace(text=text)
        elif first is not None and name is not preferred:
            sources = dict.fromkeys(f"{first.source}|{name.source}".strip("|").split("|"))
            is_old = first.obsolete and name.obsolete
            distinct[text, name.lang] = first._replace(source="|".join(sources), obsolete=is_old)
    return list(distinct.values())


def readable_first(names: list[Name]) -> list[Name]:
    """Put a name first that a reader is shown, where the first one is in CAPITALS.

    It is one in use, in the same language and not in capitals itself: the same words, if there are
    such, else the name of most sources. "HTN" and "ALG2-CDG", short forms and symbols, stay first.
    """
    if not names or not _is_shouted(names[0].text):
        return names
    first = names[0]
    others = [
        name for name in names
        if name.lang == first.lang and not (
            name.obsolete or name.text.isupper() or _is_shouted(name.text)
        )
    ]  # fmt: skip
    shown = min(
        others,
        key=lambda name: (key(name.text) != key(first.text), -len(name.source.split("|"))),
        default=first,
    )
    return [shown, *(name for name in names if name is not shown)]


def _is_shouted(text: str) -> bool:
    """Tell whether a name is in capitals, or several long words of it are."""
    if text.isupper():
        return _LONG_WORD.search(text) is not None
    return sum(word.isupper() and len(word) >= _LONG for word in text.split()) > 1


def _is_plain(concept: Concept) -> bool:
    """Tell quickly whether a concept's names need no change, as those of most concepts."""
    names = concept.names
    if not names or names[0].text != concept.name:
        return False
    texts = [name.text for name in names]
    joined = f"|{'|'.join(texts)}|"
    return (
        joined.isprintable()
        and not ("&" in joined and ENTITY.search(joined))
        and "  " not in joined and "| " not in joined and " |" not in joined and "||" not in joined
        and len(set(texts)) == len(texts)
    )  # fmt: skip


def _tidied(text: str) -> str:
    text = " ".join(without_entities(text).split())
    # JSON can contain half a surrogate pair, which is no character and cannot be stored.
    return text if text.isprintable() else text.encode(errors="replace").decode()


def unite(pieces: list[Concept]) -> Concept:
    """Merge records of one id: the preferred name of the first, the names and codes of all."""
    if len(pieces) == 1:
        return pieces[0]
    return Concept(
        id=pieces[0].id,
        name=pieces[0].name,
        names=tuple(name for piece in pieces for name in piece.names),
        types=_ordered(value for piece in pieces for value in piece.types),
        definition=next((piece.definition for piece in pieces if piece.definition), ""),
        codes=by_vocabulary(
            (vocabulary, code)
            for piece in pieces
            for vocabulary, codes in piece.codes.items()
            for code in codes
        ),
        parents=_ordered(value for piece in pieces for value in piece.parents),
        relations=tuple(dict.fromkeys(item for piece in pieces for item in piece.relations)),
        maps=tuple(dict.fromkeys(item for piece in pieces for item in piece.maps)),
    )


def _relations(concept: Concept, parents: Iterable[str]) -> list[Relation]:
    """List the relations of a concept, including those to parents without a stated source."""
    told = {relation.id for relation in concept.relations if relation.relation == ISA}
    untold = [Relation(ISA, parent) for parent in parents if parent not in told]
    return [*concept.relations, *untold]


def _ordered(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def united(pieces: Iterable[Concept]) -> Iterator[Concept]:
    """Merge consecutive pieces of one id.

    The builder merges pieces that are not consecutive, so that memory stays bounded here.
    """
    for _, group in groupby(pieces, key=attrgetter("id")):
        yield unite(list(group))
