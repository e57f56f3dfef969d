"""Writing that is all or nothing: build beside, fsync, swap in whole; and checksums."""

import ctypes
import glob
import hashlib
import os
import shutil
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from .errors import Errors

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_BLOCK = 1 << 20  # bytes


def sha256_of(path: Path) -> str:
    """Compute the SHA-256 of a file, hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):  # hashlib.file_digest came with Python 3.11
            digest.update(block)
    return digest.hexdigest()


@contextmanager
def replacing_file(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; when the block ends well, it takes its place.

    A crash or an error at any moment leaves the old file, or the new one, never a part.
    RAISES (MedlinkError): E109 when the disk is full or the place cannot be written.
    """
    path = _named(path)
    temporary = _beside(path)
    with _reporting(path, temporary):
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        _sync(temporary)
        os.replace(temporary, path)
        _sync(path.parent)


@contextmanager
def replacing_directory(path: Path) -> Iterator[Path]:
    """Give an empty directory beside `path`; when the block ends well, it takes its place whole.

    RAISES (MedlinkError): E109 when the disk is full or the place cannot be written.
    """
    path = _named(path)
    temporary = _beside(path)
    with _reporting(path, temporary):
        temporary.mkdir(parents=True)
        yield temporary
        for file in sorted(temporary.rglob("*"), reverse=True):
            _sync(file)
        _swap(temporary, path)
        _sync(path.parent)
        _remove(temporary)


class OwnedDirectory:
    """A temporary directory that goes when its owner does.

    Beyond `TemporaryDirectory`, the end of a forked child does not take it from the parent.

    prefix (str): beginning of its name.
    RAISES (MedlinkError): E164 when it cannot be made.
    """

    def __init__(self, prefix: str) -> None:
        try:
            self.path = Path(mkdtemp(prefix=prefix))
        except OSError as error:
            raise Errors.scratch_failed(reason=error.strerror or error) from error
        weakref.finalize(self, _remove_own, self.path, os.getpid())


@contextmanager
def working_directory(path: Path) -> Iterator[Path]:
    """Give an empty directory beside `path`, on its disk, that is gone when the block ends.

    RAISES (MedlinkError): E109 when the disk is full or the place cannot be written.
    """
    path = _named(path)
    temporary = _beside(path).with_suffix(".tmp-work")
    with _reporting(path, temporary):
        temporary.mkdir(parents=True)
        yield temporary
        _remove(temporary)


def link_or_copy(source: Path, destination: Path) -> None:
    """Hard-link a file, or copy it where links are not possible."""
    try:
        os.link(source.resolve(), destination)
    except OSError:
        shutil.copy2(source, destination)


def recover(path: Path) -> None:
    """Finish a swap of directories that was interrupted where the system cannot exchange them."""
    path = _named(path)
    old = path.with_name(f".{path.name}.old")
    if not path.exists() and old.exists():
        os.replace(old, path)


def _named(path: Path) -> Path:
    """Give a path a last part, which "." has not and ".." only seems to have."""
    return path if path.name not in ("", "..") else path.resolve()


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


@contextmanager
def _reporting(path: Path, temporary: Path) -> Iterator[None]:
    try:
        _remove(temporary)  # of a killed process that had our number
        _remove_leftovers(path)
        yield
    except OSError as error:
        _remove(temporary)
        raise Errors.write_failed(path=path, reason=error.strerror or error) from error
    except BaseException:
        _remove(temporary)
        raise


def _remove_leftovers(path: Path) -> None:
    """Remove what killed builds of the same target left behind, unless their process still runs."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.tmp*"):
        owner = leftover.name.removeprefix(f".{path.name}.").split(".")[0]
        if owner.isdigit() and not _is_running(int(owner)):
            _remove(leftover)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _remove_own(path: Path, owner: int) -> None:
    if os.getpid() == owner:
        _remove(path)


def _remove(path: Path) -> None:
    with suppress(OSError):  # what cannot be removed is reported if it is in the way
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _swap(new: Path, path: Path) -> None:
    if not path.exists():
        os.replace(new, path)
    elif not _exchange(new, path):
        # Two steps: a kill between them is mended by `recover` at the next opening.
        old = path.with_name(f".{path.name}.old")
        _remove(old)
        os.replace(path, old)
        os.replace(new, path)
        _remove(old)


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two directories in one step (renameat2); False where there is no such call."""
    if not sys.platform.startswith("linux"):
        return False
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    done: int = call(
        _AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE
    )
    return done == 0
