"""SSSOM mapping sets: files that map concepts to codes, with the relation of each code."""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import srsly

from ..types import BadLine, CodeMap, Concept, Record
from ..util.files import sha256_of
from ..util.outputs import marked
from .readers.fields import FieldError, identifier
from .readers.lines import numbered_lines, report
from .readers.xrefs import code_of, compact, relation_of_match
from .rekey import scheme_of
from .scratch import scratch

_TABLES = """
CREATE TABLE map (
    vocabulary TEXT, id TEXT, code_vocabulary TEXT, code TEXT, relation TEXT, source TEXT,
    note TEXT, file INTEGER, line INTEGER
);
CREATE TABLE used (file INTEGER, line INTEGER, PRIMARY KEY (file, line)) WITHOUT ROWID;
"""
_INDEX = "CREATE INDEX map_id ON map (vocabulary, id)"
_OF_ONE = (
    "SELECT code_vocabulary, code, relation, source, note, file, line FROM map"
    " WHERE vocabulary = ? AND id = ? ORDER BY relation != 'exact', file, line"
)
_NEEDED = ("subject_id", "predicate_id", "object_id")
_NOTHING = "sssom:NoTermFound"
_HEADER = 1 << 20  # characters of the comments that come first
# Beside those of SKOS, which `relation_of_match` knows.
_PREDICATES = {"equivalentClass": "exact", "sameAs": "exact", "hasDbXref": ""}
_INVERSE = {"broader": "narrower", "narrower": "broader"}
COLUMNS = ("subject_id", "subject_label", "predicate_id", "object_id", "mapping_justification")
KIND = marked("a mapping set", "\t".join(COLUMNS))  # the files that a writer may replace
_NAMED = {
    "exact": "exactMatch", "broader": "broadMatch", "narrower": "narrowMatch",
    "close": "closeMatch",
}  # fmt: skip
_SET = re.compile(r"([^/#]+?)(?:\.sssom)?(?:\.tsv)?(?:\.gz)?")
_Pair = tuple[str, str]


class _Row(NamedTuple):
    """One mapping: the relation of the object to the subject, both as (vocabulary, code)."""

    line: int
    subject: _Pair
    object: _Pair
    relation: str
    note: str
    source: str = ""


@dataclass
class MappingSets:
    """Files of mappings that give concepts codes while a knowledge base is built.

    A mapping gives its subject the object's code, with the relation of the predicate, and its
    object the subject's code, with the inverse relation. A mapping names a concept by its id, or by
    its vocabulary and id ("SCTID:73211009") where the id has no prefix. Denied mappings, and those
    whose predicate is no match ("has phenotype"), are skipped.

    paths (Sequence[Path]): `.sssom.tsv` files, also `.gz`.
    """

    paths: Sequence[Path]
    lines: list[int] = field(default_factory=list)
    used: list[int] = field(default_factory=list)

    def apply(
        self, records: Iterable[Record], bad_lines: list[BadLine] | None = None
    ) -> Iterator[Record]:
        """Stream the records with their maps; afterwards `as_manifest` lists what was used.

        RAISES (MedlinkError): E105 for a bad line, unless `bad_lines` collects it.
        """
        with scratch(_TABLES) as db:
            self.lines = [_load(db, file, path, bad_lines) for file, path in enumerate(self.paths)]
            db.execute(_INDEX)
            for record in records:
                yield _mapped(db, record) if isinstance(record, Concept) else record
            used = dict(db.execute("SELECT file, count(*) FROM used GROUP BY file"))
            self.used = [used.get(file, 0) for file in range(len(self.paths))]

    def as_manifest(self) -> list[dict[str, object]]:
        """List the files with the numbers of all mappings and of those used for a concept."""
        return [
            {"name": path.name, "sha256": sha256_of(path), "lines": lines, "used": used}
            for path, lines, used in zip(self.paths, self.lines, self.used, strict=True)
        ]


def predicate_of(relation: str) -> str:
    """Return the predicate of a relation, such as "skos:broadMatch" for "broader"."""
    return f"skos:{_NAMED.get(relation, 'relatedMatch')}"


def curie(concept: Concept) -> str:
    """Write the id of a concept with its vocabulary."""
    return concept.id if ":" in concept.id else f"{scheme_of(concept)}:{concept.id}"


def _mapped(db: sqlite3.Connection, concept: Concept) -> Concept:
    rows = db.execute(_OF_ONE, _pair_of(concept) or ("", "")).fetchall()
    if not rows:
        return concept
    codes = {vocabulary: dict.fromkeys(own) for vocabulary, own in concept.codes.items()}
    maps = dict.fromkeys(concept.maps)
    for vocabulary, code, relation, source, note, *place in rows:
        codes.setdefault(vocabulary, {})[code] = None
        maps[CodeMap(vocabulary, code, relation, source, note)] = None
        db.execute("INSERT OR IGNORE INTO used VALUES (?,?)", place)
    own = {vocabulary: tuple(values) for vocabulary, values in codes.items()}
    return replace(concept, codes=own, maps=tuple(maps))


