"""Finds the RRF files of a UMLS release, in a META directory or in the release's archives.

RxNorm alone has files of the same form, with other names and in another order.
"""

import re
import zipfile
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, NamedTuple

from ....errors import Errors
from ...scratch import scratch
from ..lines import Packed, most_of, open_source

# "META/MRCONSO.RRF", "MRCONSO.RRF.gz", and the pieces "2026AA/META/MRCONSO.RRF.aa.gz" of the
# archives with the suffix .nlm that a full release is made of.
_FILE = re.compile(
    r"(?:.*/)?(?P<table>(?:MR|RXN)[A-Z]+)\.RRF(?:\.(?P<piece>(?!gz)[a-z]{2}))?(?P<gz>\.gz)?"
)
_ARCHIVES = ("*.nlm", "*.zip")
_RXNORM = {"RXNCONSO": "MRCONSO", "RXNSTY": "MRSTY", "RXNREL": "MRREL", "RXNSAB": "MRSAB"}
_LINES = "CREATE TABLE line (id BLOB, number INTEGER, text BLOB);"


class Piece(NamedTuple):
    """A file, or a member of an archive, that holds a table or a part of it.

    origin (Path), lines (Sequence[int]): of a sorted copy, whence it is, and whence its lines are.
    """

    path: Path
    member: str
    order: str
    gz: bool
    origin: Path | None = None
    lines: Sequence[int] = ()

    @contextmanager
    def open(self) -> Iterator[IO[bytes] | BufferedIOBase]:
        """Open the piece for reading, unpacked. RAISES (MedlinkError): E165 for a bomb."""
        if not self.member:
            with open_source(self.path) as file:
                yield file
            return
        with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as member:
            size = archive.getinfo(self.member)
            if size.file_size > most_of(size.compress_size):
                reason = f"{self.member} in it unpacks to too much data"
                raise Errors.source_unreadable(path=self.path, reason=reason)
            yield Packed(member, self.path, size.file_size) if self.gz else member


@contextmanager
def in_order(tables: dict[str, list[Piece]]) -> Iterator[dict[str, list[Piece]]]:
    """Give the tables sorted by id: those of RxNorm as copies, without relations of mere atoms."""
    names = tables["MRCONSO"][0]
    if not Path(names.member or names.path).name.startswith("RXN"):
        yield tables
        return
    with TemporaryDirectory() as directory:
        yield {
            name: [_sorted(pieces, Path(directory, f"{name}.RRF"))] if name != "MRSAB" else pieces
            for name, pieces in tables.items()
        }


def _sorted(pieces: list[Piece], copy: Path) -> Piece:
    with scratch(_LINES) as db, copy.open("wb") as out:
        db.execute("BEGIN")
        for piece in pieces:
            with piece.open() as file:
                rows = (
                    (line.partition(b"|")[0], line_number, line)
                    for line_number, line in enumerate(file, 1) if line[:1] != b"|"
                )  # fmt: skip
                db.executemany("INSERT INTO line VALUES (?, ?, ?)", rows)
        lines = array("l")
        for line_number, text in db.execute("SELECT number, text FROM line ORDER BY id, rowid"):
            lines.append(line_number)
            out.write(text)
    return Piece(copy, "", "", False, Path(pieces[0].path, pieces[0].member), lines)


def find_tables(path: Path) -> dict[str, list[Piece]]:
    """Find the tables of a release, each as its pieces in order.

    path (Path): a META directory, one above it, an archive, or a directory with archives.
    RETURNS (Dict[str, List[Piece]]): "MRCONSO" and the like to pieces.
    RAISES (MedlinkError): E160 when there is no MRCONSO, E105 for a damaged archive.
    """
    for files in _places(path):
        tables = _tables_of(files)
        if "MRCONSO" in tables:
            return tables
    raise Errors.wrong_file(
        path=path,
        what="a release of the UMLS or of RxNorm",
        problem="it has no MRCONSO.RRF",
        expected="the META directory of a release, or the directory of its .nlm archives",
    )


def _places(path: Path) -> Iterator[list[Path]]:
    if not path.is_dir():
        yield [path]
        return
    for directory in (path, path / "META", path / "rrf", *sorted(path.glob("*/META"))):
        yield sorted((*directory.glob("MR*.RRF*"), *directory.glob("RXN*.RRF*")))
    yield sorted(file for pattern in _ARCHIVES for file in path.glob(pattern))


def _tables_of(files: list[Path]) -> dict[str, list[Piece]]:
    tables: dict[str, dict[str, Piece]] = {}
    for path in files:
        if path.suffix in (".nlm", ".zip"):
            members = _members(path)
        else:
            members = [("", path.name)] if path.is_file() else []
        for member, name in members:
            match = _FILE.fullmatch(name)
            if match is not None:
                order, gz = match["piece"] or "", bool(match["gz"])
                pieces = tables.setdefault(match["table"], {})
                # Of copies of a table (packed and unpacked, whole and in pieces), one is enough.
                if not gz or order not in pieces:
                    pieces[order] = Piece(path, member, order, gz)
    if "MRCONSO" not in tables:
        tables = {
            _RXNORM[table]: pieces_of for table, pieces_of in tables.items() if table in _RXNORM
        }
    return {
        table: [pieces[""]] if "" in pieces else [pieces[order] for order in sorted(pieces)]
        for table, pieces in tables.items()
    }


def _members(path: Path) -> list[tuple[str, str]]:
    try:
        with zipfile.ZipFile(path) as archive:
            return [(name, name) for name in archive.namelist()]
    except (zipfile.BadZipFile, OSError) as error:
        raise Errors.bad_line(
            path=path, line=1, problem=f"damaged zip data ({error})",
            expected="an archive of a UMLS release",
        ) from error  # fmt: skip
