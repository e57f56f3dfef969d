"""Temporary databases for readers and filters that must sort or look up records."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import Errors

SqlRow = tuple[Any, ...]


@contextmanager
def scratch(tables: str) -> Iterator[sqlite3.Connection]:
    """Open an empty database that lasts as long as the block.

    SQLite keeps it in an unnamed temporary file and only the pages in use in memory. A million rows
    therefore cost little memory, and a killed process leaves no file.

    tables (str): the SQL that creates its tables.
    RAISES (MedlinkError): E164 when the temporary space is full or cannot be written.
    """
    # A generator may be continued by another thread than the one that started it.
    db = sqlite3.connect("", uri=True, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA cache_size = -65536")
        db.executescript(tables)
        yield db
    except sqlite3.OperationalError as error:
        raise Errors.scratch_failed(reason=error) from error
    finally:
        db.close()


class SortedRows:
    """The rows of a query that is sorted by concept, taken concept by concept.

    stray (Callable): told each row of a concept that is never asked for.
    """

    def __init__(self, rows: Iterator[SqlRow], stray: Callable[[SqlRow], None]) -> None:
        self._rows, self._stray = rows, stray
        self._next = next(rows, None)

    def of(self, concept: float) -> list[SqlRow]:
        """Take the rows of a concept, without it; concepts must be asked for in rising order."""
        rows = []
        while self._next is not None and self._next[0] <= concept:
            if self._next[0] == concept:
                rows.append(self._next[1:])
            else:
                self._stray(self._next)
            self._next = next(self._rows, None)
        return rows
