"""Finds the RRF files of a UMLS release, whole or in pieces.

RxNorm alone has files of the same form, with other names and in another order.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ....errors import Errors
from ...scratch import scratch
from ..lines import open_source

# "MRCONSO.RRF", "MRCONSO.RRF.gz", and the pieces "MRCONSO.RRF.aa.gz" of a full release.
_FILE = re.compile(r"(?P<table>(?:MR|RXN)[A-Z]+)\.RRF(?:\.(?P<piece>(?!gz)[a-z]{2}))?(?P<gz>\.gz)?")
_RXNORM = {"RXNCONSO": "MRCONSO", "RXNSTY": "MRSTY", "RXNREL": "MRREL", "RXNSAB": "MRSAB"}
_LINES = "CREATE TABLE line (id BLOB, text BLOB);"


@contextmanager
def in_order(tables: dict[str, list[Path]]) -> Iterator[dict[str, list[Path]]]:
    """Give the tables sorted by id: those of RxNorm as copies, without relations of mere atoms."""
    if not tables["MRCONSO"][0].name.startswith("RXN"):
        yield tables
        return
    with TemporaryDirectory() as directory:
        yield {
            name: [_sorted(pieces, Path(directory, f"{name}.RRF"))] if name != "MRSAB" else pieces
            for name, pieces in tables.items()
        }


def _sorted(pieces: list[Path], copy: Path) -> Path:
    with scratch(_LINES) as db, copy.open("wb") as out:
        db.execute("BEGIN")
        for piece in pieces:
            with open_source(piece) as file:
                rows = ((line.partition(b"|")[0], line) for line in file if line[:1] != b"|")
                db.executemany("INSERT INTO line VALUES (?, ?)", rows)
        out.writelines(text for (text,) in db.execute("SELECT text FROM line ORDER BY id, rowid"))
    return copy


def find_tables(path: Path) -> dict[str, list[Path]]:
    """Find the tables of a release, each as its pieces in order.

    path (Path): a META directory, or one above it.
    RETURNS (Dict[str, List[Path]]): "MRCONSO" and the like to pieces.
    RAISES (MedlinkError): E160 when there is no MRCONSO.
    """
    for directory in (path, path / "META", path / "rrf", *sorted(path.glob("*/META"))):
        tables = _tables_of(sorted((*directory.glob("MR*.RRF*"), *directory.glob("RXN*.RRF*"))))
        if "MRCONSO" in tables:
            return tables
    raise Errors.wrong_file(
        path=path,
        what="a release of the UMLS or of RxNorm",
        problem="no MRCONSO.RRF is there",
        expected="the META directory of a release (its .nlm archives are zip files: unpack them)",
    )


def _tables_of(files: list[Path]) -> dict[str, list[Path]]:
    tables: dict[str, dict[str, Path]] = {}
    for path in files:
        match = _FILE.fullmatch(path.name)
        if match is not None and path.is_file():
            pieces = tables.setdefault(match["table"], {})
            # Of copies of a table (packed and unpacked, whole and in pieces), one is enough.
            if not match["gz"] or (match["piece"] or "") not in pieces:
                pieces[match["piece"] or ""] = path
    if "MRCONSO" not in tables:
        tables = {
            _RXNORM[table]: pieces_of for table, pieces_of in tables.items() if table in _RXNORM
        }
    return {
        table: [pieces[""]] if "" in pieces else [pieces[order] for order in sorted(pieces)]
        for table, pieces in tables.items()
    }
