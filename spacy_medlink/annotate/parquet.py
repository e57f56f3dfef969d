"""Parquet, read and written in pieces; pyarrow comes with the extra `parquet`."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.util import minibatch

from ..errors import Errors
from ..text.context import KINDS, SECTION
from ..types import Data
from ..util.extras import missing
from .documents import Document
from .text_inputs import Columns, columns_of, document_of

_ROWS = 1000


def arrow() -> Any:
    """Import pyarrow.

    RAISES (MedlinkError): E614 when it is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise missing(error, "Parquet") from error
    return pyarrow


def parquet_columns(path: Path, columns: Columns) -> tuple[str, str]:
    """Find the columns of a file.

    RAISES (MedlinkError): E165 for a file that is no Parquet, E615 for a column that it lacks.
    """
    with open_parquet(path) as file:
        return columns_of(path, file.schema_arrow.names, columns)


def rows_of(path: Path) -> int:
    """Count the rows of a file."""
    with open_parquet(path) as file:
        rows: int = file.metadata.num_rows
        return rows


def read_parquet(path: Path, text_column: str, id_column: str) -> Iterator[Document]:
    """Stream the rows of a file."""
    row = 0
    with open_parquet(path) as file:
        columns = [column for column in (text_column, id_column) if column]
        for batch in file.iter_batches(batch_size=_ROWS, columns=columns):
            values = batch.to_pydict()
            ids = values[id_column] if id_column else [None] * batch.num_rows
            for text, id in zip(values[text_column], ids, strict=True):
                row += 1
                yield document_of(text, id if id_column else str(row), f"row {row}")


def write_parquet(path: Path, records: Iterable[str], with_text: bool) -> None:
    """Write records, which are JSON objects, as the rows of a file."""
    pyarrow = arrow()
    schema = _schema(pyarrow, with_text)
    rows = map(_row, records)
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for block in minibatch(rows, _ROWS):  # type: ignore[no-untyped-call]  # spaCy gives it no types
            writer.write_batch(pyarrow.RecordBatch.from_pylist(block, schema))


def _row(record: str) -> Data:
    row: Data = json.loads(record)
    for mention in row["mentions"]:
        mention["codes"] = list(mention["codes"].items())  # Arrow's form of a map
        for candidate in mention["candidates"]:
            candidate |= {name: list(candidate[name].items()) for name in ("scores", "ranks")}
    return row


def open_parquet(path: Path) -> Any:
    """Open a file.

    RAISES (MedlinkError): E165 for one that is no Parquet, E614 without pyarrow.
    """
    pyarrow = arrow()
    try:
        return pyarrow.parquet.ParquetFile(path, memory_map=True)
    except (pyarrow.ArrowException, OSError) as error:
        raise Errors.source_unreadable(path=path, reason="not a Parquet file") from error


def _schema(pyarrow: Any, with_text: bool) -> Any:
    text, number, strings = pyarrow.string(), pyarrow.float64(), pyarrow.list_(pyarrow.string())
    candidate = {
        **dict.fromkeys(("id", "name", "matched"), text), "score": number, "prob": number,
        "scores": pyarrow.map_(text, number), "ranks": pyarrow.map_(text, pyarrow.int32()),
        "types": strings, "match": text,
    }  # fmt: skip
    part = dict.fromkeys(("text", "id", "cui", "name", "matched"), text) | {"score": number}
    mention = {
        "start": pyarrow.int32(), "end": pyarrow.int32(), "mention": text, "type": text,
        "ids": strings, **dict.fromkeys(("cui", "name", "matched"), text), "score": number,
        "prob": number, "reason": text, "codes": pyarrow.map_(text, strings),
        "ambiguous_codes": strings,
        "candidates": pyarrow.list_(pyarrow.struct(candidate.items())), "ambiguous": strings,
        "parts": pyarrow.list_(pyarrow.struct(part.items())),
        **dict.fromkeys(KINDS, pyarrow.bool_()), SECTION: text,
    }  # fmt: skip
    columns = [("doc_id", text), *([("text", text)] if with_text else [])]
    mentions = pyarrow.list_(pyarrow.struct(mention.items()))
    return pyarrow.schema([*columns, ("mentions", mentions)])
