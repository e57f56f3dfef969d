"""Unpack archives into a directory, and nowhere else."""

import errno
import gzip
import lzma
import shutil
import stat
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from spacy_medlink.errors import Errors, MedlinkError

_DAMAGED = (
    EOFError, OSError, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, zlib.error,
    NotImplementedError, RuntimeError, ValueError, OverflowError,
)  # fmt: skip
# Faults of the disk and its permissions, not of the archive.
_OURS = {errno.EACCES, errno.EDQUOT, errno.EIO, errno.ENOSPC, errno.EPERM, errno.EROFS}
_KEPT_PACKED = (".txt.gz", ".tsv.gz", ".xml.gz", ".jsonl.gz")  # read as they are


def unpack(archive: Path, directory: Path, name: str = "") -> None:
    """Unpack a zip or tar archive, or a single `.gz` file; copy any other file.

    name (str): of the file, if the path has another name.
    RAISES (MedlinkError): E714 when it is damaged, encrypted, too large for the disk, or would
        write outside of the directory.
    """
    name = name or archive.name
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if zipfile.is_zipfile(archive) and not name.lower().endswith(".xlsx"):
            _unzip(archive, directory)
        elif _is_tar(archive):
            _untar(archive, directory)
        elif name.endswith(".gz") and not name.endswith(_KEPT_PACKED):
            with gzip.open(archive) as source, (directory / name[:-3]).open("wb") as target:
                shutil.copyfileobj(source, target)
        else:
            shutil.copyfile(archive, directory / name)
    except MedlinkError:
        raise
    except _DAMAGED as error:
        if isinstance(error, OSError) and error.errno in _OURS:
            raise
        problem = f"damaged, or not an archive that can be read ({error})"
        raise Errors.bad_archive(path=archive, problem=problem) from error


def _is_tar(path: Path) -> bool:
    try:
        return tarfile.is_tarfile(path)
    except (EOFError, zlib.error, lzma.LZMAError):  # truncated: unpacking will report it
        return path.name.endswith((".tgz", ".tar.gz", ".tar.bz2", ".tar.xz"))


def _unzip(archive: Path, directory: Path) -> None:
    with zipfile.ZipFile(archive) as packed:
        members = packed.infolist()
        _check_room(archive, directory, sum(member.file_size for member in members))
        for member in members:
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
                raise _bad(archive, f"{member.filename!r} is a link or a device")
            if member.flag_bits & 1:
                raise _bad(archive, f"{member.filename!r} is encrypted")
            target = _inside(archive, directory, member.filename)
            if member.is_dir():
                target.mkdir(parents=True, exist_ok=True)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            with packed.open(member) as source, target.open("wb") as file:
                shutil.copyfileobj(source, file)


def _untar(archive: Path, directory: Path) -> None:
    with tarfile.open(archive) as packed:
        members = packed.getmembers()
        _check_room(archive, directory, sum(member.size for member in members))
        for member in members:
            if not (member.isreg() or member.isdir()):
                raise _bad(archive, f"{member.name!r} is a link or a device")
            target = _inside(archive, directory, member.name)
            if member.isdir():
                target.mkdir(parents=True, exist_ok=True)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            source = packed.extractfile(member)
            if source is not None:
                with source, target.open("wb") as file:
                    shutil.copyfileobj(source, file)


def _inside(archive: Path, directory: Path, name: str) -> Path:
    """Return the path of a member, which must be inside the directory.

    RAISES (MedlinkError): E714 for absolute names, drives and "..".
    """
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or parts[0] == "/" or ".." in parts or ":" in parts[0] or "\0" in name:
        raise _bad(archive, f"{name!r} points outside of it")
    return directory.joinpath(*parts)


def _check_room(archive: Path, directory: Path, size: int) -> None:
    free = shutil.disk_usage(directory).free
    if size > free:
        problem = f"it needs {size / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB are free"
        raise _bad(archive, problem)


def _bad(archive: Path, problem: str) -> MedlinkError:
    return Errors.bad_archive(path=archive, problem=problem)
