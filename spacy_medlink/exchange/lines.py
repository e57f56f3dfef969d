"""Text files of annotations: whole, and by lines."""

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from ..errors import Errors, MedlinkError
from ..kb.readers.lines import open_source
from .documents import Problems, Span

BOM = b"\xef\xbb\xbf"
_DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)


def read_text(path: Path, problems: Problems, fallback: str = "") -> str | None:
    """Read a file of text with its line ends as they are, since offsets count them.

    fallback (str): encoding of files that are not UTF-8, "" for none.
    RETURNS (Optional[str]): None when the file is not text, which is counted as a fault.
    """
    try:
        with open_source(path) as file:
            data = file.read().removeprefix(BOM)
    except _DAMAGED as error:
        raise _broken(path, error) from error
    text = _decoded(data, "")
    if text is None and (text := _decoded(data, fallback)) is not None:
        problems.note(f"files read as {fallback}, since they are not UTF-8")
    elif text is None:
        problems.fault("files that are not UTF-8 text", path)
    return text


def read_lines(path: Path, problems: Problems, fallback: str = "") -> Iterator[tuple[int, str]]:
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
                    problems.fault("lines that are not UTF-8 text", path, line_number)
                else:
                    yield line_number, line.rstrip("\r\n")
        except _DAMAGED as error:
            raise _broken(path, error, line_number + 1) from error


def to_span(start: str, end: str) -> Span | None:
    """Read two offsets; None unless both are whole numbers of a plausible size."""
    if all(offset.isascii() and offset.isdigit() and len(offset) < 12 for offset in (start, end)):
        return int(start), int(end)
    return None


def unreadable(path: Path, error: MedlinkError) -> MedlinkError:
    """Say with E165 what a reader of terminologies says; its remedies are for `medlink kb build`.

    Other errors than E105 and E165 stay as they are.
    """
    if error.code not in ("E105", "E165"):
        return error
    problem = re.split(r"\. ", error.message)[0]
    for prefix in (f"{path}, ", f"{path} "):
        problem = problem.removeprefix(prefix)
    return Errors.source_unreadable(path=path, reason=problem)


def _decoded(data: bytes, fallback: str) -> str | None:
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode(fallback, errors="replace") if fallback else None


def _broken(path: Path, error: Exception, line: int = 0) -> Exception:
    where = f", line {line}" if line else ""
    return Errors.source_unreadable(path=path, reason=f"damaged gzip data{where} ({error})")
