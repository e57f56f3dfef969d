"""Text files of corpora: whole, and by lines."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from spacy_medlink.errors import Errors
from spacy_medlink.kb.readers.lines import open_source

from ..tally import Tally

BOM = b"\xef\xbb\xbf"
_DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)


def read_text(path: Path, tally: Tally, fallback: str = "") -> str | None:
    """Read a file of text with its line ends as they are, since offsets count them.

    fallback (str): encoding of files that are not UTF-8, "" for none.
    RETURNS (Optional[str]): None when the file is not text, which is counted as a fault.
    """
    try:
        with open_source(path) as file:
            data = file.read()
    except _DAMAGED as error:
        raise _broken(path, error) from error
    text = _decoded(data.removeprefix(BOM), fallback)
    if text is None:
        tally.fault("files that are not UTF-8 text", path)
    elif not data.isascii() and not _is_utf8(data):
        tally.note(f"files read as {fallback}, since they are not UTF-8")
    return text


def read_lines(path: Path, tally: Tally, fallback: str = "") -> Iterator[tuple[int, str]]:
    """Stream (number from 1, line without its end) of a file, plain or `.gz`.

    Only a line feed ends a line. Lines that are not text are counted as faults and left out.
    RAISES (MedlinkError): E165 when the file cannot be opened, E165 when a gzip file is damaged.
    """
    line_number = 0
    with open_source(path) as file:
        try:
            for line_number, raw in enumerate(file, 1):
                raw = raw.removeprefix(BOM) if line_number == 1 else raw
                line = _decoded(raw, fallback)
                if line is None:
                    tally.fault("lines that are not UTF-8 text", path, line_number)
                else:
                    yield line_number, line.rstrip("\r\n")
        except _DAMAGED as error:
            raise _broken(path, error, line_number + 1) from error


def _decoded(data: bytes, fallback: str) -> str | None:
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode(fallback, errors="replace") if fallback else None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _broken(path: Path, error: Exception, line: int = 0) -> Exception:
    where = f", line {line}" if line else ""
    return Errors.source_unreadable(path=path, reason=f"damaged gzip data{where} ({error})")
