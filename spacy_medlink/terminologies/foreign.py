"""Recognises what a file is by how it begins, by its name, or by what an archive holds.

`foreign.tsv` has a row for each kind of file, the first that fits counts: where to look, a pattern,
what it is, the formats (`--from`) that read it, and what to give instead.
"""

import gzip
import re
import zipfile
import zlib
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ..errors import Errors
from ..kb.readers.foreign import Foreign

_SHOWN = 8192  # bytes of a file that are looked at
_MOST = 10_000  # files of a directory, or members of an archive
# Where the content of a file does not tell its format.
_ENDINGS = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".txt": "csv", ".asc": "csv", ".obo": "obo", ".owl": "owl", ".rdf": "owl", ".ttl": "owl",
    ".nt": "owl",
}  # fmt: skip
_DAMAGED = (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError)


class _Row(NamedTuple):
    """A row of the table. look (str): bytes, text, members, zip, directory or empty."""

    look: str
    pattern: re.Pattern[str]
    file: Foreign


def _rows() -> list[_Row]:
    table = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8")
    cells = (line.split("\t") for line in table.splitlines()[1:])
    return [
        _Row(look, re.compile(pattern), Foreign(what, tuple(formats.split()), remedy))
        for look, pattern, what, formats, remedy in cells
    ]


_ROWS = _rows()


def what_is(path: Path, format: str = "") -> Foreign | None:
    """Recognise a file or a directory; None where the table has no row for it.

    Text may be packed by gzip. A file that cannot be read is not recognised.

    format (str): a format of `--from`: of several rows that fit, one that it reads goes first.
    """
    shown: dict[str, str] = {}
    with suppress(*_DAMAGED):
        shown = _shown(path)
    fitting = [
        file for look, pattern, file in _ROWS if look in shown and pattern.search(shown[look])
    ]
    return next((file for file in fitting if format in file.formats), next(iter(fitting), None))


def what_begins(start: bytes) -> Foreign | None:
    """Recognise a file that is no text by its first bytes; None for text."""
    if start.startswith(b"PK\x03\x04"):
        return next(row.file for row in _ROWS if row.look == "zip")
    text = start.decode("latin-1")
    return next(
        (row.file for row in _ROWS if row.look == "bytes" and row.pattern.match(text)), None
    )


def format_of(path: Path) -> str:
    """Guess the format (`--from`) of a source by how it begins, else by the ending of its name.

    RAISES (MedlinkError): E107 without the source, E132 where nothing tells, E160 for a file of
        another kind.
    """
    if not path.exists():
        raise Errors.source_missing(path=path)
    file = what_is(path)
    if file is not None and not file.formats:
        what, problem = "a terminology that can be read", f"it is {file.what}"
        raise Errors.wrong_file(path=path, what=what, problem=problem, expected=file.remedy)
    if file is not None and file.what != "a directory":
        return file.formats[0]
    name = path.name.lower().removesuffix(".gz")
    format = next((format for ending, format in _ENDINGS.items() if name.endswith(ending)), "")
    if not format:
        value = _shown(path).get("text", path.name).partition("\n")[0][:80]
        remedy = "`--from FORMAT`; `medlink kb build --help` lists the formats"
        raise Errors.unclear_source(path=path, what="its format", value=value, remedy=remedy)
    return format


def _shown(path: Path) -> dict[str, str]:
    """Read what patterns look at, by where they look."""
    if path.is_dir():
        files = (file for file in path.rglob("*") if file.is_file())
        names = sorted(file.relative_to(path).as_posix() for file in islice(files, _MOST))
        return {"members": "\n".join(names), "directory": path.name or "."}
    with path.open("rb") as file:
        start = file.read(_SHOWN)
    if start.startswith(b"\x1f\x8b"):
        with gzip.open(path, "rb") as unpacked:
            start = unpacked.read(_SHOWN)
    if start.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()[:_MOST]
        return {"members": "\n".join(names), "zip": path.name}
    if not start:
        return {"empty": ""}
    encoding = "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    return {"bytes": start.decode("latin-1"), "text": start.decode(encoding, "replace")}
