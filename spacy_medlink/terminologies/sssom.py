"""SSSOM mapping sets, and FHIR's ConceptMap: they map concepts to codes, each with its relation."""

import re
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ..kb.readers.fields import FieldError, identifier, sound
from ..kb.readers.lines import numbered_lines, report
from ..kb.readers.rows import delimiter_of, rows_of
from ..kb.readers.xrefs import code_of, compact, relation_of_match
from ..kb.rekey import scheme_of
from ..kb.scratch import scratch
from ..kb.vocabularies import by_vocabulary
from ..types import BadLines, CodeMap, Concept, Record
from ..util.files import sha256_of
from ..util.outputs import marked
from .concept_map import read_concept_maps
from .fhir_files import is_fhir

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
_LITERAL = "rdfs literal"  # a side that is a text, not a concept
_CODE_ALONE = "hasDbXref"  # a predicate that says nothing of the relation
_INVERSE = {"broader": "narrower", "narrower": "broader"}
COLUMNS = ("subject_id", "subject_label", "predicate_id", "object_id", "mapping_justification")
KIND = marked("a mapping set", "\t".join(COLUMNS))  # the files that a writer may replace
_NAMED = {
    "exact": "exactMatch", "broader": "broadMatch", "narrower": "narrowMatch",
    "close": "closeMatch",
}  # fmt: skip
_SET = re.compile(r"([^/#]+?)(?:\.sssom)?(?:\.[tc]sv)?(?:\.gz)?")
_PREFIX = re.compile(
    r"""(?P<mark>["']?)(?P<prefix>[^\s"':[{]+)(?P=mark):\s+"""
    r"""(?P<quote>["']?)(?P<address>\w[\w+.\-]*:[^\s"']+)(?P=quote)(?:\s+\#.*)?"""
)
_Pair = tuple[str, str]


class _Row(NamedTuple):
    """One mapping: the relation of the object to the subject.

    subject, object: the code as (vocabulary, code), then its address if a concept may have that.
    """

    line: int
    subject: tuple[_Pair, ...]
    object: tuple[_Pair, ...]
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

    paths (Sequence[Path]): `.sssom.tsv` files, also `.gz`, and what spreadsheets make of them; or a
        ConceptMap of FHIR, in any file that the reader of FHIR takes.
    """

    paths: Sequence[Path]
    lines: list[int] = field(default_factory=list)
    used: list[int] = field(default_factory=list)

    def apply(self, records: Iterable[Record], bad_lines: BadLines = None) -> Iterator[Record]:
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
    db.executemany("INSERT OR IGNORE INTO used VALUES (?,?)", (row[5:] for row in rows))
    listed = ((vocabulary, code) for vocabulary, codes in concept.codes.items() for code in codes)
    codes = by_vocabulary([*listed, *(row[:2] for row in rows)])
    maps = dict.fromkeys([*concept.maps, *(CodeMap(*row[:5]) for row in rows)])
    return replace(concept, codes=codes, maps=tuple(maps))


def _pair_of(concept: Concept) -> _Pair | None:
    """Return a concept's id as (vocabulary, code); None where its own codes contradict it."""
    if ":" in concept.id:
        return code_of(concept.id)
    scheme = scheme_of(concept)
    if concept.id not in concept.codes.get(scheme, (concept.id,)):
        return None
    return code_of(f"{scheme}:{concept.id}")


def _load(db: sqlite3.Connection, file: int, path: Path, bad_lines: BadLines) -> int:
    count = 0
    db.execute("BEGIN")
    for row in _of_fhir(path, bad_lines) if is_fhir(path) else _rows(path, bad_lines):
        origin = row.source, row.note, file, row.line
        inverse = _INVERSE.get(row.relation, row.relation)
        one_way = ((*id, *row.object[0], row.relation, *origin) for id in row.subject)
        other_way = ((*id, *row.subject[0], inverse, *origin) for id in row.object)
        db.executemany("INSERT INTO map VALUES (?,?,?,?,?,?,?,?,?)", (*one_way, *other_way))
        count += 1
    db.execute("COMMIT")
    return count


def _of_fhir(path: Path, bad_lines: BadLines) -> Iterator[_Row]:
    source = path.name.split(".")[0]
    for line, subject, object, relation, note in read_concept_maps(path, bad_lines):
        yield _Row(line, (subject,), (object,), relation, note, source)


