"""Documents from JSON Lines, tables, workbooks and directories of text files.

A document that cannot be read keeps its place in the stream, with the problem instead of its text.
"""

import csv
import gzip
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from io import BufferedIOBase
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import Errors
from ..kb.readers.lines import LONGEST, open_source, raw_lines
from ..kb.readers.rows import delimiter_of
from ..kb.readers.xlsx import first_sheet
from ..util.json_text import is_encodable
from .documents import Document

# Usual names of columns, without case and signs; of several, the first one here counts.
_TEXTS = (
    "text", "notetext", "reporttext", "documenttext", "fulltext", "note", "report", "document",
    "content", "body", "transcription", "abstract", "sentence",
)  # fmt: skip
_IDS = ("docid", "documentid", "noteid", "reportid", "textid", "id", "uid", "rowid", "pmid")
_OPTIONS = {
    "text": "`--columns text=COLUMN`",
    "id": "`--columns id=COLUMN` (`--columns id=` numbers the documents)",
}
_FIRST = 100  # objects of a file in which its fields are looked for: one may lack some
_NOT_UTF8 = "not UTF-8"
_DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)


class Columns(NamedTuple):
    """Names of the columns; None finds one by its usual names; id "" numbers the documents."""

    text: str | None = None
    id: str | None = None


def columns_of(place: object, header: Sequence[str], columns: Columns) -> tuple[str, str]:
    """Find the columns of the text and of the id, which is "" where documents are numbered.

    place (object): the file or line that has the header, for messages.
    RAISES (MedlinkError): E615 for a column that it lacks.
    """
    by_name = {re.sub(r"[\W_]", "", name.lower()): name for name in reversed(header)}
    fields = []
    for what, wanted, usual in (("text", columns.text, _TEXTS), ("id", columns.id, _IDS)):
        known = (by_name[name] for name in usual if name in by_name)
        field = next(known, None) if wanted is None else wanted
        if field is None or field not in (*header, ""):
            raise Errors.no_text_column(
                path=place, column=f"for the {what}" if wanted is None else repr(wanted),
                found=", ".join(header) or "none", option=_OPTIONS[what],
            )  # fmt: skip
        fields.append(field)
    return fields[0], fields[1]


def json_columns(path: Path, columns: Columns) -> tuple[str, str]:
    """Find the fields of a file of JSON Lines by its first objects.

    RAISES (MedlinkError): E165 when the file cannot be read, E615 for a field that all lack.
    """
    with open_source(path) as file:
        objects = list(islice(_objects(_until_damage(file, path)), _FIRST))
    if not objects:  # each line is set aside, with its problem
        return columns.text or "text", columns.id or ""
    fields = list(dict.fromkeys(field for _, data in objects for field in data))
    return columns_of(f"{path}, line {objects[0][0]}", fields, columns)


