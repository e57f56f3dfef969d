"""Unpack archives into a directory, and nowhere else."""

import errno
import gzip
import lzma
import shutil
import tarfile
import zipfile
import zlib
from pathlib import Path

from spacy_medlink.errors import Errors

_DAMAGED = (
    EOFError, OSError, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, zlib.error,
    NotImplementedError, RuntimeError, ValueError, OverflowError,
)  # fmt: skip
# Faults of the disk and its permissions, not of the archive.
_OURS = {errno.EACCES, errno.EDQUOT, errno.EIO, errno.ENOSPC, errno.EPERM, errno.EROFS}
_KEPT_PACKED = (".txt.gz", ".tsv.gz", ".xml.gz", ".jsonl.gz")  # read as they are
_TARS = (".tgz", ".tar", ".tar.gz", ".tar.bz2", ".tar.xz")


def unpack(archive: Path, directory: Path) -> None:
    """Unpack a zip or tar archive, or a single `.gz` file; copy any other file.

    Python's zipfile, and its filter "data" of tarfile, write nothing outside of the directory, and
    no links out of it or devices.
    RAISES (MedlinkError): E714 when it is damaged or encrypted, or has what these refuse.
    """
    name = archive.name
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if zipfile.is_zipfile(archive) and not name.lower().endswith(".xlsx"):
            with zipfile.ZipFile(archive) as packed:
                packed.extractall(directory)
        elif name.endswith(_TARS):
            with tarfile.open(archive) as tar:
                tar.extractall(directory, filter="data")
        elif name.endswith(".gz") and not name.endswith(_KEPT_PACKED):
            with gzip.open(archive) as source, (directory / name[:-3]).open("wb") as target:
                shutil.copyfileobj(source, target)
        else:
            shutil.copyfile(archive, directory / name)
    except _DAMAGED as error:
        if isinstance(error, OSError) and error.errno in _OURS:
            raise
        problem = f"damaged, or not an archive that can be read ({error})"
        raise Errors.bad_archive(path=archive, problem=problem) from error
