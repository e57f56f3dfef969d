"""A temporary directory beside a target, on the same disk, for building before a swap.

Its name is random and unique, so that writers with the same process number (threads, containers on
a shared disk) never collide. Its owner holds a lock on it. If the lock is free, the owner was
killed, and the next writer of the same target removes the directory. Where a disk has no locks, the
directory has none, and stays after a kill.
"""

import glob
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import BinaryIO

if sys.platform != "win32":
    import fcntl

OLD = "old"  # part of the name of what a swap in two steps has moved away
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
            try:
                yield directory
            finally:
                if os.getpid() == owner:  # a forked child must not remove its parent's directory
                    remove(directory)
            return


def remove_leftovers(target: Path) -> None:
    """Remove what killed writers left beside a target."""
    for directory in _directories_of(target):
        with _locked(directory) as is_abandoned:
            needed = os.path.lexists(directory / OLD) and not os.path.lexists(target)
            if is_abandoned and not needed:
                remove(directory)


def find_old(target: Path) -> Path | None:
    """Find the old output that a writer moved away before it was killed in the middle of a swap."""
    for directory in _directories_of(target):
        with _locked(directory) as is_abandoned:
            if is_abandoned and os.path.lexists(directory / OLD):
                return directory / OLD
    return None


@contextmanager
def only_one(directory: Path, patience: float = 60.0) -> Iterator[None]:
    """Make swaps by other threads and processes in a directory wait.

    patience (float): seconds after which the block is entered without the lock, because only a
        foreign program holds it so long. Where directories cannot be locked, there is no waiting.
    """
    with _locked(directory, patience):
        yield


def try_lock(file: BinaryIO | int) -> bool | None:
    """Lock a file while it is open; the lock ends with the process, even a killed one.

    RETURNS (Optional[bool]): whether this process has the lock; None where there are no locks.
    """
    if sys.platform == "win32":
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
def _locked(directory: Path, patience: float = 0.0) -> Iterator[bool | None]:
    """Lock a directory during the block, and say whether that worked, as `try_lock` does."""
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:  # no system without locks opens directories; or it is no longer there
        yield None
        return
    try:
        end = time.monotonic() + patience
        while (is_locked := try_lock(descriptor)) is False and time.monotonic() < end:
            time.sleep(0.005)
        yield is_locked
    finally:
        os.close(descriptor)


def _directories_of(target: Path) -> Iterator[Path]:
    for directory in target.parent.glob(f".{glob.escape(target.name)}{MARK}*.tmp"):
        drawn = directory.name.removesuffix(".tmp").rpartition(MARK)[2]
        if _DRAWN.fullmatch(drawn) and directory.is_dir() and not directory.is_symlink():
            yield directory
