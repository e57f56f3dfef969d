"""Text lines of a source, plain or gzip, with their numbers; and what to do with bad ones."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ...errors import Errors
from ...types import BadLine

_ENCODING = "utf-8"


def numbered_lines(path: Path, bad_lines: list[BadLine] | None = None) -> Iterator[tuple[int, str]]:
    """Stream (line number from 1, line without its end) of a UTF-8 file, plain or `.gz`.

    A byte-order mark and CRLF ends are taken off. Lines that are not UTF-8 or hold a NUL are bad.
    RAISES (MedlinkError): E105 at the first bad line, unless `bad_lines` collects them; E105 too
        when a gzip file is cut off or damaged, always.
    """
    with open_source(path) as file:
        number = 0
        while True:
            try:
                raw = file.readline()
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise Errors.bad_line(
                    path=path, line=number + 1, problem=f"damaged gzip data ({error})",
                    expected="a complete gzip file",
                ) from error  # fmt: skip
            if not raw:
                return
            number += 1
            if number == 1 and raw.startswith(b"\xef\xbb\xbf"):
                raw = raw[3:]
            if b"\0" in raw:
                report(path, number, "a NUL byte", "text", bad_lines)
                continue
            try:
                yield number, raw.decode(_ENCODING).rstrip("\r\n")
            except UnicodeDecodeError as error:
                problem = f"not UTF-8 at byte {error.start}"
                report(path, number, problem, "UTF-8 text", bad_lines)


def report(
    path: Path, line: int, problem: str, expected: str, bad_lines: list[BadLine] | None
) -> None:
    """Collect a bad line, or raise it (E105) when nobody collects."""
    if bad_lines is None:
        raise Errors.bad_line(path=path, line=line, problem=problem, expected=expected)
    bad_lines.append(BadLine(str(path), line, problem))


def open_source(path: Path) -> IO[bytes]:
    """Open a file, plain or `.gz`, for reading bytes.

    RAISES (MedlinkError): E165 when it is a directory or may not be read.
    """
    try:
        if path.suffix == ".gz":
            return gzip.open(path, "rb")  # type: ignore[return-value]  # reads like IO[bytes]
        return path.open("rb")
    except OSError as error:
        raise Errors.source_unreadable(path=path, reason=error.strerror or error) from error
