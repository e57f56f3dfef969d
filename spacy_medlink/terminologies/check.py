"""check_sources: finds every problem of terminology files before anything is built."""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from ..errors import MedlinkError
from ..kb.readers import module_of, read_numbered, tabular
from ..kb.scratch import scratch
from ..text.normalisation import hash_key
from ..types import BadLine, Concept, Record

ERROR, WARNING = "error", "warning"
_PLACE = 1 << 40  # more lines than a file has: a place is the number of the file * this + line
_TABLES = """
CREATE TABLE piece (digest INTEGER PRIMARY KEY, file INT, line INT, id TEXT, folded TEXT);
CREATE TABLE name (id TEXT, text TEXT, lang TEXT, file INT, line INT);
CREATE TABLE above (child TEXT, parent TEXT, file INT, line INT);
"""
_INDICES = f"""
CREATE INDEX piece_id ON piece (id);
CREATE INDEX piece_folded ON piece (folded);
CREATE INDEX name_id ON name (id, text, lang);
CREATE TABLE number AS SELECT id, min(file * {_PLACE} + line) AS place,
    row_number() OVER (ORDER BY min(file * {_PLACE} + line), id) - 1 AS row FROM piece GROUP BY id;
CREATE INDEX number_id ON number (id);
CREATE INDEX number_row ON number (row);
"""
_CASE = (
    f"SELECT folded, id, min(file * {_PLACE} + line) AS place FROM piece WHERE folded IN"
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
_EDGES = (
    "SELECT child.row, parent.row FROM above"
    " JOIN number AS child ON child.id = above.child JOIN number AS parent ON parent.id = parent"
)
_LONGEST = 8  # ids named of a cycle
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
        return sum(problem.severity == ERROR for problem in self.problems)


def check_sources(
    sources: Sequence[tuple[str, Path]], options: Mapping[str, object] | None = None
) -> Checked:
    """Read terminology files and list the problems of each file and of all files together.

    sources (Sequence[Tuple[str, Path]]): format and path of each. options (Optional[Mapping[str,
        object]]): passed to the readers, such as `columns`.
    RAISES (MedlinkError): E108 for an unknown format, E164 without room for temporary files.
        Errors in the files are listed as problems instead.
    """
    options = options or {}
    problems: list[Problem] = []
    counts = Counter[str]()
    with scratch(_TABLES) as db:
        db.execute("BEGIN")
        for file, (format, path) in enumerate(sources):
            bad: list[BadLine] = []
            try:
                is_table = module_of(format) is tabular
                western: list[int] = []
                more = {"western": western} if is_table else {}
                records = read_numbered(format, path, bad, **options, **more)
                problems += _of_records(db, file, str(path), records, is_table, counts)
                problems += _of_header(path, options) if is_table else ()
                if western:
                    text = f"{len(western):,} lines are not UTF-8, and read as Windows-1252"
                    problems.append(Problem(str(path), western[0], WARNING, "encoding", text))
            except MedlinkError as error:
                problems.append(Problem(str(path), 0, ERROR, "source", str(error)))
            problems += (
                Problem(line.path, line.line, ERROR, "bad line",
                        f"{line.problem}, expected {line.expected}") for line in bad
            )  # fmt: skip
        db.execute("COMMIT")
        db.executescript(_INDICES)
        problems += _of_all(db, [str(path) for _, path in sources])
        (concepts,) = db.execute("SELECT count(*) FROM number").fetchone()
    order = {str(path): file for file, (_, path) in enumerate(sources)}
    problems.sort(key=lambda each: (order.get(each.path, len(order)), each.line, each.severity))
    return Checked(problems, concepts, counts["names"])


def _of_records(
    db: sqlite3.Connection,
    file: int,
    path: str,
    records: Iterable[tuple[int, Record]],
    is_table: bool,
    counts: Counter[str],
) -> Iterator[Problem]:
    """Note in the tables what is compared later; return the problems of the records themselves."""
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
        # The preferred name is left out once: rows may repeat it.
        names = [(name.text, name.lang) for name in record.names]
        preferred = [name for name in names if name[0] == record.name]
        for name in preferred[:1]:
            names.remove(name)
        rows = [(record.id, *name, file, line) for name in names]
        db.executemany("INSERT INTO name VALUES (?,?,?,?,?)", rows)
        above = [(record.id, parent, file, line) for parent in record.parents]
        db.executemany("INSERT INTO above VALUES (?,?,?,?)", above)
        # Unpaired quotation marks, and their effect: line breaks within a name.
        for text in dict.fromkeys((record.id, *(name.text for name in record.names))):
            problem = ""
            if text.count('"') % 2:
                problem = f"an unpaired quotation mark in {text[:60]!r}"
            elif "\n" in text:
                problem = f"a line end within {text[:60]!r}: was a quotation mark not closed?"
            if problem and is_table:
                yield Problem(path, line, WARNING, "stray quote", problem)


def _of_header(path: Path, options: Mapping[str, object]) -> Iterator[Problem]:
    """Compare the first line of a table with the ids below it: is it a header, or is it data?"""
    columns = cast(tabular.Columns | None, options.get("columns"))
    if tabular.published_table(path, str(options.get("encoding", ""))) and not columns:
        return
    laid_out = tabular.layout_of(path, columns, str(options.get("encoding", "")))
    if laid_out is None:
        return
    layout, first = laid_out
    if layout.unread:
        headers = ", ".join(layout.unread)[:200]
        text = f"not read, since their headers are not known: {headers}"
        yield Problem(str(path), 1, WARNING, "unread columns", text)
    rows = islice(read_numbered("csv", path, [], **options), _SAMPLE)
    ids = [record.id for _, record in rows][0 if layout.has_header else 1 :]
    if len(ids) < 2:
        return
    header = first[layout.fields["id"][0]].strip()
    shape, count = Counter(map(_shape, ids)).most_common(1)[0]
    with_digits = sum(any(map(str.isdigit, id)) for id in ids)
    if layout.has_header and "9" in shape and count >= _MOST * len(ids) and _shape(header) == shape:
        text = f"taken as a header, but {header!r} looks like an id: name the columns by number"
    elif not layout.has_header and with_digits >= _MOST * len(ids) and header.isalpha():
        text = (
            f"taken as data, but looks like a header ({', '.join(first)[:100]}): remove it, or "
            "name the columns as it does"
        )
    else:
        return
    yield Problem(str(path), 1, WARNING, "header", text)


def _shape(id: str) -> str:
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "A", id))


