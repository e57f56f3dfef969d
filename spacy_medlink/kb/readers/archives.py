"""Unpacks what a reader needs of a release that is still a zip archive."""

import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ...errors import Errors
from .lines import most_of

# What zipfile raises of damaged archives, of kinds of packing that it lacks, and of encrypted ones.
DAMAGED = (zipfile.BadZipFile, OSError, zlib.error, EOFError, NotImplementedError, RuntimeError)


@contextmanager
def unpacked(path: Path, wanted: str) -> Iterator[Path]:
    """Give a directory with the files of a release: the path itself unless it is a zip archive.

    wanted (str): pattern for the names of the files that are unpacked, without their directories.
    RAISES (MedlinkError): E165 for a damaged archive, and for one that unpacks to too much data.
    """
    if not path.is_file() or not zipfile.is_zipfile(path):
        yield path
        return
    with TemporaryDirectory() as directory:
        target = Path(directory, path.name)  # for messages, which name the archive, too
        target.mkdir()
        try:
            with zipfile.ZipFile(path) as archive:
                for member in archive.infolist():
                    if not re.fullmatch(wanted, member.filename.rpartition("/")[2]):
                        continue
                    if member.file_size > most_of(member.compress_size):
                        reason = f"{member.filename} in it unpacks to too much data"
                        raise Errors.source_unreadable(path=path, reason=reason)
                    archive.extract(member, target)
        except DAMAGED as error:
            raise Errors.source_unreadable(path=path, reason=f"damaged ({error})") from error
        yield target
