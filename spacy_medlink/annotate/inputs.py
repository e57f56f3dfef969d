"""The inputs of bulk annotation: formats of documents, each read as a stream."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import Errors
from ..kb.readers.foreign import unknown_ending
from .documents import Document
from .text_inputs import (
    Columns,
    json_columns,
    read_folder,
    read_json_lines,
    read_table,
    text_files,
)


class Input(NamedTuple):
    """An input whose format is known.

    total (Callable): counts the documents before they are read; lines that are blank or damaged
        may count, too.
    state (Dict[str, object]): changes with the input; a run is resumed only with the same state.
    """

    read: Callable[[], Iterator[Document]]
    total: Callable[[], int]
    state: dict[str, object]


LINES = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
TABLES = {".csv": "", ".csv.gz": "", ".tsv": "\t", ".tsv.gz": "\t", ".xlsx": None}
PARQUET = ".parquet"
KNOWN = (*LINES, *TABLES, PARQUET)


def open_input(path: Path, columns: Columns) -> Input:
    """Recognise the format of an input; `read` then reads it.

    RAISES (MedlinkError): E107 when there is none, E407 for a directory without text files, E611
        for another format, E614 for Parquet without pyarrow, E615 for a column that it lacks.
    """
    if not path.exists():
        raise Errors.source_missing(path=path)
    if path.is_dir():
        files = text_files(path)
        if not files:
            remedy = "Give a directory of text files, or a file."
            raise Errors.nothing_there(path=path, what="text file (.txt)", remedy=remedy)
        states: dict[str, object] = {
            "files": hash_of([(file, _state_of(path / file)) for file in files])
        }
        return Input(lambda: read_folder(path, files), lambda: len(files), states)
    state = _state(path)
    if path.name.lower().endswith(PARQUET):
        from .parquet import parquet_columns, read_parquet, rows_of

        fields = parquet_columns(path, columns)
        return Input(lambda: read_parquet(path, *fields), lambda: rows_of(path), state)
    read = _reader(path, columns)
    return Input(read, lambda: sum(1 for _ in read()), state)


def _reader(path: Path, columns: Columns) -> Callable[[], Iterator[Document]]:
    """Choose the reader, and find the columns now: one that is missing is an error at once."""
    name = path.name.lower()
    if name.endswith(LINES):
        fields = json_columns(path, columns)
        return lambda: read_json_lines(path, *fields)
    suffix = next((suffix for suffix in TABLES if name.endswith(suffix)), "")
    if not suffix:
        raise unknown_ending(path, KNOWN)
    next(read_table(path, columns, TABLES[suffix]), None)
    return lambda: read_table(path, columns, TABLES[suffix])


def hash_of(value: object) -> str:
    """Make a short hash of plain data."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


def _state(path: Path) -> dict[str, object]:
    stat = path.stat()
    return {"size": stat.st_size, "modified": stat.st_mtime_ns}


def _state_of(path: Path) -> dict[str, object]:
    """Describe a file of a directory; an unreadable file is set aside later."""
    try:
        return _state(path)
    except OSError:
        return {}
