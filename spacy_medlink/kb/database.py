"""The SQLite file of a knowledge base, opened read-only; its errors get their codes here.

SQLite opens files by path only, and each thread and forked child needs its own connection. If the
file that was opened first has meanwhile been removed, they get a private copy of it: concepts of
one build must not be mixed with names of another.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any

from ..errors import Errors, MedlinkError
from ..util.files import OwnedDirectory
from ..util.held import Held
from ..util.locks import ForkSafeLock
from . import schema

_ROWS = 1024  # read at a time
# A file of unknown origin must not run code, and damaged pages must be noticed.
_CAREFUL = ("PRAGMA trusted_schema=OFF", "PRAGMA cell_size_check=ON")
_OTHERS = "SELECT type, name FROM sqlite_master WHERE type <> 'table'"


# A number too large for SQLite was computed from damaged numbers of the file.
_Faults = (sqlite3.DatabaseError, OverflowError)


def _coded(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let errors of a cursor's method say which knowledge base is damaged (E102)."""

    @wraps(method)
    def coded(cursor: sqlite3.Cursor, *values: object) -> object:
        try:
            return method(cursor, *values)
        except sqlite3.ProgrammingError:  # not the file's fault
            raise
        except _Faults as error:
            assert isinstance(cursor.connection, Connection)
            raise Errors.kb_damaged(path=cursor.connection.path, reason=error) from error

    return coded


class _Cursor(sqlite3.Cursor):
    execute = _coded(sqlite3.Cursor.execute)
    fetchone = _coded(sqlite3.Cursor.fetchone)
    fetchmany = _coded(sqlite3.Cursor.fetchmany)
    fetchall = _coded(sqlite3.Cursor.fetchall)

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]  # it is read in blocks
        while rows := self.fetchmany(_ROWS):
            yield from rows


class ClosingConnection(sqlite3.Connection):
    """A connection that closes itself; Python 3.13 warns of one that nobody has closed."""

    def __del__(self) -> None:
        with suppress(sqlite3.ProgrammingError):  # it was never opened
            self.close()


class Connection(ClosingConnection):
    """A connection whose errors say which knowledge base is damaged (E102)."""

    path: Path

    def execute(self, query: str, values: object = ()) -> Any:
        """Execute a statement. RAISES (MedlinkError): E102, also when its rows are read."""
        return self.cursor(_Cursor).execute(query, values)


class Database:
    """The file, held open, and how connections to it are made.

    path (Path): the file's path, for messages. held (Optional[Held]): the file, if already open.
    RAISES (MedlinkError): E101 no file.
    """

    def __init__(self, path: Path, held: Held | None = None) -> None:
        self.path = path
        if held is None and not path.is_file():
            raise Errors.kb_missing(path=path)
        try:
            self.held = held or Held(path)
        except OSError as error:
            raise Errors.kb_damaged(path=path, reason=error.strerror or error) from error
        self._copy: tuple[OwnedDirectory, Held] | None = None
        self._lock = ForkSafeLock()

    def connect(self) -> Connection:
        """Make a connection to the file that was opened, even if another is now at its path.

        RAISES (MedlinkError): E102 not a knowledge base, E103 of another schema, E204 where the
            file was replaced and cannot be copied.
        """
        # If the path has the same file before and after, SQLite has opened this file.
        while (place := self.held.place) is not None:
            try:
                connection = _connect(place, self.path, self.held.size)
            except MedlinkError:
                if self.held.is_at(place):
                    raise
            else:
                if self.held.is_at(place):
                    return connection
                connection.close()
        copy = self._private_copy()
        return _connect(copy.path, self.path, copy.size)

    def _private_copy(self) -> Held:
        with self._lock:
            # A forked child may outlive the process that made the copy, and removes it at its end.
            if self._copy is None or self._copy[1].place is None:
                try:
                    directory = OwnedDirectory("spacy-medlink-kb-")
                    self.held.put(directory.path / "kb.sqlite")
                    self._copy = directory, Held(directory.path / "kb.sqlite")
                except (OSError, MedlinkError) as error:
                    problem = f"{self.path.name} was replaced since it was opened ({error})"
                    raise Errors.assets_mismatch(path=self.path.parent, problem=problem) from error
            return self._copy[1]


def _connect(file: Path, path: Path, size: int) -> Connection:
    """Connect to a file. path (Path): the path for messages."""
    # immutable: no locks and no journal look-ups, so read-only file systems work too; a new
    # build replaces the file instead of changing it.
    uri = file.absolute().as_uri() + "?mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False, factory=Connection)
        connection.path = path
        for pragma in _CAREFUL:
            connection.execute(pragma)
    except sqlite3.DatabaseError as error:
        raise Errors.kb_damaged(path=path, reason=error) from error
    version = schema.found_version(connection)
    if version is None:
        raise Errors.kb_damaged(path=path, reason="another kind of SQLite file")
    if version != schema.VERSION:
        raise Errors.other_schema(
            path=path, found=version, expected=schema.VERSION, verb="kb build"
        )
    sizes = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    (expected,) = connection.execute(sizes).fetchone()
    if size < expected:  # SQLite reads the missing end of a page as zeros
        raise Errors.kb_damaged(path=path, reason="its end is missing")
    if problem := _odd_table(connection):
        raise Errors.kb_damaged(path=path, reason=problem)
    return connection


def _odd_table(connection: sqlite3.Connection) -> str:
    """Find what differs from the schema: a view without end, a trigger, a table; "" if none."""
    expected, there = schema.expected_columns(), schema.columns_of(connection)
    for type, name in connection.execute(_OTHERS):
        if type != "index" or name not in schema.INDICES:
            return f"it has the {type} {name!r}"
    if unknown := there.keys() - expected.keys():
        return f"it has the table {min(unknown)!r}"
    for table, columns in expected.items():
        if there.get(table) != columns:
            return f"the table {table} is not there, or is another one"
    return ""
