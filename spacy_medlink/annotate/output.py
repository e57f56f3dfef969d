"""Output: the file or directory of a run, written from the lines of its records."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ..errors import Errors
from ..util.files import replacing_directory, replacing_file
from ..util.outputs import DirectoryKind, FileKind, PathLike, check_output
from .formats import Format, format_named

SUFFIXES = (".jsonl", ".jsonl.gz", ".parquet")  # of unchanged records
_FILE = FileKind("a file of links")  # its content does not tell which program wrote it
_FOLDER = DirectoryKind("a directory of links", is_edited=True)  # brat edits in place


class Output(NamedTuple):
    """A file of links, or a directory where each document has files of its own.

    format (str): a name of `formats()`, "" for unchanged records. with_text (bool): whether the
        records have a text.
    """

    path: Path
    format: str = ""
    with_text: bool = False
    overwrite: bool = False

    def check(self, inputs: Iterable[PathLike]) -> None:
        """Check before the work that the output can be written.

        RAISES (MedlinkError): E108 for an unknown format, E611 for a name with a wrong suffix, E614
            without pyarrow, E120-E124 for existing files that may not be replaced.
        """
        suffixes = format_named(self.format).suffixes if self.format else SUFFIXES
        if suffixes and not self.path.name.lower().endswith(suffixes):
            raise Errors.unknown_ending(path=self.path, known=", ".join(suffixes))
        if self._is_parquet:
            from .parquet import arrow

            arrow()
        kind = _FILE if suffixes else _FOLDER
        check_output(self.path, kind, inputs, overwrite=self.overwrite)

    def write(self, lines: Iterable[bytes]) -> None:
        """Write records, each a line of JSON, all or nothing."""
        format = format_named(self.format) if self.format else None
        if format is not None and format.write_folder is not None:
            with replacing_directory(self.path, _FOLDER, overwrite=self.overwrite) as folder:
                format.write_folder(map(json.loads, lines), folder)
            return
        with replacing_file(self.path, _FILE, overwrite=self.overwrite) as file:
            if self._is_parquet:
                from .parquet import write_parquet

                write_parquet(file, (line.decode() for line in lines), self.with_text)
            else:
                self._write_text(file, lines if format is None else _in(format, lines))

    @property
    def _is_parquet(self) -> bool:
        return self.path.name.lower().endswith(".parquet")

    def _write_text(self, path: Path, pieces: Iterable[bytes]) -> None:
        with path.open("wb") as raw:
            if self.path.name.lower().endswith(".gz"):
                # Without name and time, so that the same links give the same bytes.
                with gzip.GzipFile("", "wb", 6, raw, mtime=0) as file:
                    file.writelines(pieces)
            else:
                raw.writelines(pieces)


def _in(format: Format, lines: Iterable[bytes]) -> Iterable[bytes]:
    return (piece.encode() for piece in format.write(map(json.loads, lines)))