def _of_all(db: sqlite3.Connection, paths: Sequence[str]) -> Iterator[Problem]:
    """Find the problems that only all records together show."""
    first: tuple[str, str] = ("", "")
    for folded, id, first_place in db.execute(_CASE):
        file, line = divmod(first_place, _PLACE)
        if folded != first[0]:
            first = (folded, id)
            continue
        text = f"the id {id!r} differs from {first[1]!r} in case only"
        yield Problem(paths[file], line, WARNING, "ids alike", text)
    for id, name, file, line, count in db.execute(_TWICE):
        text = f"{id} has the name {name[:60]!r} {count} times"
        yield Problem(paths[file], line, WARNING, "duplicate name", text)
    for child, parent, file, line in db.execute(_ORPHANS).fetchall():
        alike = db.execute(_ALIKE, (parent.casefold(),)).fetchone()
        hint = f"; there is {alike[0]!r}" if alike else ""
        text = f"the parent {parent!r} of {child} is not there{hint}"
        yield Problem(paths[file], line, WARNING, "unknown parent", text)
    for ring in _rings(db):
        query = "SELECT id, place FROM number WHERE row = ?"
        members = [db.execute(query, (row,)).fetchone() for row in ring[:_LONGEST]]
        file, line = divmod(members[0][1], _PLACE)
        ids = [*(id for id, _ in members), "..." if len(ring) > _LONGEST else members[0][0]]
        text = f"{' -> '.join(ids)}: each is below the next"
        yield Problem(paths[file], line, WARNING, "cycle", text)


def _rings(db: sqlite3.Connection) -> Iterator[list[int]]:
    """Find a cycle in each part of the hierarchy that has one: rows of `number`, child to parent.

    Memory: some 40 bytes an edge.
    """
    # scipy's graphs take long to import, and only a check needs them.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    edges = np.fromiter(chain.from_iterable(db.execute(_EDGES)), np.int64).reshape(-1, 2)
    if not len(edges):
        return
    (count,) = db.execute("SELECT count(*) FROM number").fetchone()
    ones = np.ones(len(edges), dtype=np.int8)
    graph = csr_array((ones, (edges[:, 0], edges[:, 1])), shape=(count, count))
    _, part_of = connected_components(graph, connection="strong")
    yield from ([row] for row in np.unique(edges[edges[:, 0] == edges[:, 1], 0]).tolist())
    inside = edges[(part_of[edges[:, 0]] == part_of[edges[:, 1]]) & (edges[:, 0] != edges[:, 1])]
    above = {int(child): int(parent) for child, parent in inside[::-1]}  # a parent in the cycle
    _, firsts, sizes = np.unique(part_of, return_index=True, return_counts=True)
    for row in np.sort(firsts[sizes > 1]).tolist():
        # Walk up until a row comes again; the walk from there on is a cycle.
        walk: dict[int, int] = {}
        while row not in walk:
            walk[row] = len(walk)
            row = above[row]
        yield list(walk)[walk[row] :]