def _objects(lines: Iterable[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    for line_number, line in enumerate(lines, 1):
        try:
            data = json.loads(line.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict):
            yield line_number, data


def read_json_lines(path: Path, text_field: str, id_field: str) -> Iterator[Document]:
    """Stream the documents of a file with one JSON object a line; empty lines do not count.

    RAISES (MedlinkError): E165 when the file cannot be read to its end.
    """
    with open_source(path) as file:
        for line_number, line in enumerate(_until_damage(file, path), 1):
            if not line.strip():
                continue
            place = f"line {line_number}"
            try:
                data = json.loads(line.decode("utf-8-sig" if line_number == 1 else "utf-8"))
            except UnicodeDecodeError:
                yield Document("", "", place, _NOT_UTF8)
            except (ValueError, RecursionError):
                yield Document("", "", place, "not JSON")
            else:
                yield _of_fields(data, text_field, id_field, place, str(line_number))


def read_table(path: Path, columns: Columns, delimiter: str | None) -> Iterator[Document]:
    """Stream the rows of a table with a first line that names the columns.

    delimiter (Optional[str]): of CSV or TSV, "" for the most frequent one of the first line; None
        for the first sheet of a workbook (.xlsx).
    RAISES (MedlinkError): E165 when the file cannot be read to its end, E615 for a column that it
        lacks.
    """
    rows = _of_sheet(path) if delimiter is None else _delimited(path, delimiter)
    header = next(rows, None) or []
    fields = columns_of(path, header, columns)
    for row_number, row in enumerate(rows, 1):
        if row == []:
            continue
        place = f"row {row_number}"
        if row is None or len(row) != len(header):
            cells = "no row of a table" if row is None else f"{len(row)} fields"
            yield Document("", "", place, f"{cells} where {len(header)} fields were expected")
            continue
        yield _of_fields(dict(zip(header, row, strict=True)), *fields, place, str(row_number))


def _delimited(path: Path, delimiter: str) -> Iterator[list[str] | None]:
    """Stream the rows of CSV or TSV, with None for a row that cannot be read."""
    with open_source(path) as file:
        lines = (
            line.decode("utf-8-sig" if row_number == 0 else "utf-8", "surrogateescape")
            for row_number, line in enumerate(_until_damage(file, path))
        )
        first = next(lines, "")
        delimiter = delimiter or delimiter_of([first])
        yield from _rows(csv.reader(chain([first], lines), delimiter=delimiter))


def _of_sheet(path: Path) -> Iterator[list[str] | None]:
    """Stream the rows of the first sheet, all as wide as its first: it leaves out empty cells."""
    width = 0
    for _, cells in first_sheet(path):
        width = width or len(cells)
        yield [*cells, *[""] * (width - len(cells))]


def read_folder(path: Path, files: Sequence[str]) -> Iterator[Document]:
    """Stream text files; the id of each is its path within the directory."""
    for name in files:
        problem, text = "", ""
        if not is_encodable(name):
            shown = name.encode("utf-8", "backslashreplace").decode()
            yield Document("", "", f"file {shown}", "the name of the file is " + _NOT_UTF8)
            continue
        try:
            with (path / name).open("rb") as file:
                content = file.read(LONGEST + 1)
            if len(content) > LONGEST:
                problem = f"is over {LONGEST >> 20} MB"
            else:
                text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            problem = _NOT_UTF8
        except OSError as error:
            problem = f"cannot be read ({error.strerror})"
        yield Document(name, text, f"file {name}", problem)


def text_files(path: Path) -> list[str]:
    """List the text files of a directory and those below it, in the order of their names."""
    files = []
    for directory, _, names in os.walk(path):
        inside = Path(directory).relative_to(path)
        files += [(inside / name).as_posix() for name in names if name.lower().endswith(".txt")]
    return sorted(files)


def document_of(text: Any, id: Any, origin: str) -> Document:
    """Make a document of a text and an id, or describe the problem with them."""
    if isinstance(id, int | float | Decimal) and not isinstance(id, bool) and id % 1 == 0:
        id = str(int(id))  # many programs write whole numbers as 12.0 where some are missing
    if not isinstance(id, str) or not id:
        return Document("", "", origin, "no id")
    if not is_encodable(id):
        return Document("", "", origin, "the id is " + _NOT_UTF8)
    if not isinstance(text, str):
        return Document(id, "", origin, "no text" if text is None else "the text is no string")
    if not is_encodable(text):
        return Document(id, "", origin, "the text is " + _NOT_UTF8)
    return Document(id, text, origin)


def _of_fields(data: Any, text_field: str, id_field: str, place: str, row_number: str) -> Document:
    if not isinstance(data, dict):
        return Document("", "", place, "not an object")
    return document_of(data.get(text_field), data.get(id_field) if id_field else row_number, place)


def _rows(rows: Iterator[list[str]]) -> Iterator[list[str] | None]:
    """Yield rows, with None for a row that cannot be read."""
    row: list[str] | None
    while True:
        # Notes are longer than the default limit of a field, which belongs to the whole process:
        # it is restored for other code. An open quotation mark does not take all of a file.
        limit = csv.field_size_limit(LONGEST)
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error:
            row = None
        finally:
            csv.field_size_limit(limit)
        yield row


def _until_damage(file: BufferedIOBase, path: Path) -> Iterator[bytes]:
    try:
        yield from raw_lines(file)
    except _DAMAGED as error:
        raise Errors.source_unreadable(path=path, reason=f"damaged gzip data: {error}") from error
