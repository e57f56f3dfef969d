"""KnowledgeBase: reads the concepts and names of one SQLite file, from any thread or process."""

import json
import os
import re
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Errors
from ..text import hash_key, key
from ..types import Concept, Ints1d, Name, Retired
from . import schema
from .entities import EntitiesById
from .semantic_groups import groups_of

_CONCEPT = (
    "SELECT row, id, name, first_name, n_names, types, codes, parents, definition FROM concept"
)
_NAME = "SELECT text, lang, source, tty, obsolete FROM name"
_SEARCH = (
    "SELECT concept, row FROM (SELECT concept, row, begins, size, row_number() OVER"
    " (PARTITION BY concept ORDER BY begins DESC, size, row) AS place FROM"
    " (SELECT concept, row, text LIKE ? ESCAPE '\\' AS begins, length(text) AS size FROM name"
    " WHERE text LIKE ? ESCAPE '\\')) WHERE place = 1 ORDER BY begins DESC, size, row LIMIT ?"
)
_SHARED = (
    "SELECT code.value, group_concat(concept.row) FROM concept, json_each(concept.codes) AS own,"
    " json_each(own.value) AS code WHERE concept.codes != '' AND own.key = ?"
    " GROUP BY code.value HAVING count(*) > 1"
)
_LONGEST_SEARCH = 5000
_load_types = lru_cache(4096)(schema.load_list)  # few lists are those of many concepts
_SIGNED = 1 << 63
_WRAP = 1 << 64


