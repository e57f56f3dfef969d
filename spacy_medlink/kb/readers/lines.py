"""Numbered text lines of a source, plain or gzip, and the report of bad lines."""

import codecs
import gzip
import zlib
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedIOBase
from pathlib import Path
from typing import Any, cast

from ...errors import Errors
from ...types import BadLine

_BLOCK = 1 << 16
_DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)


def numbered_lines(
    path: Path, bad_lines: list[BadLine] | None = None, western: list[int] | None = None
) -> Iterator[tuple[int, str]]:
    """Stream (line number from 1, line without its end) of a UTF-8 file, plain or `.gz`.

    A byte-order mark and CRLF ends are stripped; a file with the mark of UTF-16 is read as that,
    which spreadsheets call Unicode text. Lines that are not UTF-8 or hold a NUL are bad.

    western (Optional[List[int]]): collects the numbers of lines that are not UTF-8, which are then
        read as Windows-1252.
    RAISES (MedlinkError): E105 at the first bad line, unless `bad_lines` collects it; always E105
        when a gzip file is cut off or damaged; E165 when the file cannot be opened.
    """
    with open_source(path) as opened:
        file, number = _as_utf8(opened), 0
        while block := _block(file, path, number):
            block = block.removesuffix(b"\n")
            if number == 0:
                block = block.removeprefix(b"\xef\xbb\xbf")
            # Most blocks have no bad line, so a block is first checked and split as a whole.
            text = _decoded(block)
            if text is not None:
                for line in text.split("\n"):
                    number += 1
                    yield number, line.rstrip("\r")
                continue
            for raw in block.split(b"\n"):
                number += 1
                problem = _problem(raw)
                if problem and western is not None and b"\0" not in raw:
                    western.append(number)
                    yield number, raw.decode("cp1252", "replace").rstrip("\r")
                elif problem:
                    report(path, number, problem, "UTF-8 text", bad_lines)
                else:
                    yield number, raw.decode().rstrip("\r")


def _as_utf8(file: BufferedIOBase) -> BufferedIOBase:
    start = b""
    with suppress(*_DAMAGED):  # the first block says what is wrong
        start = file.peek(2)[:2]  # type: ignore[attr-defined]
    if start not in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return file
    # Half a surrogate pair passes, so that its line is found to be bad.
    recoded: Any = codecs.EncodedFile(cast(Any, file), "utf-8", "utf-16", "surrogatepass")
    return cast(BufferedIOBase, recoded)


def _block(file: BufferedIOBase, path: Path, number: int) -> bytes:
    """Read some whole lines, b"" at the end of the file."""
    try:
        block = file.read(_BLOCK)
        return block if block.endswith(b"\n") else block + file.readline()
    except _DAMAGED as error:
        raise Errors.bad_line(
            path=path, line=number + 1, problem=f"damaged gzip data ({error})",
            expected="a complete gzip file",
        ) from error  # fmt: skip


def _decoded(block: bytes) -> str | None:
    if b"\0" in block:
        return None
    try:
        return block.decode()
    except UnicodeDecodeError:
        return None


def _problem(line: bytes) -> str:
    if b"\0" in line:
        return "a NUL byte, as in UTF-16 without its mark"
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8 at byte {error.start}"
    return ""


def report(
    path: Path, line: int, problem: str, expected: str, bad_lines: list[BadLine] | None
) -> None:
    """Collect a bad line, or raise it (E105) when there is no list to collect it."""
    if bad_lines is None:
        raise Errors.bad_line(path=path, line=line, problem=problem, expected=expected)
    bad_lines.append(BadLine(str(path), line, problem, expected))


def open_source(path: Path) -> BufferedIOBase:
    """Open a file, plain or `.gz`, for reading bytes.

    RAISES (MedlinkError): E165 when it is a directory or may not be read.
    """
    try:
        if path.suffix == ".gz":
            return gzip.open(path, "rb")
        return path.open("rb")
    except OSError as error:
        raise Errors.source_unreadable(path=path, reason=error.strerror or error) from error
