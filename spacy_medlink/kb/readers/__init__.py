"""Readers: a module for each terminology format, whose function `read` streams records.

They register themselves as entry points `medlink_readers`: those of this package, those of
`spacy_medlink.terminologies`, and a user's own.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

from ...errors import Errors
from ...types import BadLines, Record
from ...util import sides
from .foreign import check_format

Reader = Callable[..., Iterator[Record]]
"""A reader of (path, bad lines, options of the format)."""

_GROUP = "medlink_readers"


def formats() -> list[str]:
    """List the terminology formats that can be read."""
    return sides.names(_GROUP)


def module_of(format: str) -> ModuleType:
    """Import the module of a format. RAISES (MedlinkError): E108 for an unknown format."""
    module: ModuleType = sides.load(_GROUP, format, "terminology format")
    return module


def get_reader(format: str) -> Reader:
    """Get the reader of a format. RAISES (MedlinkError): E108 for an unknown format."""
    reader: Reader = module_of(format).read
    return reader


def existing(path: Path) -> Path:
    """Return the path of a source. RAISES (MedlinkError): E107 when there is none."""
    if not path.exists():
        raise Errors.source_missing(path=path)
    return path


def checked(format: str, path: Path) -> Path:
    """Return the path of a source. RAISES (MedlinkError): E107, and E160 for another file."""
    check_format(existing(path), format)
    return path


def read(format: str, path: str | Path, bad_lines: BadLines = None) -> Iterator[Record]:
    """Stream the records of a source.

    format (str): one of `formats()`. path (Path): file or directory.
    bad_lines (Optional[List[BadLine]]): collects bad lines; None makes the first one an error.
    RAISES (MedlinkError): E105 bad line, E107 no such source, E108 unknown format, E160 a file that
        is known to be another thing.
    """
    return get_reader(format)(checked(format, Path(path)), bad_lines)


def read_numbered(
    format: str, path: Path, bad_lines: BadLines = None, **options: object
) -> Iterator[tuple[int, Record]]:
    """Stream records with their line numbers; 0 if the line is unknown.

    A concept on several lines may come in as many records.
    RAISES (MedlinkError): as `read`.
    """
    module = module_of(format)
    checked(format, path)
    if hasattr(module, "numbered"):
        records: Iterator[tuple[int, Record]] = module.numbered(path, bad_lines, **options)
        return records
    return ((0, record) for record in module.read(path, bad_lines, **options))
