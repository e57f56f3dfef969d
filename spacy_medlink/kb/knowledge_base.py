"""KnowledgeBase: reads the concepts and names of one SQLite file, from any thread or process."""

import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..text.normalisation import hash_key, key
from ..types import CodeMap, Concept, Name, Relation, Retired
from ..util.held import Held
from . import related, schema
from .database import Connection, Database
from .schema import concept_of, facts_of, kb_fingerprint, name_of

# SQLite takes bytes in any column. They are read as text or, where they are none, found damaged;
# as an id they are damage, for no look-up would find them.
_ID = related.ID.format("id")
_CONCEPT = (
    f"SELECT row, {_ID}, CAST(name AS TEXT), first_name, n_names, types, codes, parents,"
    " CAST(definition AS TEXT) FROM concept"
)
_BRIEF = f"SELECT {_ID}, CAST(name AS TEXT), types FROM concept WHERE row = ?"
_BRIEFS = (
    f"SELECT concept.row, {related.ID.format('concept.id')}, CAST(name AS TEXT), types"
    " FROM json_each(?) AS wanted JOIN concept ON concept.row = wanted.value"
)
_RETIRED = f"SELECT {_ID}, CAST(replaced_by AS TEXT), CAST(reason AS TEXT) FROM retired"
_NAME = "SELECT CAST(text AS TEXT), lang, source, tty, obsolete FROM name"
_ALL_TEXTS = "SELECT CAST(text AS TEXT) FROM name ORDER BY row"
_TEXTS = (
    "SELECT name.row, CAST(text AS TEXT) FROM json_each(?) AS wanted"
    " JOIN name ON name.row = wanted.value"
)
_NAMED = (  # SQLite keeps the hash as a signed number
    "SELECT name.row, name.concept, CAST(name.text AS TEXT) FROM lookup"
    " JOIN name ON name.row = lookup.name WHERE hash = ? ORDER BY name.row"
)
_BEGUN = "SELECT row FROM concept WHERE id >= ? AND id < ? ORDER BY id LIMIT ?"
_CODED = "SELECT row FROM concept WHERE codes LIKE ? ESCAPE '\\' ORDER BY row LIMIT ?"
_FEW_ROWS = 3  # up to this number of rows, reading one by one is quicker
_load_types = lru_cache(4096)(schema.load_list)  # many concepts share few lists

Read = TypeVar("Read")


