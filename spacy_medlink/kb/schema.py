"""The tables of a knowledge base, and the encoding of its few structured columns.

The names of a concept have consecutive rows, so (first_name, n_names) finds them without an index
over 15 million names. `lookup` is the exact tier, sorted by key hash as the assets need it.
Repeated strings (languages, sources, term types) are interned in `label`. `edge` is the hierarchy
alone, which most queries need; `relation` has all relations of the sources, including the
hierarchy. `hierarchy` holds `edge` again as one array, which is read a hundred times as fast. `map`
has the codes with a relation or a note.

What reads columns and rows RAISES (ValueError, TypeError, LookupError) for damaged ones; callers
turn these into coded errors.
"""

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cache
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

from ..types import Concept, Name
from ..util.outputs import FileKind

# 2: keys fold Greek letters, umlauts, numbers within words; 3: words in short; 4: semantic tags
VERSION = 4
_APPLICATION_ID = 0x4D4C4B42  # "MLKB"
_HEADER, _ID_AT = b"SQLite format 3\0", 68  # as SQLite's file format puts them

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE label (row INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE concept (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL, name TEXT NOT NULL,
    first_name INTEGER NOT NULL, n_names INTEGER NOT NULL,
    types TEXT NOT NULL, codes TEXT NOT NULL, parents TEXT NOT NULL, definition TEXT NOT NULL
);
CREATE TABLE name (
    row INTEGER PRIMARY KEY, concept INTEGER NOT NULL, text TEXT NOT NULL,
    lang INTEGER NOT NULL, source INTEGER NOT NULL, tty INTEGER NOT NULL, obsolete INTEGER NOT NULL
);
CREATE TABLE lookup (
    hash INTEGER NOT NULL, name INTEGER NOT NULL, PRIMARY KEY (hash, name)
) WITHOUT ROWID;
CREATE TABLE edge (
    parent INTEGER NOT NULL, child INTEGER NOT NULL, PRIMARY KEY (parent, child)
) WITHOUT ROWID;
CREATE TABLE relation (
    subject INTEGER NOT NULL, relation INTEGER NOT NULL, object INTEGER NOT NULL,
    source INTEGER NOT NULL, PRIMARY KEY (subject, relation, object, source)
) WITHOUT ROWID;
CREATE TABLE hierarchy (edges BLOB NOT NULL);
CREATE TABLE map (
    concept INTEGER NOT NULL, vocabulary INTEGER NOT NULL, code TEXT NOT NULL,
    relation INTEGER NOT NULL, source INTEGER NOT NULL, note TEXT NOT NULL,
    PRIMARY KEY (concept, vocabulary, code, relation, source, note)
) WITHOUT ROWID;
CREATE TABLE retired (
    id TEXT PRIMARY KEY, replaced_by TEXT NOT NULL, reason TEXT NOT NULL
) WITHOUT ROWID;
"""


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(_ID_AT + 4)
    return head.startswith(_HEADER) and head[_ID_AT:] == _APPLICATION_ID.to_bytes(4, "big")


# The files that a writer may replace; ".whole" is a second one while pieces are united.
KB = FileKind("a knowledge base", _is_ours, database=".whole")
CONCEPT_INDEX = "CREATE UNIQUE INDEX concept_id ON concept (id)"
EDGES = "SELECT parent << 32 | child FROM edge ORDER BY parent, child"
EDGE = "<i8"  # an edge in the array: upper half the row of a parent, lower half that of a child
RELATION_INDEX = "CREATE INDEX relation_object ON relation (object, relation)"
INDICES = ("concept_id", "relation_object")
_COLUMNS = (
    "SELECT m.name, p.name, p.type FROM sqlite_master AS m, pragma_table_xinfo(m.name) AS p"
    " WHERE m.type = 'table'"
)


def create(connection: sqlite3.Connection) -> None:
    """Create the tables in an empty database."""
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.executescript(TABLES)


def found_version(connection: sqlite3.Connection) -> int | None:
    """Read the schema version; None when the database is no knowledge base."""
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    if application_id != _APPLICATION_ID:
        return None
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def dump_list(values: Sequence[str]) -> str:
    """Write a list of strings as JSON, "" for an empty one (the common case)."""
    # The same text as json.dumps, which takes ten times as long.
    return f"[{','.join(map(encode_basestring, values))}]" if values else ""


def load_list(text: str) -> tuple[str, ...]:
    """Read what `dump_list` wrote."""
    return _strings(_json(text)) if text else ()


def dump_codes(codes: Mapping[str, Sequence[str]]) -> str:
    """Write codes by vocabulary as JSON with sorted keys, "" when there are none."""
    if not codes:
        return ""
    ordered = [
        f"{encode_basestring(vocabulary)}:{dump_list(codes[vocabulary]) or '[]'}"
        for vocabulary in sorted(codes)
    ]
    return f"{{{','.join(ordered)}}}"


def load_codes(text: str) -> dict[str, tuple[str, ...]]:
    """Read what `dump_codes` wrote."""
    codes = _json(text) if text else {}
    if not isinstance(codes, dict):
        raise ValueError("codes that are no object")
    return {vocabulary: _strings(values) for vocabulary, values in codes.items()}


def columns_of(database: sqlite3.Connection) -> dict[str, list[tuple[str, str]]]:
    """List name and type of every column, by table."""
    by_table: dict[str, list[tuple[str, str]]] = {}
    for table, column, type in database.execute(_COLUMNS):
        by_table.setdefault(table, []).append((column, type))
    return by_table


@cache
def expected_columns() -> dict[str, list[tuple[str, str]]]:
    """List the columns that the tables of a knowledge base have."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(TABLES)
        return columns_of(database)


def _json(text: str) -> object:
    try:
        value: object = json.loads(text)
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    return value


def _strings(values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(type(value) is str for value in values):
        raise ValueError("something else than a list of texts")
    return tuple(values)


def kb_fingerprint(manifest: Mapping[str, object]) -> str:
    """Identify a knowledge base by its manifest: SHA-256, hexadecimal."""
    text = json.dumps(manifest, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_MOST_ROWS = 1 << 32  # the most that the arrays of assets can count
_COUNTS = ("concepts", "names")


def concept_of(row: Sequence[Any], names: tuple[Name, ...]) -> Concept:
    """Make the concept of a row; names (Tuple[Name, ...]): its names."""
    concept_row, id, name, first, _, types, codes, parents, definition = row
    return Concept(
        id=id, name=name, names=names, types=load_list(types), definition=definition,
        codes=load_codes(codes), parents=load_list(parents), row=concept_row,
        first_name=first,
    )  # fmt: skip


def name_of(row: Sequence[Any], labels: Mapping[int, str]) -> Name:
    """Make the name of a row; labels (Mapping[int, str]): texts by number."""
    text, lang, source, tty, obsolete = row
    return Name(text, labels[lang], labels[source], labels[tty], bool(obsolete))


def facts_of(values: Mapping[str, str]) -> dict[str, Any]:
    """Read the facts about a build, by their names, and check those that are counted with."""
    manifest = {name: json.loads(value) for name, value in values.items()}
    for name in _COUNTS:
        if type(manifest[name]) is not int or not 0 <= manifest[name] < _MOST_ROWS:
            raise ValueError(f"{name} is {manifest[name]!r}")
    return manifest
