"""TableWriter: puts concepts into the tables of an open database, in bounded memory."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, count, groupby, repeat
from operator import attrgetter, itemgetter
from pathlib import Path

import numpy as np

from ..text.normalisation import ENTITY, without_entities
from ..types import ISA, BadLine, CodeMap, Concept, Name, Relation, Retired
from . import schema
from .lookup import LookupSorter
from .vocabularies import by_vocabulary

_CHUNK = 20_000
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
        number = self[text] = len(self)
        return number


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
        self._db = sqlite3.connect(path, isolation_level=None)
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
        names = distinct_names(concept)
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
        number = self._labels.__getitem__
        many(
            "INSERT INTO waiting VALUES (?,?,?,?,?)",
            [
                (row, number(one.relation), one.id, number(one.source), one.inverse)
                for row, one in self._relations
            ],
        )
        many(
            "INSERT OR IGNORE INTO map VALUES (?,?,?,?,?,?)",
            [
                (row, number(one.vocabulary), one.code, number(one.relation), number(one.source),
                 one.note)
                for row, one in self._maps
            ],
        )  # fmt: skip
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
        number = self._labels.__getitem__
        columns = zip(
            count(first), rows, texts, map(number, langs), map(number, sources),
            map(number, ttys), map(int, obsolete),
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
        labels = {row: text for text, row in self._labels.items()}
        self._db.execute("CREATE INDEX temp.waiting_concept ON waiting (concept)")
        pieces = self._db.execute(
            "SELECT id, MIN(row) OVER (PARTITION BY id) AS first, row, first_name, n_names, types,"
            " codes, parents, definition FROM concept ORDER BY first, row"
        )
        waiting: list[Concept] = []
        for id, _, row, first_name, n_names, types, codes, parents, definition in pieces:
            if waiting and waiting[0].id != id:
                yield unite(waiting)
                waiting = []
            rows = self._db.execute(
                "SELECT text, lang, source, tty, obsolete FROM name"
                " WHERE row >= ? AND row < ? ORDER BY row",
                (first_name, first_name + n_names),
            )
            names = tuple(
                Name(text, labels[lang], labels[source], labels[tty], bool(obsolete))
                for text, lang, source, tty, obsolete in rows
            )
            waiting.append(
                Concept(id, names[0].text, names, schema.load_list(types), definition,
                        schema.load_codes(codes), schema.load_list(parents),
                        self._relations_at(row, labels), self._maps_at(row, labels), row)
            )  # fmt: skip
        if waiting:
            yield unite(waiting)

    def _relations_at(self, row: int, labels: Mapping[int, str]) -> tuple[Relation, ...]:
        query = "SELECT relation, id, source, inverse FROM waiting WHERE concept = ?"
        return tuple(
            Relation(labels[relation], other, labels[source], bool(inverse))
            for relation, other, source, inverse in self._db.execute(query, (row,))
        )

    def _maps_at(self, row: int, labels: Mapping[int, str]) -> tuple[CodeMap, ...]:
        query = "SELECT vocabulary, code, relation, source, note FROM map WHERE concept = ?"
        return tuple(
            CodeMap(labels[vocabulary], code, labels[relation], labels[source], note)
            for vocabulary, code, relation, source, note in self._db.execute(query, (row,))
        )

    def retired(self) -> Iterator[Retired]:
        """Read back the histories."""
        for row in self._db.execute("SELECT id, replaced_by, reason FROM retired ORDER BY id"):
            yield Retired(*row)

    def finish(self, facts: Mapping[str, object]) -> None:
        """Sort the look-up table, resolve the hierarchy, write the manifest, commit."""
        self.flush()
        for entries in self._lookup.sorted():
            columns = zip(entries["hash"].tolist(), entries["name"].tolist(), strict=True)
            self._db.executemany("INSERT INTO lookup VALUES (?,?)", columns)
        self._write_edges()
        self._write_relations()
        labels = [(number, text) for text, number in self._labels.items()]
        self._db.executemany("INSERT INTO label VALUES (?,?)", labels)
        manifest = {**facts, **self._counts()}
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

    def _write_relations(self) -> None:
        self._db.execute(_RELATE)
        self._db.execute(schema.RELATION_INDEX)
        texts = {number: text for text, number in self._labels.items()}
        counts = self._db.execute("SELECT relation, count(*) FROM relation GROUP BY relation")
        self.report.by_relation.update({texts[number]: count for number, count in counts})

    def _counts(self) -> dict[str, object]:
        report = self.report
        return {
            "schema": schema.VERSION,
            "concepts": report.concepts,
            "names": report.names,
            "retired": report.retired,
            "merged": report.merged,
            "without_names": report.without_names,
            "missing_parents": report.missing_parents,
            "bad_lines": len(report.bad_lines),
            "by_lang": dict(sorted(report.by_lang.items())),
            "by_source": dict(sorted(report.by_source.items())),
            "by_relation": dict(sorted(report.by_relation.items())),
        }


def distinct_names(concept: Concept) -> list[Name]:
    """List a concept's names, the preferred one first, each (text, language) once.

    Equal names get the sources of all of them, so that a filter by any of these sources keeps them.
    """
    names = concept.names
    if _is_plain(concept):
        return list(names)
    found: dict[tuple[str, str], Name] = {}
    preferred = next((name for name in names if name.text == concept.name), None)
    if preferred is None and concept.name.strip():
        preferred = Name(concept.name)
    for name in (preferred, *names) if preferred is not None else names:
        text = _tidied(name.text)
        if not text:
            continue
        known = found.get((text, name.lang))
        if known is None:
            found[text, name.lang] = name if name.text == text else name._replace(text=text)
        elif name is not preferred:
            found[text, name.lang] = _with_sources_of(known, name)
    return list(found.values())


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
        relations=tuple(dict.fromkeys(one for piece in pieces for one in piece.relations)),
        maps=tuple(dict.fromkeys(one for piece in pieces for one in piece.maps)),
    )


def _relations(concept: Concept, parents: Iterable[str]) -> list[Relation]:
    """List the relations of a concept, including those to parents without a stated source."""
    told = {one.id for one in concept.relations if one.relation == ISA}
    untold = [Relation(ISA, parent) for parent in parents if parent not in told]
    return [*concept.relations, *untold]


def _ordered(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _with_sources_of(known: Name, other: Name) -> Name:
    sources = "|".join(dict.fromkeys(f"{known.source}|{other.source}".strip("|").split("|")))
    return known._replace(source=sources, obsolete=known.obsolete and other.obsolete)


def united(pieces: Iterable[Concept]) -> Iterator[Concept]:
    """Merge consecutive pieces of one id.

    The builder merges pieces that are not consecutive, so that memory stays bounded here.
    """
    for _, group in groupby(pieces, key=attrgetter("id")):
        yield unite(list(group))
