"""Unpack archives into a directory, and nowhere else."""

import errno
import gzip
import lzma
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterable
from functools import partial
from itertools import repeat
from pathlib import Path, PurePosixPath

from spacy_medlink.errors import Errors, MedlinkError

_DAMAGED = (
    EOFError, OSError, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, zlib.error,
    NotImplementedError, RuntimeError, ValueError, OverflowError,
)  # fmt: skip
# Faults of the disk and its permissions, not of the archive.
_OURS = {errno.EACCES, errno.EDQUOT, errno.EIO, errno.ENOSPC, errno.EPERM, errno.EROFS}
_KEPT_PACKED = (".txt.gz", ".tsv.gz", ".xml.gz", ".jsonl.gz")  # read as they are
_BLOCK = 1 << 20  # bytes
_TARS = (".tgz", ".tar", ".tar.gz", ".tar.bz2", ".tar.xz")


def unpack(archive: Path, directory: Path) -> None:
    """Unpack a zip or tar archive, or a single `.gz` file; copy any other file.

    RAISES (MedlinkError): E714 when it is damaged, encrypted, too large for the disk, or would
        write outside of the directory.
    """
    name = archive.name
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if zipfile.is_zipfile(archive) and not name.lower().endswith(".xlsx"):
            with zipfile.ZipFile(archive) as packed:
                members = packed.infolist()
                kinds = (stat.S_IFMT(member.external_attr >> 16) for member in members)
                plain = (kind in {0, stat.S_IFREG, stat.S_IFDIR} for kind in kinds)
                if any(member.flag_bits & 1 for member in members):
                    raise _bad(archive, "it is encrypted")
                _check(archive, directory, ((m.filename, m.file_size) for m in members), plain)
                packed.extractall(directory)
        elif name.endswith(_TARS):
            with tarfile.open(archive) as tar:
                files = tar.getmembers()
                plain = (member.isreg() or member.isdir() for member in files)
                _check(archive, directory, ((m.name, m.size) for m in files), plain)
                tar.extractall(directory, filter="data")
        elif name.endswith(".gz") and not name.endswith(_KEPT_PACKED):
            with gzip.open(archive) as source:  # it does not say how large its content is
                sizes = (len(block) for block in iter(partial(source.read, _BLOCK), b""))
                _check(archive, directory, zip(repeat(name[:-3]), sizes), repeat(True))
                source.seek(0)
                with (directory / name[:-3]).open("wb") as target:
                    shutil.copyfileobj(source, target)
        else:
            shutil.copyfile(archive, directory / name)
    except MedlinkError:
        raise
    except _DAMAGED as error:
        if isinstance(error, OSError) and error.errno in _OURS:
            raise
        problem = f"damaged, or not an archive that can be read ({error})"
        raise _bad(archive, problem) from error


def _check(
    archive: Path, directory: Path, members: Iterable[tuple[str, int]], plain: Iterable[bool]
) -> None:
    """Refuse links and devices, what would be written elsewhere, and more than the disk holds."""
    whole, free = 0, shutil.disk_usage(directory).free
    for (name, size), is_plain in zip(members, plain, strict=False):
        whole += size
        if not is_plain:
            raise _bad(archive, f"{name!r} is a link or a device")
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if name.startswith("/") or ".." in parts or ":" in "".join(parts[:1]) or "\0" in name:
            raise _bad(archive, f"{name!r} points outside of it")
        if whole > free:
            problem = f"it needs {whole / 1e9:,.1f} GB or more, and {free / 1e9:,.1f} GB are free"
            raise _bad(archive, problem)


def _bad(archive: Path, problem: str) -> MedlinkError:
    return Errors.bad_archive(path=archive, problem=problem)