class KnowledgeBase:
    """A terminology on disk, opened read-only by path; nothing but the path is kept in memory.

    Safe to share between threads (each gets its own connection), to pickle and to use after a fork
    (children open the file anew).

    path (Path): a file that `medlink kb build` wrote.
    RAISES (MedlinkError): E101 no file, E102 not a knowledge base, E103 of another schema.

    EXAMPLE:
        >>> kb = KnowledgeBase("hpo.kb")
        >>> kb["HP:0001250"].name
        'Seizure'
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._local = threading.local()
        self._shared: dict[str, dict[str, tuple[int, ...]]] = {}
        _ = self._db  # a bad file should be met here, not at the first look-up

    def __getstate__(self) -> dict[str, Path]:
        return {"path": self.path}

    def __setstate__(self, state: Mapping[str, Path]) -> None:
        self.path = state["path"]
        self._local = threading.local()
        self._shared = {}

    def __repr__(self) -> str:
        return f"KnowledgeBase({str(self.path)!r}, {len(self):,} concepts, {self.n_names:,} names)"

    def __len__(self) -> int:
        return int(self.manifest["concepts"])

    def __contains__(self, id: object) -> bool:
        return self._db.execute("SELECT 1 FROM concept WHERE id = ?", (id,)).fetchone() is not None

    def __getitem__(self, id: str) -> Concept:
        """Get a concept by its id.

        RAISES (KeyError): when there is none; `resolve` follows retired ids.
        """
        row = self._db.execute(f"{_CONCEPT} WHERE id = ?", (id,)).fetchone()
        if row is None:
            raise KeyError(Errors.unknown_concept(path=self.path, id=id).message)
        return self._concept(row)

    def __iter__(self) -> Iterator[Concept]:
        """Stream all concepts in the order of their rows, in bounded memory."""
        labels, db = self._labels, self._db
        rows = db.execute(f"{_CONCEPT} ORDER BY row")
        names = db.execute(f"{_NAME} ORDER BY row")
        for row in rows:
            own = names.fetchmany(row[4])
            yield _concept(row, tuple(_name(name, labels) for name in own))

    @property
    def n_names(self) -> int:
        """Number of names, which is one more than the highest name row."""
        return int(self.manifest["names"])

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """Facts about the build: sources, filters, counts by language and source."""
        rows = self._db.execute("SELECT key, value FROM meta ORDER BY key")
        return {name: json.loads(value) for name, value in rows}

    @property
    def cui_to_entity(self) -> EntitiesById:
        """The concepts by id as scispaCy's users know them: `kb.cui_to_entity[cui]`."""
        return EntitiesById(self)

    def row_of(self, id: str) -> int:
        """Get the row of a concept by its id.

        RAISES (KeyError): when there is none.
        """
        row = self._db.execute("SELECT row FROM concept WHERE id = ?", (id,)).fetchone()
        if row is None:
            raise KeyError(Errors.unknown_concept(path=self.path, id=id).message)
        return int(row[0])

    def concept_at(self, row: int, names: bool = True) -> Concept:
        """Get the concept of a row, 0 <= row < len(self).

        names (bool): read its names, too; without them `names` is (), in a third of the time.
        """
        found = self._db.execute(f"{_CONCEPT} WHERE row = ?", (row,)).fetchone()
        return self._concept(found) if names else _concept(found, ())

    def brief_at(self, row: int) -> tuple[str, str, tuple[str, ...]]:
        """Get (id, preferred name, types) of the concept of a row, sooner than `concept_at`."""
        query = "SELECT id, name, types FROM concept WHERE row = ?"
        id, name, types = self._db.execute(query, (row,)).fetchone()
        return id, name, _load_types(types)

    def codes_at(self, row: int) -> dict[str, tuple[str, ...]]:
        """Get the codes, by vocabulary, of the concept of a row."""
        query = "SELECT codes FROM concept WHERE row = ?"
        (codes,) = self._db.execute(query, (row,)).fetchone()
        return schema.load_codes(codes)

    def text_at(self, row: int) -> str:
        """Get the text of the name of a row, 0 <= row < n_names."""
        (text,) = self._db.execute("SELECT text FROM name WHERE row = ?", (row,)).fetchone()
        return str(text)

    def name_at(self, row: int) -> Name:
        """Get the name of a row, 0 <= row < n_names."""
        return _name(self._db.execute(f"{_NAME} WHERE row = ?", (row,)).fetchone(), self._labels)

    def iter_names(self, first: int = 0, last: int | None = None) -> Iterator[tuple[int, Name]]:
        """Stream (concept row, name) in the order of the names' rows: first <= row < last."""
        labels = self._labels
        last = self.n_names if last is None else last
        query = "SELECT concept, text, lang, source, tty, obsolete FROM name"
        rows = self._db.execute(f"{query} WHERE row >= ? AND row < ? ORDER BY row", (first, last))
        for concept, *name in rows:
            yield concept, _name(name, labels)

    def iter_texts(self) -> Iterator[str]:
        """Stream the text of every name in the order of their rows, faster than `iter_names`."""
        return (text for (text,) in self._db.execute("SELECT text FROM name ORDER BY row"))

    def iter_ids(self) -> Iterator[str]:
        """Stream the id of every concept in the order of their rows."""
        return (id for (id,) in self._db.execute("SELECT id FROM concept ORDER BY row"))

    def iter_name_labels(self) -> Iterator[tuple[int, int]]:
        """Stream (language, source) of every name in the order of rows, as keys of `labels`."""
        return iter(self._db.execute("SELECT lang, source FROM name ORDER BY row"))

    def iter_types(self) -> Iterator[tuple[str, ...]]:
        """Stream the types of every concept in the order of their rows."""
        query = "SELECT types FROM concept ORDER BY row"
        return (schema.load_list(types) for (types,) in self._db.execute(query))

    @property
    def labels(self) -> Mapping[int, str]:
        """The texts of languages, sources and term types by number."""
        return self._labels

    def name_concepts(self) -> Ints1d:
        """Make the concept row of every name row: (n_names,)."""
        counts = self._db.execute("SELECT n_names FROM concept ORDER BY row")
        per_concept = np.fromiter((count for (count,) in counts), dtype=np.int64)
        return np.repeat(np.arange(len(per_concept)), per_concept)

    def lookup_table(self) -> Iterator[tuple[int, int]]:
        """Stream (key hash as signed 64 bits, name row), sorted by hash, then row."""
        return iter(self._db.execute("SELECT hash, name FROM lookup ORDER BY hash, name"))

    def find(self, text: str) -> list[Concept]:
        """Find the concepts that have the text as a name, case, accents and plural aside."""
        value = hash_key(key(text))
        rows = self._db.execute(
            "SELECT DISTINCT name.concept FROM lookup JOIN name ON name.row = lookup.name"
            " WHERE hash = ? ORDER BY name.concept",
            (value - _WRAP if value >= _SIGNED else value,),
        ).fetchall()
        return [self.concept_at(row) for (row,) in rows]

    def search(self, text: str, limit: int = 20) -> list[tuple[Concept, Name]]:
        """Find names that hold a text, those that begin with it first, shorter ones before longer.

        For a look by eye: it reads all names, and folds only the case of ASCII letters.

        limit (int): at most so many concepts, each with its best such name.
        """
        if not 0 < len(text) <= _LONGEST_SEARCH:  # SQLite refuses patterns of more than 50 kB
            return []
        inside = re.sub(r"([%_\\])", r"\\\1", text)
        rows = self._db.execute(_SEARCH, (f"{inside}%", f"%{inside}%", limit)).fetchall()
        return [(self.concept_at(concept), self.name_at(row)) for concept, row in rows]

    def iter_edges(self) -> Iterator[tuple[int, int]]:
        """Stream the hierarchy as (concept row of a parent, concept row of its child), sorted."""
        return iter(self._db.execute("SELECT parent, child FROM edge ORDER BY parent, child"))

    def iter_codes(self) -> Iterator[tuple[int, str, dict[str, tuple[str, ...]]]]:
        """Stream (concept row, id, codes by vocabulary), without reading names."""
        for row, id, codes in self._db.execute("SELECT row, id, codes FROM concept ORDER BY row"):
            yield row, id, schema.load_codes(codes)

    def retired(self) -> Iterator[Retired]:
        """Stream the history of ids that are no longer in use, sorted by id."""
        query = "SELECT id, replaced_by, reason FROM retired ORDER BY id"
        return (Retired(*row) for row in self._db.execute(query))

    def resolve(self, id: str) -> str | None:
        """Follow retired and merged ids to the one in use; None when nothing replaces the id."""
        seen: set[str] = set()
        while id not in self:
            row = self._db.execute("SELECT replaced_by FROM retired WHERE id = ?", (id,)).fetchone()
            if row is None or not row[0] or id in seen:
                return None
            seen.add(id)
            id = row[0]
        return id

    def codes(self, id: str, vocabulary: str) -> tuple[str, ...]:
        """List a concept's codes in another vocabulary, such as "ICD10CM"; () when it has none."""
        return tuple(self[id].codes.get(vocabulary, ()))

    def names(self, id: str, lang: str = "") -> tuple[str, ...]:
        """List a concept's names in a language, such as "es"; in all of them without one."""
        return tuple(name.text for name in self[id].names if not lang or name.lang == lang)

    def groups(self, id: str) -> tuple[str, ...]:
        """List the UMLS semantic groups of a concept's types, such as "DISO"; () without any."""
        return groups_of(self[id].types)

    def children(self, id: str) -> list[str]:
        """List the ids directly below a concept."""
        rows = self._db.execute(
            "SELECT child.id FROM edge JOIN concept AS parent ON edge.parent = parent.row"
            " JOIN concept AS child ON edge.child = child.row WHERE parent.id = ?"
            " ORDER BY child.row",
            (id,),
        )
        return [child for (child,) in rows]

    def ancestors(self, id: str) -> dict[str, int]:
        """Map every concept above to the length of the shortest way up; cycles do no harm."""
        found: dict[str, int] = {}
        level: Sequence[str] = self[id].parents
        depth = 1
        while level:
            new = [parent for parent in dict.fromkeys(level) if parent not in found]
            found.update(dict.fromkeys(new, depth))
            above = (self[parent].parents for parent in new if parent in self)
            level = [parent for parents in above for parent in parents]
            depth += 1
        found.pop(id, None)
        return found

    def descendants(self, id: str) -> dict[str, int]:
        """Map every concept below to the length of the shortest way down, nearest first."""
        found: dict[str, int] = {}
        level, depth = [id], 1
        while level:
            below = dict.fromkeys(child for parent in level for child in self.children(parent))
            level = [child for child in below if child not in found and child != id]
            found.update(dict.fromkeys(level, depth))
            depth += 1
        return found

    def code_schemes(self) -> list[str]:
        """List the vocabularies that occur in the concepts' codes."""
        query = "SELECT DISTINCT json_each.key FROM concept, json_each(codes) WHERE codes != ''"
        return sorted(name for (name,) in self._db.execute(query))

    def count_codes(self) -> dict[str, int]:
        """Count the concepts that have codes, by vocabulary."""
        query = "SELECT json_each.key, count(*) FROM concept, json_each(codes) WHERE codes != ''"
        return dict(self._db.execute(f"{query} GROUP BY 1 ORDER BY 1").fetchall())

    def shared_codes(self, vocabulary: str) -> Mapping[str, tuple[int, ...]]:
        """Map the codes that several concepts share to the rows of these concepts.

        The first question about a vocabulary reads the codes of all concepts; the answer is kept.
        """
        if vocabulary not in self._shared:
            rows = self._db.execute(_SHARED, (vocabulary,))
            self._shared[vocabulary] = {
                code: tuple(map(int, concepts.split(","))) for code, concepts in rows
            }
        return self._shared[vocabulary]

    @cached_property
    def _labels(self) -> dict[int, str]:
        return dict(self._db.execute("SELECT row, text FROM label").fetchall())

    @property
    def _db(self) -> sqlite3.Connection:
        if getattr(self._local, "pid", None) != os.getpid():
            self._local.db = _open(self.path)
            self._local.pid = os.getpid()
        db: sqlite3.Connection = self._local.db
        return db

    def _concept(self, row: Sequence[Any]) -> Concept:
        first, count = row[3], row[4]
        names = self._db.execute(
            f"{_NAME} WHERE row >= ? AND row < ? ORDER BY row", (first, first + count)
        )
        labels = self._labels
        return _concept(row, tuple(_name(name, labels) for name in names))