class KnowledgeBase:
    """A terminology on disk, opened read-only; the file stays the one that was opened.

    Safe to share between threads (each gets its own connection), to use after a fork (children
    connect anew) and to pickle (the same file must be at the path when it is unpickled). If another
    file replaces the one at the path, only knowledge bases opened later read the new file.

    path (Path): a file that `medlink kb build` wrote. held (Optional[Held]): the file, if it is
        already open.
    RAISES (MedlinkError): E101 no file, E102 not a knowledge base, E103 of another schema, E221
        unpickled where the path has another file.

    EXAMPLE:
        >>> kb = KnowledgeBase("hpo.kb")
        >>> kb["HP:0001250"].name
        'Seizure'
    """

    def __init__(self, path: str | Path, held: Held | None = None) -> None:
        self.path = Path(path)
        self._local = threading.local()
        self._shared: dict[str, dict[str, tuple[int, ...]]] = {}
        self._expected = ""
        self._database: Database | None = Database(self.path, held)
        _ = self._db  # so that a bad file fails here, not at the first look-up

    def __getstate__(self) -> dict[str, object]:
        expected = self._expected or kb_fingerprint(self.manifest)
        return {"path": self.path, "fingerprint": expected}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.path, self._expected = state["path"], state["fingerprint"]
        self._local = threading.local()
        self._shared = {}
        self._database = None

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
        return self.concept_at(self.row_of(id))

    def __iter__(self) -> Iterator[Concept]:
        """Stream all concepts in the order of their rows, in bounded memory."""
        labels, db = self.labels, self._db
        names = db.execute(f"{_NAME} ORDER BY row")
        for row in db.execute(f"{_CONCEPT} ORDER BY row"):
            name_rows = names.fetchmany(row[4]) if row[4] else ()
            texts = tuple(self._decoded(name_of, name, labels) for name in name_rows)
            yield self._decoded(concept_of, row, texts)

    @property
    def n_names(self) -> int:
        """Number of names, which is one more than the highest name row."""
        return int(self.manifest["names"])

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """Facts about the build: sources, filters, counts by language and source."""
        rows = self._db.execute("SELECT key, value FROM meta ORDER BY key")
        return self._decoded(facts_of, dict(rows))

    @property
    def cui_to_entity(self) -> "EntitiesById":
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
        columns = self._row(f"{_CONCEPT} WHERE row = ?", row)
        name_rows = range(columns[3], columns[3] + columns[4])
        own_names = tuple(self._names_of(columns[0], name_rows)) if names else ()
        return self._decoded(concept_of, columns, own_names)

    def brief_at(self, row: int) -> tuple[str, str, tuple[str, ...]]:
        """Get (id, preferred name, types) of the concept of a row, faster than `concept_at`."""
        id, name, types = self._row(_BRIEF, row)
        return id, name, self._decoded(_load_types, types)

    def briefs_at(self, rows: Sequence[int]) -> list[tuple[str, str, tuple[str, ...]]]:
        """Get what `brief_at` gives of many rows, faster than one by one."""
        briefs = {}
        for row, id, name, types in self._db.execute(_BRIEFS, (json.dumps(list(rows)),)).fetchall():
            briefs[row] = id, name, self._decoded(_load_types, types) if types else ()
        try:
            return [briefs[row] for row in rows]
        except KeyError as error:
            raise self._damaged(f"nothing has the row {error}") from error

    def codes_at(self, row: int) -> dict[str, tuple[str, ...]]:
        """Get the codes, by vocabulary, of the concept of a row."""
        query = "SELECT codes FROM concept WHERE row = ?"
        return self._decoded(schema.load_codes, *self._row(query, row))

    def text_at(self, row: int) -> str:
        """Get the text of the name of a row, 0 <= row < n_names."""
        return str(self._row("SELECT CAST(text AS TEXT) FROM name WHERE row = ?", row)[0])

    def texts_at(self, rows: Sequence[int]) -> list[str]:
        """Get the texts of the names of many rows, faster than one by one."""
        if len(rows) <= _FEW_ROWS:
            return [self.text_at(row) for row in rows]
        texts = dict(self._db.execute(_TEXTS, (json.dumps(list(rows)),)).fetchall())
        try:
            return [texts[row] for row in rows]
        except KeyError as error:
            raise self._damaged(f"no name of row {error}") from error

    def name_at(self, row: int) -> Name:
        """Get the name of a row, 0 <= row < n_names."""
        return self._decoded(name_of, self._row(f"{_NAME} WHERE row = ?", row), self.labels)

    def iter_names(self, first: int = 0, last: int | None = None) -> Iterator[tuple[int, Name]]:
        """Stream (concept row, name) in the order of the names' rows: first <= row < last."""
        labels = self.labels
        last = self.n_names if last is None else last
        query = "SELECT concept, CAST(text AS TEXT), lang, source, tty, obsolete FROM name"
        rows = self._db.execute(f"{query} WHERE row >= ? AND row < ? ORDER BY row", (first, last))
        for concept, *name in rows:
            yield concept, self._decoded(name_of, name, labels)

    def iter_texts(self) -> Iterator[str]:
        """Stream the text of every name in the order of their rows, faster than `iter_names`."""
        return map(itemgetter(0), self._db.execute(_ALL_TEXTS))

    def iter_ids(self) -> Iterator[str]:
        """Stream the id of every concept in the order of their rows."""
        return (id for (id,) in self._db.execute(f"SELECT {_ID} FROM concept ORDER BY row"))

    def iter_rows_by_id(self) -> Iterator[int]:
        """Stream the row of every concept in the order of their ids."""
        return map(itemgetter(0), self._db.execute("SELECT row FROM concept ORDER BY id"))

    def iter_name_labels(self) -> Iterator[tuple[int, int]]:
        """Stream (language, source) of every name in the order of rows, as keys of `labels`."""
        return iter(self._db.execute("SELECT lang, source FROM name ORDER BY row"))

    def iter_types(self) -> Iterator[tuple[str, ...]]:
        """Stream the types of every concept in the order of their rows."""
        query = "SELECT types FROM concept ORDER BY row"
        return (self._decoded(schema.load_list, types) for (types,) in self._db.execute(query))

    @cached_property
    def labels(self) -> Mapping[int, str]:
        """The texts of languages, sources and term types by number."""
        return dict(self._db.execute("SELECT row, CAST(text AS TEXT) FROM label").fetchall())

    def name_concepts(self) -> NDArray[np.int32]:
        """Return the concept row of every name row: (n_names,)."""
        counts = self._db.execute("SELECT n_names FROM concept ORDER BY row")
        per_concept = np.fromiter((count for (count,) in counts), dtype=np.int64)
        if (per_concept < 0).any() or per_concept.astype(np.float64).sum() != self.n_names:
            raise self._damaged("the names of concepts are not as many as there are names")
        return np.repeat(np.arange(len(per_concept), dtype=np.int32), per_concept)

    def lookup_table(self) -> Iterator[tuple[int, int]]:
        """Stream (key hash as signed 64 bits, name row), sorted by hash, then row."""
        return iter(self._db.execute("SELECT hash, name FROM lookup ORDER BY hash, name"))

    def find(self, text: str) -> list[Concept]:
        """Find the concepts that have the text as a name, case, accents and plural aside."""
        concepts = dict.fromkeys(concept for _, concept in self.rows_named(text))
        return [self.concept_at(row) for row in concepts]

    def rows_named(self, text: str) -> list[tuple[int, int]]:
        """Find the names that equal a text, as `find` does: sorted (name row, concept row)."""
        key_of_text = key(text)
        value = hash_key(key_of_text)
        candidates = self._db.execute(_NAMED, (value - (value >> 63 << 64),)).fetchall()
        # Two keys may have the same hash, so the names found by hash are compared by key.
        return [(row, concept) for row, concept, name in candidates if key(name) == key_of_text]

    def name_rows(self, row: int) -> range:
        """List the rows of the names of a concept, by its row."""
        first, count = self._row("SELECT first_name, n_names FROM concept WHERE row = ?", row)
        return range(first, first + count)

    def search_codes(self, text: str, limit: int = 20) -> list[int]:
        """Find the rows of concepts whose id, or else a code of which, begins with a text.

        Reads the codes of all concepts where no id begins so.
        """
        begun = self._db.execute(_BEGUN, (text, text + "\U0010ffff", limit)).fetchall()
        code = f'%"{_literally(text.rpartition(":")[2])}%'
        return [row for (row,) in begun or self._db.execute(_CODED, (code, limit)).fetchall()]

    def parents_at(self, row: int) -> tuple[int, ...]:
        """List the rows of the concepts directly above the concept of a row."""
        ids = self.concept_at(row, names=False).parents
        return tuple(map(self.row_of, filter(self.__contains__, ids)))

    def iter_codes(self) -> Iterator[tuple[int, str, dict[str, tuple[str, ...]]]]:
        """Stream (concept row, id, codes by vocabulary), without reading names."""
        for row, id, codes in self._db.execute(
            f"SELECT row, {_ID}, codes FROM concept ORDER BY row"
        ):
            yield row, id, self._decoded(schema.load_codes, codes)

    def retired(self) -> Iterator[Retired]:
        """Stream the history of ids that are no longer in use, sorted by id."""
        return (Retired(*row) for row in self._db.execute(f"{_RETIRED} ORDER BY id"))

    def resolve(self, id: str) -> str | None:
        """Follow retired and merged ids to the id in use; None when there is no successor."""
        steps = self.history(id)
        last = steps[-1].replaced_by if steps else id
        return last if last in self else None

    def history(self, id: str) -> list[Retired]:
        """List the steps from a retired id to its successor; [] for an id in use."""
        steps: dict[str, Retired] = {}
        while id not in self and id not in steps:
            row = self._db.execute(f"{_RETIRED} WHERE id = ?", (id,)).fetchone()
            if row is None:
                break
            steps[id] = Retired(*row)
            id = steps[id].replaced_by
        return list(steps.values())

    def maps(self, id: str) -> list[CodeMap]:
        """List a concept's codes in their order, with relation, source and note of each."""
        row = self.row_of(id)
        return related.maps_of(self._db, row, self.codes_at(row))

    def children(self, id: str) -> list[str]:
        """List the ids directly below a concept."""
        row = self.row_of(id) if id in self else -1
        return [child for (child,) in self._db.execute(related.CHILDREN, (row,)).fetchall()]

    def ancestors(self, id: str) -> dict[str, int]:
        """Map the id of every ancestor to its distance in levels; cycles do no harm.

        Parents that are no concepts here, such as those left out by a filter, are among them.
        """
        self.row_of(id)  # raises KeyError for an unknown id
        return related.ancestors(self._db, id)

    def descendants(self, id: str) -> dict[str, int]:
        """Map the id of every descendant to its distance in levels, nearest first."""
        return related.descendants(self._db, self.row_of(id), id) if id in self else {}

    def relations(self, id: str, relation: str = "", inverse: bool = False) -> list[Relation]:
        """List a concept's relations to other concepts, sorted by relation, then by row.

        relation (str): only this relation, such as "isa" (to its parents, in all sources).
        inverse (bool): list the relations of other concepts to this one instead.
        RAISES (KeyError): when there is no such concept.
        """
        relations = related.relations_of(self._db, self.row_of(id), inverse)
        return [each for each in relations if each.relation == relation] if relation else relations

    def iter_relations(self) -> Iterator[tuple[int, str, int, str]]:
        """Stream (concept row, relation, row of the other concept, source), by the first row."""
        return iter(self._db.execute(related.ALL))

    def code_schemes(self) -> list[str]:
        """List the vocabularies that occur in the concepts' codes."""
        return sorted(self.count_codes())

    def count_codes(self) -> dict[str, int]:
        """Count the concepts that have codes, by vocabulary."""
        query = "SELECT json_each.key, count(*) FROM concept, json_each(codes) WHERE codes != ''"
        return dict(self._db.execute(f"{query} GROUP BY 1 ORDER BY 1").fetchall())

    def shared_codes(self, vocabulary: str) -> Mapping[str, tuple[int, ...]]:
        """Map the codes that several concepts share to the rows of these concepts.

        The first call for a vocabulary reads the codes of all concepts; the result is kept.
        """
        if vocabulary not in self._shared:
            self._shared[vocabulary] = related.shared_codes(self._db, vocabulary)
        return self._shared[vocabulary]

    @property
    def _db(self) -> Connection:
        if getattr(self._local, "pid", None) != os.getpid():
            if self._database is None:
                self._database = Database(self.path)
            self._local.db = self._database.connect()
            self._local.pid = os.getpid()
            self._check_expected()
        db: Connection = self._local.db
        return db

    @property
    def connection(self) -> Connection:
        """This thread's connection, for queries without a method here."""
        return self._db

    @property
    def held(self) -> Held:
        """The file, as it was opened."""
        _ = self._db
        assert self._database is not None
        return self._database.held

    def _check_expected(self) -> None:
        """Raise an error unless the file is the one that was pickled."""
        expected, self._expected = self._expected, ""
        if expected and kb_fingerprint(self.manifest) != expected:
            self._local.pid, self._database, self._expected = None, None, expected
            self.__dict__.pop("manifest")
            raise Errors.kb_replaced(path=self.path)

    def _row(self, query: str, row: int) -> Any:
        columns = self._db.execute(query, (row,)).fetchone()
        if columns is None:
            raise self._damaged(f"nothing has the row {row}")
        return columns

    def _decoded(self, decode: Callable[..., Read], *values: object) -> Read:
        try:
            return decode(*values)
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            raise self._damaged(f"{type(error).__name__}: {error}") from error

    def _damaged(self, reason: str) -> Exception:
        return Errors.kb_damaged(path=self.path, reason=reason)

    def _names_of(self, concept: int, rows: range) -> Iterable[Name]:
        """Read the names of a concept, by the row of the concept and the rows of the names."""
        query = f"{_NAME} WHERE row >= ? AND row < ? ORDER BY row"
        names, labels = self._db.execute(query, (rows.start, rows.stop)), self.labels
        return (self._decoded(name_of, name, labels) for name in names)


class Entity(NamedTuple):
    """A concept with the fields of scispaCy's `Entity`.

    aliases (List[str]): the names but for the preferred one, each once, in any language.
    definition (Optional[str]): None where the terminology has none.
    """

    concept_id: str
    canonical_name: str
    aliases: list[str]
    types: list[str]
    definition: str | None = None


class EntitiesById(Mapping[str, Entity]):
    """The concepts of a knowledge base by id; each is read when it is asked for.

    RAISES (KeyError): for an unknown id.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb

    def __getitem__(self, id: str) -> Entity:
        concept = self._kb[id]
        aliases = dict.fromkeys(name.text for name in concept.names if name.text != concept.name)
        types, definition = list(concept.types), concept.definition or None
        return Entity(concept.id, concept.name, list(aliases), types, definition)

    def __contains__(self, id: object) -> bool:
        return id in self._kb

    def __iter__(self) -> Iterator[str]:
        return self._kb.iter_ids()

    def __len__(self) -> int:
        return len(self._kb)


def _literally(text: str) -> str:
    """Write a text so that LIKE finds it as it is."""
    return re.sub(r"([%_\\])", r"\\\1", text)
