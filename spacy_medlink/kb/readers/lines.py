"""Numbered text lines of a source, plain or gzip, and the report of bad lines."""

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedIOBase
from pathlib import Path
from typing import IO, Any, cast

from ...errors import Errors, shortened
from ...types import BadLine, BadLines
from .foreign import what_begins

LONGEST = 1 << 26  # bytes of a line: a larger one is no line of anything that people write
_BLOCK = 1 << 16
# What unpacks to more than this is no terminology: releases of the UMLS shrink to a tenth.
_MUCH, _TIMES = 1 << 28, 200
_GZIP = b"\x1f\x8b"
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)  # of a gzip file that is cut off, or broken


def numbered_lines(
    path: Path,
    bad_lines: BadLines = None,
    western: list[int] | None = None,
    encoding: str = "",
) -> Iterator[tuple[int, str]]:
    """Stream (line number from 1, line without its end) of a UTF-8 file, plain or `.gz`.

    A byte-order mark and CRLF ends are stripped; in a file without LF, CR ends a line. A file with
    the mark of UTF-16 is read as that, which spreadsheets call Unicode text. Lines that are not
    UTF-8 or hold a NUL are bad.

    western (Optional[List[int]]): collects the numbers of lines that are not UTF-8, which are then
        read as Windows-1252.
    encoding (str): of the file, such as "latin-1" or "cp932"; "" for UTF-8 and what is said above.
    RAISES (MedlinkError): E108 for an unknown encoding; E105 at the first bad line, unless
        `bad_lines` collects it; always E105 when a gzip file is cut off or damaged; E165 when the
        file cannot be opened, or has a line of more than LONGEST bytes.
    """
    with open_source(path) as opened:
        encoding = _encoding(opened, encoding)
        file, line_number = _as_utf8(opened, encoding), 0
        while block := _block(file, path, line_number):
            block = block.removesuffix(b"\n")
            if line_number == 0:
                block = block.removeprefix(b"\xef\xbb\xbf")
            # Most blocks have no bad line, so a block is first checked and split as a whole.
            text = _decoded(block)
            if text is not None:
                for line in text.split("\n"):
                    line_number += 1
                    yield line_number, line.rstrip("\r")
                continue
            for raw in block.split(b"\n"):
                line_number += 1
                problem = _problem(raw)
                if problem and western is not None and not encoding and b"\0" not in raw:
                    western.append(line_number)
                    yield line_number, raw.decode("cp1252", "replace").rstrip("\r")
                elif problem:
                    report(path, line_number, problem, "UTF-8 text", bad_lines)
                else:
                    yield line_number, raw.decode().rstrip("\r")


def filled_lines(
    path: Path,
    bad_lines: BadLines = None,
    western: list[int] | None = None,
    encoding: str = "",
) -> Iterator[tuple[int, str]]:
    """Stream the lines of `numbered_lines` that are not blank."""
    lines = numbered_lines(path, bad_lines, western, encoding)
    return ((line_number, line) for line_number, line in lines if line and not line.isspace())


def raw_lines(file: BufferedIOBase) -> Iterator[bytes]:
    """Stream the lines of an opened source, each with its end, as `numbered_lines` cuts them."""
    return iter(_as_utf8(file, _encoding(file)).readline, b"")


def _encoding(file: BufferedIOBase, encoding: str = "") -> str:
    """Find the encoding of a file by its mark, else the given one; "" for UTF-8.

    RAISES (MedlinkError): E108 for an unknown one.
    """
    start = _start(file)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        name = codecs.lookup(encoding or "utf-8").name
        b"a".decode(name, "ignore")  # codecs of bytes, such as base64, are refused here
    except LookupError as error:
        known = "utf-8, latin-1, cp1252, cp1250, cp1251, mac-roman, cp850, cp932, gb18030"
        raise Errors.unknown_choice(what="encoding", value=encoding, known=known) from error
    return "" if name.startswith("utf-8") or start.startswith(codecs.BOM_UTF8) else name


def _start(file: BufferedIOBase) -> bytes:
    with suppress(*DAMAGED):  # the first block says what is wrong
        return bytes(file.peek(_BLOCK))  # type: ignore[attr-defined]  # a buffered file
    return b""


