"""Atomic writing: build a file or directory beside its target, fsync, swap; and checksums."""

import ctypes
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.util import Finalize
from pathlib import Path
from tempfile import mkdtemp

from ..errors import Errors
from .beside import OLD, beside, find_old, only_one, remove
from .outputs import DirectoryKind, FileKind, PathLike, check_output

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def sha256_of(path: Path) -> str:
    """Compute the SHA-256 of a file, or of the names and files of a directory, hexadecimal."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        parts = (f"{file.relative_to(path).as_posix()}\0{sha256_of(file)}\n" for file in files)
        return hashlib.sha256("".join(parts).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def replacing_file(
    path: Path,
    kind: FileKind,
    inputs: Iterable[PathLike | None] = (),
    *,
    improves: PathLike | None = None,
    overwrite: bool = False,
) -> Iterator[Path]:
    """Yield a temporary path beside `path`; when the block succeeds, its file replaces `path`.

    After a crash or an error, the old file or the new file is there, never a part. If several
    writers finish, the file of the last one stays.

    kind, inputs, improves, overwrite: what may be replaced; see `outputs.check_output`.
    RAISES (MedlinkError): E109 when the disk is full or the place cannot be written, E120-E124
        where something of the user's would be lost.
    """
    path, given = _named(path), list(inputs)
    check_output(path, kind, given, improves=improves, overwrite=overwrite)
    with _reporting(path), beside(path) as directory:
        new = directory / path.name
        yield new
        check_output(path, kind, given, improves=improves, overwrite=overwrite, new=new)
        _sync(new)
        os.replace(new, path)
        _sync(path.parent)


def save_text(
    path: Path,
    kind: FileKind,
    text: str | None,
    inputs: Iterable[PathLike | None] = (),
    *,
    overwrite: bool = False,
) -> None:
    """Write a file; for None remove the file of an earlier save, which would be loaded instead.

    RAISES (MedlinkError): as `replacing_file`, also where the file to remove is the user's.
    """
    if text is None:
        check_output(path, kind)
        remove(path)
        return
    with replacing_file(path, kind, inputs, overwrite=overwrite) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def replacing_directory(
    path: Path,
    kind: DirectoryKind,
    inputs: Iterable[PathLike | None] = (),
    *,
    improves: PathLike | None = None,
    overwrite: bool = False,
) -> Iterator[Path]:
    """Yield an empty directory beside `path`; when the block succeeds, it replaces `path`.

    kind, inputs, improves, overwrite: what may be replaced; see `outputs.check_output`.
    RAISES (MedlinkError): E109 when the disk is full or the place cannot be written, E120-E124
        where something of the user's would be lost.
    """
    path, given = _named(path), list(inputs)
    recover(path)
    check_output(path, kind, given, improves=improves, overwrite=overwrite)
    with _reporting(path), beside(path) as directory:
        new = directory / path.name
        new.mkdir()
        yield new
        kind.seal(new)
        for file in sorted(new.rglob("*"), reverse=True):
            _sync(file)
        check_output(path, kind, given, improves=improves, overwrite=overwrite)
        with only_one(path.parent):
            if not _exchange(new, path):
                _swap_in_two_steps(new, path)
        _sync(path.parent)


class OwnedDirectory:
    """A temporary directory that is removed together with its owner.

    Unlike with `TemporaryDirectory`, the end of a forked child does not remove it.

    prefix (str): beginning of the directory's name.
    RAISES (MedlinkError): E164 when it cannot be made.
    """

    def __init__(self, prefix: str) -> None:
        try:
            self.path = Path(mkdtemp(prefix=prefix))
        except OSError as error:
            raise Errors.scratch_failed(reason=error.strerror or error) from error
        # Not `weakref.finalize`, which the end of a process of multiprocessing does not call.
        Finalize(self, _remove_own, (self.path, os.getpid()), exitpriority=0)


@contextmanager
def working_directory(path: Path) -> Iterator[Path]:
    """Yield an empty directory beside `path`, on the same disk; the end of the block removes it.

    RAISES (MedlinkError): E109 when the disk is full or the place cannot be written.
    """
    path = _named(path)
    with _reporting(path), beside(path) as directory:
        yield directory


def recover(path: Path) -> None:
    """Finish a swap of directories that was interrupted where the system cannot exchange them."""
    path = _named(path)
    if os.path.lexists(path) or find_old(path) is None:
        return
    with suppress(OSError), only_one(path.parent):  # what cannot be moved is read where it is
        old = find_old(path)
        if old is not None and not os.path.lexists(path):
            os.replace(old, path)


def _named(path: Path) -> Path:
    """Write a path with a real last part: "." has none, and ".." is no name."""
    return path if path.name not in ("", "..") else path.resolve()


@contextmanager
def _reporting(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Errors.write_failed(path=path, reason=error.strerror or error) from error


def _remove_own(path: Path, owner: int) -> None:
    if os.getpid() == owner:
        remove(path)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _swap_in_two_steps(new: Path, path: Path) -> None:
    """Swap a new directory with the old one at a path; the old one moves to the new one's place."""
    old = new.with_name(OLD)
    is_there = os.path.lexists(path)
    if is_there:
        os.replace(path, old)
    try:
        # A kill before this is mended by `recover` at the next opening.
        os.replace(new, path)
    except BaseException:
        if is_there and not os.path.lexists(path):
            os.replace(old, path)
        raise
    if is_there:  # a reader may keep it here, where `recover` must not find it later
        os.replace(old, new)


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two directories in one step (renameat2); False where there is no such call."""
    if not sys.platform.startswith("linux"):
        return False
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    return not call(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE)