def _pair_of(concept: Concept) -> _Pair | None:
    """Return a concept's id as (vocabulary, code); None where its own codes contradict it."""
    if ":" in concept.id:
        return code_of(concept.id)
    scheme = scheme_of(concept)
    if concept.id not in concept.codes.get(scheme, (concept.id,)):
        return None
    return code_of(f"{scheme}:{concept.id}")


def _load(db: sqlite3.Connection, file: int, path: Path, bad_lines: list[BadLine] | None) -> int:
    count = 0
    db.execute("BEGIN")
    for row in _rows(path, bad_lines):
        said = row.source, row.note, file, row.line
        inverse = _INVERSE.get(row.relation, row.relation)
        both = (
            (*row.subject, *row.object, row.relation, *said),
            (*row.object, *row.subject, inverse, *said),
        )
        db.executemany("INSERT INTO map VALUES (?,?,?,?,?,?,?,?,?)", both)
        count += 1
    db.execute("COMMIT")
    return count


def _rows(path: Path, bad_lines: list[BadLine] | None) -> Iterator[_Row]:
    lines = numbered_lines(path, bad_lines)
    comments, number, columns = _header(lines)
    missing = next((column for column in _NEEDED if column not in columns), "")
    try:
        if missing:
            raise FieldError(f"no column {missing}", "the columns of SSSOM")
        prefixes, source = _facts(comments, path)
    except FieldError as error:
        report(path, number, error.problem, error.expected, bad_lines)
        return
    for number, line in lines:
        try:
            if found := _row(number, line.split("\t"), columns, prefixes):
                yield found._replace(source=source)
        except FieldError as error:
            report(path, number, error.problem, error.expected, bad_lines)


def _header(lines: Iterator[tuple[int, str]]) -> tuple[list[str], int, list[str]]:
    """Read the comments, then the line of the columns and its number."""
    comments: list[str] = []
    size = 0
    for number, line in lines:
        if not line.startswith("#"):
            return comments, number, line.split("\t")
        size += len(line)
        if size < _HEADER:
            comments.append(line[1:])
    return comments, 1, []


def _facts(comments: list[str], path: Path) -> tuple[Mapping[str, str], str]:
    """Read the vocabularies of the prefixes, and the name of the set."""
    try:
        facts: Any = srsly.yaml_loads("\n".join(comments)) if comments else {}
    except (ValueError, RecursionError) as error:
        problem = f"not YAML ({str(error)[:200]})"
        raise FieldError(" ".join(problem.split()), "YAML behind each #") from error
    facts = facts if isinstance(facts, dict) else {}
    prefixes = facts.get("curie_map")
    found = prefixes.items() if isinstance(prefixes, dict) else ()
    last = re.split("[/#]", str(facts.get("mapping_set_id") or path.name).rstrip("/#"))[-1]
    called = _SET.fullmatch(last)
    source = called[1] if called and last.isprintable() else ""
    return {str(prefix): str(base) for prefix, base in found}, source


def _row(
    number: int, cells: list[str], columns: list[str], prefixes: Mapping[str, str]
) -> _Row | None:
    """Read a line; None for a line without a usable mapping."""
    if cells == [""]:
        return None
    if len(cells) != len(columns):
        raise FieldError(f"{len(cells)} columns", f"{len(columns)} as in the header")
    row = dict(zip(columns, map(str.strip, cells), strict=True))
    word = re.split("[:/#]", row["predicate_id"])[-1]
    relation = _PREDICATES.get(word, relation_of_match([word]))
    if row.get("predicate_modifier") or not (relation or word in _PREDICATES):
        return None
    ids = [identifier(row[name], name) for name in ("subject_id", "object_id")]
    if _NOTHING in ids:
        return None
    subject, object = (_pair(id, prefixes) for id in ids)
    confidence = row.get("confidence")
    note = f"confidence {confidence}" if confidence else ""
    return _Row(number, subject, object, relation, note) if subject != object else None


def _pair(id: str, prefixes: Mapping[str, str]) -> _Pair:
    """Split an id such as "HP:0001250", or a web address, into vocabulary and code."""
    prefix, _, local = id.partition(":")
    short = compact(prefixes[prefix] + local) if prefix in prefixes else compact(id)
    found = code_of(id if short.startswith(("http://", "https://")) else short)
    if found is None:
        raise FieldError(f"the id {id[:60]!a}", "a prefix and an id, such as HP:0001250")
    return found