def _as_utf8(file: BufferedIOBase, encoding: str) -> BufferedIOBase:
    """Read an encoding as UTF-8, and CR as a line end where it is the only one, as on old systems.

    encoding (str): "" for UTF-8.
    """
    text = _start(file)
    if encoding:
        text = text.decode(encoding, "ignore").encode("utf-8", "ignore")
    has_cr = b"\r" in text and b"\n" not in text
    return _Plain(_Translated(file, encoding, has_cr)) if encoding or has_cr else file


def _block(file: BufferedIOBase, path: Path, line_number: int) -> bytes:
    """Read some whole lines, b"" at the end of the file."""
    try:
        block = file.read(_BLOCK)
        return block if block.endswith(b"\n") else block + file.readline()
    except DAMAGED as error:
        raise Errors.bad_line(
            path=path, line=line_number + 1, problem=f"damaged gzip data ({error})",
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


def report(path: Path, line: int, problem: str, expected: str, bad_lines: BadLines) -> None:
    """Collect a bad line, or raise it (E105) when there is no list to collect it."""
    if bad_lines is None:
        raise Errors.bad_line(path=path, line=line, problem=problem, expected=expected)
    bad_lines.append(BadLine(str(path), line, shortened(problem), expected))


def open_source(path: Path) -> BufferedIOBase:
    """Open a file, plain or packed by gzip, for reading bytes; its lines are read within LONGEST.

    RAISES (MedlinkError): E165 when it is a directory or may not be read, E160 when it is an
        archive or a workbook; E165 from any method, when a line is longer, or when far more comes
        out of a small packed file than of any text.
    """
    try:
        file = _Plain(io.FileIO(path))
        start = file.peek(512)
        if path.suffix.lower() == ".gz" or start.startswith(_GZIP):
            return Packed(file, path, path.stat().st_size)
    except OSError as error:
        raise Errors.source_unreadable(path=path, reason=error.strerror or error) from error
    if other := what_begins(start):
        file.close()
        what, problem = "text", f"it is {other.what}"
        raise Errors.wrong_file(path=path, what=what, problem=problem, expected=other.remedy)
    return file


class _Bounded(BufferedIOBase):
    """A file whose lines have a largest length."""

    name: str

    def readline(self, size: int | None = -1) -> bytes:
        """Read a line."""
        line = super().readline(LONGEST + 1)
        if len(line) > LONGEST:
            reason = f"it has a line of over {LONGEST >> 20} MB"
            raise Errors.source_unreadable(path=self.name, reason=reason)
        return line


class _Plain(_Bounded, io.BufferedReader):
    """A file as it is."""


class _Translated(io.RawIOBase):
    """The bytes of a file as UTF-8 whose lines end with LF."""

    def __init__(self, file: BufferedIOBase, encoding: str, has_cr: bool) -> None:
        self.name = cast(Any, file).name
        self._file, self._has_cr = file, has_cr
        errors = "surrogatepass" if encoding.startswith("utf") else "replace"
        decoder = codecs.getincrementaldecoder(encoding or "utf-8")(errors)
        self._decode = decoder.decode if encoding else None

    def readable(self) -> bool:
        """Return that it may be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes; half a surrogate pair passes, so that its line is found to be bad."""
        data = b""
        while not data and (data := self._file.read(max(2, len(buffer) // 3 * 2))):
            if self._decode is not None:
                data = self._decode(data).encode("utf-8", "surrogatepass")
        data = data.replace(b"\r", b"\n") if self._has_cr else data
        buffer[: len(data)] = data
        return len(data)


class Packed(_Bounded, gzip.GzipFile):
    """A gzip file that is no bomb.

    file (IO[bytes]): opened; closed with this. path (Path): for messages. size (int): packed bytes.
    """

    def __init__(self, file: IO[bytes], path: Path, size: int) -> None:
        super().__init__(str(path), "rb", fileobj=file)
        self.myfileobj = cast(Any, file)
        self._most = most_of(size)

    def read(self, size: int | None = -1) -> bytes:
        """Read bytes; all of them without a size."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(_BLOCK), b""))
        self._check()
        return super().read(size)

    def readline(self, size: int | None = -1) -> bytes:
        """Read a line."""
        self._check()
        return super().readline(size)

    def _check(self) -> None:
        if self.tell() > self._most:
            raise Errors.source_unreadable(path=self.name, reason="it unpacks to too much data")


def most_of(packed: int) -> int:
    """Return how many bytes may come out of packed ones: from there on it is a bomb."""
    return _MUCH + _TIMES * packed
