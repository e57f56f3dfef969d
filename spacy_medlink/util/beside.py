"""A temporary directory beside a target, on the same disk, for building before a swap.

Its name is random and unique, so that writers with the same process number (threads, containers on
a shared disk) never collide. Its owner holds a lock on it. If the lock is free, the owner was
killed, and the next writer of the same target removes the directory, unless a reader still holds
what a swap has put there (`held`). Where a disk has no locks, nobody removes what others may use.
"""

import fcntl
import glob
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import BinaryIO

OLD = "old"  # part of the name of what a swap in two steps has moved away
_MANIFEST = "manifest.json"  # of assets
MARK = ".new-"  # in the names of such directories: others are the user's
_DRAWN = re.compile(r"[a-z0-9_]{8}")  # by mkdtemp


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """Make a directory beside a target; it is removed when the block ends, also by an error.

    RAISES (OSError): where it cannot be made.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(target)
    owner = os.getpid()
    while True:
        prefix = f".{target.name}{MARK}"
        directory = Path(mkdtemp(prefix=prefix, suffix=".tmp", dir=target.parent))
        with _locked(directory) as is_locked:
            # Before it is locked, another writer may take it for a leftover.
            if is_locked is False or not directory.exists():
                continue
            if is_locked is None:  # no other writer may take it for a leftover, ever
                directory = directory.rename(directory.with_name(directory.name.replace(MARK, ".")))
            is_done = False
            try:
                yield directory
                is_done = True
            finally:
                is_needed = is_done and _is_read(directory)
                if os.getpid() == owner and not is_needed:  # not the directory of a child's parent
                    remove(directory)
            return


def remove_leftovers(target: Path) -> None:
    """Remove what killed writers left beside a target, and what no reader needs any more."""
    for directory in _abandoned(target):
        needed = os.path.lexists(directory / OLD) and not os.path.lexists(target)
        if not (needed or _is_read(directory)):
            remove(directory)


def find_old(target: Path) -> Path | None:
    """Find the old output that a writer moved away before it was killed in the middle of a swap."""
    olds = (directory / OLD for directory in _abandoned(target))
    return next(filter(os.path.lexists, olds), None)


@contextmanager
def only_one(directory: Path, patience: float = 60.0) -> Iterator[None]:
    """Make swaps by other threads and processes in a directory wait.

    Readers of assets hold a lock on their directory, so writers within it lock its manifest.

    patience (float): seconds after which the block is entered without the lock, because only a
        foreign program holds it so long. Where directories cannot be locked, there is no waiting.
    """
    manifest = directory / _MANIFEST
    with _locked(manifest if manifest.is_file() else directory, patience):
        yield


def try_lock(file: BinaryIO | int, kind: int = fcntl.LOCK_EX) -> bool | None:
    """Lock a file while it is open; the lock ends with the process, even a killed one.

    kind (int): LOCK_EX for the only owner, LOCK_SH for one of several readers.
    RETURNS (Optional[bool]): whether this process has the lock; None where there are no locks.
    """
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def remove(path: Path) -> None:
    """Remove a file, a link or a directory of ours."""
    with suppress(OSError):  # what cannot be removed is reported if it is in the way
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


@contextmanager
def _locked(path: Path, patience: float = 0.0) -> Iterator[bool | None]:
    """Lock a file or directory during the block, and say whether that worked, as `try_lock`."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:  # it is no longer there
        yield None
        return
    try:
        end = time.monotonic() + patience
        while (is_locked := try_lock(descriptor)) is False and time.monotonic() < end:
            time.sleep(0.005)
        yield is_locked
    finally:
        os.close(descriptor)


def _is_read(directory: Path) -> bool:
    """Tell whether a reader holds a directory that a swap has moved into one of ours."""
    for inner in directory.glob("*/"):
        with _locked(inner) as is_free:
            if is_free is False:
                return True
    return False


def _abandoned(target: Path) -> Iterator[Path]:
    """List the directories beside a target whose writers are gone; each is locked meanwhile."""
    for directory in target.parent.glob(f".{glob.escape(target.name)}{MARK}*.tmp"):
        drawn = directory.name.removesuffix(".tmp").rpartition(MARK)[2]
        if _DRAWN.fullmatch(drawn) and directory.is_dir() and not directory.is_symlink():
            with _locked(directory) as is_abandoned:
                if is_abandoned:
                    yield directory