def _rows(path: Path, bad_lines: BadLines) -> Iterator[_Row]:
    lines = numbered_lines(path, bad_lines)
    comments, rest = _comments(lines)
    first = next(rest, (1, ""))
    delimiter = delimiter_of([first[1]])
    rows = rows_of(path, chain([first], rest), bad_lines, delimiter, is_quoted=True)
    line_number, columns = next(rows, (1, []))
    if missing := next((column for column in _NEEDED if column not in columns), ""):
        report(path, line_number, f"no column {missing}", "the columns of SSSOM", bad_lines)
        return
    # A spreadsheet fills comments up with empty cells, and quotes some.
    cells = rows_of(path, iter(comments), [], delimiter, is_quoted=True)
    texts = [(line_number, delimiter.join(row).rstrip(delimiter)[1:]) for line_number, row in cells]
    set_id, prefixes = _header(path, texts, bad_lines)
    source = _source(set_id or path.name)
    mappings = sound(path, rows, lambda row: _row(row, columns, prefixes), bad_lines)
    yield from (mapping._replace(line=line, source=source) for line, mapping in mappings)


def _comments(
    lines: Iterator[tuple[int, str]],
) -> tuple[list[tuple[int, str]], Iterator[tuple[int, str]]]:
    """Take the comments that come first off the lines."""
    comments: list[tuple[int, str]] = []
    size = 0
    for line_number, line in lines:
        if not line.startswith(("#", '"#')):
            return comments, chain([(line_number, line)], lines)
        size += len(line)
        if size < _HEADER:
            comments.append((line_number, line))
    return comments, iter(())


def _header(
    path: Path, comments: list[tuple[int, str]], bad_lines: BadLines
) -> tuple[str, dict[str, str]]:
    """Read the id of the set, and addresses by prefix; nothing else of the comments is read."""
    set_id, prefixes, map_depth = "", dict[str, str](), sys.maxsize
    for line_number, text in comments:
        text = text.expandtabs().rstrip()
        depth = len(text) - len(text.lstrip(" -"))
        if not text.strip():
            continue
        if depth > map_depth:
            if entry := _PREFIX.fullmatch(text.strip()):
                prefixes[entry["prefix"]] = entry["address"]
            else:
                expected = "`prefix: address` below curie_map"
                report(path, line_number, "no prefix and address", expected, bad_lines)
            continue
        name, _, value = text.strip().partition(":")
        map_depth = depth if name == "curie_map" else sys.maxsize
        if name == "curie_map" and value.strip() not in ("", "{}"):
            report(path, line_number, "a curie_map in one line", "one prefix a line", bad_lines)
        if name == "mapping_set_id":
            set_id = value.strip().strip("\"'")
    return set_id, prefixes


def _source(set_id: str) -> str:
    """Return the name of the set, the last part of its id."""
    called = _SET.fullmatch(re.split("[/#]", set_id.rstrip("/#"))[-1])
    return called[1] if called and called[1].isprintable() else ""


def _row(cells: list[str], columns: list[str], prefixes: Mapping[str, str]) -> _Row | None:
    """Read a row; None for one without a usable mapping."""
    if len(cells) != len(columns):
        raise FieldError(f"{len(cells)} columns", f"{len(columns)} as in the header")
    row = dict(zip(columns, map(str.strip, cells), strict=True))
    word = re.split("[:/#]", row["predicate_id"])[-1].strip()
    relation = relation_of_match([word])
    if row.get("predicate_modifier") or not (relation or word == _CODE_ALONE):
        return None
    if _LITERAL in (row.get("subject_type"), row.get("object_type")):
        return None
    ids = [identifier(row[name].strip("<>"), name) for name in ("subject_id", "object_id")]
    if _NOTHING in ids:
        return None
    subject, object = (_pairs(id, prefixes) for id in ids)
    confidence = row.get("confidence")
    note = f"confidence {confidence}" if confidence else ""
    return _Row(0, subject, object, relation, note) if subject != object else None


def _pairs(id: str, prefixes: Mapping[str, str]) -> tuple[_Pair, ...]:
    """Split an id such as "HP:0001250", or a web address, into vocabulary and code.

    An id whose prefix stands for an address of no known vocabulary keeps the prefix. The same
    concept may have the address as its id.
    """
    prefix, _, local = id.partition(":")
    if prefix in prefixes:
        whole = f"{prefixes[prefix]}{local}"
        vocabulary = compact(f"{prefixes[prefix]}0").removesuffix("0")  # "HP:" of ".../obo/HP_"
        meant = code_of(whole if "://" in vocabulary else f"{vocabulary}{local}")
    else:
        meant = code_of(id)
    pairs = [code_of(id), meant] if meant and meant[0] == "URL" else [meant]
    distinct = tuple(dict.fromkeys(pair for pair in pairs if pair is not None))
    if not distinct:
        raise FieldError(f"the id {id[:60]!a}", "a prefix and an id, such as HP:0001250")
    return distinct
