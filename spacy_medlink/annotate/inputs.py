"""The inputs of bulk annotation: formats of documents, each read as a stream."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import Errors
from ..kb.readers.foreign import unknown_ending
from .documents import Document
from .text_inputs import read_folder, read_json_lines, read_table, text_files


class Columns(NamedTuple):
    """Names of the columns; with id "", the id of a document is its number."""

    text: str = "text"
    id: str = "doc_id"


DEFAULT_COLUMNS = Columns()


class Input(NamedTuple):
    """An input whose format is known.

    total (Optional[int]): number of documents, None where it is not known before reading.
    state (Dict[str, object]): changes with the input; a run is resumed only with the same state.
    """

    read: Callable[[], Iterator[Document]]
    total: int | None
    state: dict[str, object]


LINES = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
TABLES = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t", ".xlsx": ""}
PARQUET = ".parquet"
KNOWN = (*LINES, *TABLES, PARQUET)


def open_input(path: Path, columns: Columns) -> Input:
    """Recognise the format of an input; `read` then reads it.

    RAISES (MedlinkError): E107 when there is none, E407 for a directory without text files, E611
        for another format, E614 for Parquet without pyarrow, E615 for a column that a table lacks.
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
        return Input(lambda: read_folder(path, files), len(files), states)
    name = path.name.lower()
    state = _state(path)
    if name.endswith(LINES):
        return Input(lambda: read_json_lines(path, *columns), None, state)
    if name.endswith(tuple(TABLES)):
        delimiter = next(TABLES[suffix] for suffix in TABLES if name.endswith(suffix))
        next(read_table(path, *columns, delimiter), None)  # raises now if a column is missing
        return Input(lambda: read_table(path, *columns, delimiter), None, state)
    if name.endswith(PARQUET):
        from .parquet import read_parquet, rows_of

        total = rows_of(path, *columns)
        return Input(lambda: read_parquet(path, *columns), total, state)
    raise unknown_ending(path, KNOWN)


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