def _concept(row: Sequence[Any], names: tuple[Name, ...]) -> Concept:
    number, id, name, first, _, types, codes, parents, definition = row
    return Concept(
        id=id, name=name, names=names, types=schema.load_list(types), definition=definition,
        codes=schema.load_codes(codes), parents=schema.load_list(parents), row=number,
        first_name=first,
    )  # fmt: skip


def _name(row: Sequence[Any], labels: Mapping[int, str]) -> Name:
    text, lang, source, tty, obsolete = row
    return Name(text, labels[lang], labels[source], labels[tty], bool(obsolete))


def _open(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        raise Errors.kb_missing(path=path)
    try:
        # immutable: no locks and no journal look-ups, so read-only file systems work too; a new
        # build replaces the file instead of changing it.
        uri = path.absolute().as_uri() + "?mode=ro&immutable=1"
        db = sqlite3.connect(uri, uri=True, check_same_thread=False)
        version = schema.found_version(db)
        sizes = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        (size,) = db.execute(sizes).fetchone()
    except sqlite3.DatabaseError as error:
        raise Errors.kb_damaged(path=path, reason=error) from error
    if version is None:
        raise Errors.kb_damaged(path=path, reason="another kind of SQLite file")
    if version != schema.VERSION:
        raise Errors.kb_schema(path=path, found=version, expected=schema.VERSION)
    if path.stat().st_size < size:  # of a page that is cut off SQLite reads the rest as zeros
        raise Errors.kb_damaged(path=path, reason="its end is missing")
    return db
