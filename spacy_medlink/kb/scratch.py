"""Temporary databases for readers and filters that must sort or look up records."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from typing import Any, Generic, TypeVar

from ..errors import Errors

SqlRow = tuple[Any, ...]
Row = TypeVar("Row", bound=Sequence[Any])


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


class Groups(Generic[Row]):
    """Rows that are sorted by their first cell, an id, taken id by id in rising order.

    stray (Callable): told each row of an id that is never asked for.
    """

    def __init__(
        self, rows: Iterator[Row], stray: Callable[[Row], object] = lambda row: None
    ) -> None:
        self._groups, self._stray = groupby(rows, key=itemgetter(0)), stray
        self._id, self._rows = self._next()

    def take(self, id: Any) -> list[Row]:
        """Get the rows of an id, which must be higher than the previous one."""
        while self._rows and self._id < id:
            self._pass()
        if not self._rows or self._id != id:
            return []
        rows = self._rows
        self._id, self._rows = self._next()
        return rows

    def finish(self) -> None:
        """Read the rest."""
        while self._rows:
            self._pass()

    def _pass(self) -> None:
        for row in self._rows:
            self._stray(row)
        self._id, self._rows = self._next()

    def _next(self) -> tuple[Any, list[Row]]:
        id, rows = next(self._groups, (None, ()))
        return id, list(rows)
