"""check_sources: finds every problem of terminology files before anything is built."""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import MedlinkError
from ..text.normalisation import hash_key
from ..types import BadLine, Concept, Record
from .readers import FORMATS, read_numbered, tabular
from .scratch import scratch

PLACE = 1 << 40  # more lines than a file has
_EDGES = (
    "SELECT child.row, parent.row FROM above"
    " JOIN number AS child ON child.id = above.child JOIN number AS parent ON parent.id = parent"
)
_LONGEST = 8  # ids named of a cycle


def rings(db: sqlite3.Connection) -> Iterator[tuple[list[str], int]]:
    """Find a cycle in each part of the hierarchy that has one.

    db (Connection): the database of `check`, with the tables `piece` and `above`. Memory: some 40
        bytes an edge.
    RETURNS (Iterator): the ids of the cycle, the first repeated at the end ("..." in a long one),
        and the place of the first id: number of the file * PLACE + line.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    db.execute(
        f"CREATE TABLE number AS SELECT id, min(file * {PLACE} + line) AS place,"
        f" row_number() OVER (ORDER BY min(file * {PLACE} + line), id) - 1 AS row"
        " FROM piece GROUP BY id"
    )
    db.execute("CREATE INDEX number_id ON number (id)")
    db.execute("CREATE INDEX number_row ON number (row)")
    (count,) = db.execute("SELECT count(*) FROM number").fetchone()
    edges = np.fromiter(
        (row for edge in db.execute(_EDGES) for row in edge), dtype=np.int64
    ).reshape(-1, 2)
    if not len(edges):
        return
    ones = np.ones(len(edges), dtype=np.int8)
    graph = csr_array((ones, (edges[:, 0], edges[:, 1])), shape=(count, count))
    _, part_of = connected_components(graph, connection="strong")
    loops = edges[edges[:, 0] == edges[:, 1], 0]
    _, first, sizes = np.unique(part_of, return_index=True, return_counts=True)
    inside = edges[(part_of[edges[:, 0]] == part_of[edges[:, 1]]) & (edges[:, 0] != edges[:, 1])]
    above = {int(child): int(parent) for child, parent in inside[::-1]}  # a parent in the cycle
    found_rows = [[int(loop)] for loop in np.unique(loops)]
    found_rows += [_ring(one, above) for one in np.sort(first[sizes > 1]).tolist()]
    for rows in found_rows:
        query = "SELECT id, place FROM number WHERE row = ?"
        found = [db.execute(query, (row,)).fetchone() for row in rows[:_LONGEST]]
        ids = [id for id, _ in found]
        yield [*ids, "..." if len(rows) > _LONGEST else ids[0]], found[0][1]


def _ring(start: int, above: dict[int, int]) -> list[int]:
    """Walk up until a row comes again; the walk from there on is a cycle."""
    seen: dict[int, int] = {}
    row = start
    while row not in seen:
        seen[row] = len(seen)
        row = above[row]
    return list(seen)[seen[row] :]


ERROR, WARNING = "error", "warning"
_TABLES = """
CREATE TABLE piece (digest INTEGER PRIMARY KEY, file INT, line INT, id TEXT, folded TEXT);
CREATE TABLE name (id TEXT, text TEXT, lang TEXT, file INT, line INT);
CREATE TABLE above (child TEXT, parent TEXT, file INT, line INT);
"""
_INDICES = """
CREATE INDEX piece_id ON piece (id);
CREATE INDEX piece_folded ON piece (folded);
CREATE INDEX name_id ON name (id, text, lang);
"""
_CASE = (
    f"SELECT folded, id, min(file * {PLACE} + line) AS place FROM piece WHERE folded IN"
    " (SELECT folded FROM piece GROUP BY folded HAVING count(DISTINCT id) > 1)"
    " GROUP BY id ORDER BY folded, place, id"
)
_TWICE = (
    "SELECT id, text, file, max(line), count(*) FROM name GROUP BY id, text, lang"
    " HAVING count(*) > 1 ORDER BY file, 4, id, text"
)
_ORPHANS = (
    "SELECT child, parent, file, line FROM above WHERE NOT EXISTS"
    " (SELECT 1 FROM piece WHERE piece.id = parent) ORDER BY rowid"
)
_ALIKE = "SELECT id FROM piece WHERE folded = ? ORDER BY id LIMIT 1"
_MOST = 0.9  # share of ids that must look alike before the first line is compared with them
_SAMPLE = 1_000  # ids
_HALF = 1 << 63


class Problem(NamedTuple):
    """Something wrong with a source.

    severity (str): "error": a build would stop; "warning": it would not.
    line (int): 0 where the problem has no line, or the format does not give it.
    kind (str): the kind of problem, always in the same words. text (str): the details.
    """

    path: str
    line: int
    severity: str
    kind: str
    text: str


class Checked(NamedTuple):
    """The result of a check: the problems by file and line, and how much was read.

    concepts (int): distinct ids. names (int): names in the files, with repeats.
    """

    problems: list[Problem]
    concepts: int
    names: int

    @property
    def errors(self) -> int:
        """The number of problems that would stop a build."""
        return sum(one.severity == ERROR for one in self.problems)


def check_sources(
    sources: Sequence[tuple[str, Path]], options: Mapping[str, Any] | None = None
) -> Checked:
    """Read terminology files and list the problems of each file and of all files together.

    sources (Sequence[Tuple[str, Path]]): format and path of each. options (Optional[Mapping[str,
        Any]]): passed to the readers, such as `columns`.
    RAISES (MedlinkError): E108 for an unknown format, E164 without room for temporary files.
        Errors in the files are listed as problems instead.
    """
    options = options or {}
    problems: list[Problem] = []
    names = 0
    with scratch(_TABLES) as db:
        db.execute("BEGIN")
        for number, (format, path) in enumerate(sources):
            bad: list[BadLine] = []
            counts: Counter[str] = Counter()
            try:
                records = read_numbered(format, path, bad, **options)
                problems += _noted(db, number, str(path), records, format, counts)
                problems += _header(format, path, options)
            except MedlinkError as error:
                problems.append(Problem(str(path), 0, ERROR, "source", str(error)))
            problems += (
                Problem(one.path, one.line, ERROR, "bad line", f"{one.problem}, expected "
                        f"{one.expected}") for one in bad
            )  # fmt: skip
            names += counts["names"]
        db.execute("COMMIT")
        db.executescript(_INDICES)
        problems += _together(db, [str(path) for _, path in sources])
        (concepts,) = db.execute("SELECT count(DISTINCT id) FROM piece").fetchone()
    order = {str(path): place for place, (_, path) in enumerate(sources)}
    problems.sort(key=lambda one: (order.get(one.path, len(order)), one.line, one.severity))
    return Checked(problems, concepts, names)


def _noted(
    db: sqlite3.Connection,
    file: int,
    path: str,
    records: Iterable[tuple[int, Record]],
    format: str,
    counts: Counter[str],
) -> Iterator[Problem]:
    """Note in the tables what is compared later; return the problems of the record itself."""
    for line, record in records:
        if not isinstance(record, Concept):
            continue
        counts["names"] += len(record.names) or 1
        digest = hash_key(repr(record)) - _HALF  # SQLite has signed numbers
        row = (digest, file, line, record.id, record.id.casefold())
        if not db.execute("INSERT OR IGNORE INTO piece VALUES (?,?,?,?,?)", row).rowcount:
            query = "SELECT file, line FROM piece WHERE digest = ?"
            other, first = db.execute(query, (digest,)).fetchone()
            where = f"line {first}" if first else f"another entry of {record.id}"
            where += "" if other == file else " of another file"
            yield Problem(path, line, WARNING, "duplicate row", f"the same as {where}")
            continue
        names = [(record.id, *one, file, line) for one in _further_names(record)]
        db.executemany("INSERT INTO name VALUES (?,?,?,?,?)", names)
        above = [(record.id, parent, file, line) for parent in record.parents]
        db.executemany("INSERT INTO above VALUES (?,?,?,?)", above)
        if FORMATS[format] == "tabular":
            yield from _stray(path, line, record)


def _further_names(concept: Concept) -> list[tuple[str, str]]:
    """List the names (text, language) beside the preferred one, which rows may repeat."""
    names = [(name.text, name.lang) for name in concept.names]
    first = next((one for one in names if one[0] == concept.name), None)
    if first is not None:
        names.remove(first)
    return names


def _stray(path: str, line: int, concept: Concept) -> Iterator[Problem]:
    """Find unpaired quotation marks, and their effect: line breaks within a name."""
    for text in dict.fromkeys((concept.id, *(name.text for name in concept.names))):
        if text.count('"') % 2:
            said = f"a quotation mark without its other half in {text[:60]!r}"
            yield Problem(path, line, WARNING, "stray quote", said)
        elif "\n" in text:
            said = f"a line end within {text[:60]!r}: was a quotation mark not closed?"
            yield Problem(path, line, WARNING, "stray quote", said)


def _header(format: str, path: Path, options: Mapping[str, Any]) -> Iterator[Problem]:
    """Compare the first line of a table with the ids below it: is it a header, or is it data?"""
    if FORMATS[format] != "tabular":
        return
    found = tabular.layout_of(path, options.get("columns"))
    if found is None:
        return
    layout, first = found
    if layout.unread:
        said = f"not read, since their headers are not known: {', '.join(layout.unread)[:200]}"
        yield Problem(str(path), 1, WARNING, "unread columns", said)
    place = layout.fields["id"]
    ids = [concept.id for concept in _some(path, options)]
    own = first[place].strip()
    if not layout.has_header:
        ids = ids[1:]
    if len(ids) < 2:
        return
    shape, count = Counter(map(_shape, ids)).most_common(1)[0]
    with_digits = sum(any(map(str.isdigit, id)) for id in ids)
    if layout.has_header and "9" in shape and count >= _MOST * len(ids) and _shape(own) == shape:
        said = f"taken as a header, but {own!r} looks like an id: name the columns by number"
        yield Problem(str(path), 1, WARNING, "header", said)
    elif not layout.has_header and with_digits >= _MOST * len(ids) and own.isalpha():
        said = f"taken as data, but looks like a header ({', '.join(first)[:100]}): remove it, or "
        yield Problem(str(path), 1, WARNING, "header", said + "name the columns as it does")


def _some(path: Path, options: Mapping[str, Any]) -> Iterator[Concept]:
    for _, (_, piece) in zip(range(_SAMPLE), tabular.numbered(path, [], **options), strict=False):
        yield piece


def _shape(id: str) -> str:
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "A", id))


def _together(db: sqlite3.Connection, paths: Sequence[str]) -> Iterator[Problem]:
    """Find the problems that only all records together show."""
    first: tuple[str, str] = ("", "")
    for folded, id, place in db.execute(_CASE):
        file, line = divmod(place, PLACE)
        if folded != first[0]:
            first = (folded, id)
            continue
        said = f"the id {id!r} differs from {first[1]!r} in case only"
        yield Problem(paths[file], line, WARNING, "ids alike", said)
    for id, text, file, line, count in db.execute(_TWICE):
        said = f"{id} has the name {text[:60]!r} {count} times"
        yield Problem(paths[file], line, WARNING, "duplicate name", said)
    for child, parent, file, line in db.execute(_ORPHANS).fetchall():
        alike = db.execute(_ALIKE, (parent.casefold(),)).fetchone()
        hint = f"; there is {alike[0]!r}" if alike else ""
        said = f"the parent {parent!r} of {child} is not there{hint}"
        yield Problem(paths[file], line, WARNING, "unknown parent", said)
    for ring, place in rings(db):
        file, line = divmod(place, PLACE)
        said = f"{' -> '.join(ring)}: each is below the next"
        yield Problem(paths[file], line, WARNING, "cycle", said)
