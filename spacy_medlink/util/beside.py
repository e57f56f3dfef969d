"""A temporary directory beside a target, on the same disk, for building before a swap.

Its name is random and unique, so that writers with the same process number (threads, containers on
a shared disk) never collide. Its owner holds a lock in it. If the lock is free, the owner was
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

_LOCK = "spacy-medlink.lock"
OLD = "old"  # part of the name of what a swap in two steps has moved away
_DRAWN = re.compile(r"[a-z0-9_]{8}")  # by mkdtemp


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """Make a directory beside a target; it is removed when the block ends, also by an error.

    RAISES (OSError): where it cannot be made.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(target)
    owner = os.getpid()
    directory, lock = _make(target)
    try:
        yield directory
    finally:
        if os.getpid() == owner:  # a forked child must not remove its parent's directory
            _dissolve(directory, lock)


def remove_leftovers(target: Path) -> None:
    """Remove what killed writers left beside a target."""
    for directory in _places(target):
        # An empty one was left before it was locked, or its owner is about to lock it and makes
        # another. More than an empty directory must not go: by then it may be locked.
        with suppress(OSError):
            directory.rmdir()
            continue
        with _looking(directory) as abandoned:
            needed = os.path.lexists(directory / OLD) and not os.path.lexists(target)
            if abandoned and not needed:
                _dissolve(directory, None)


def find_old(target: Path) -> Path | None:
    """Find the old output that a writer moved away before it was killed in the middle of a swap."""
    for directory in _places(target):
        with _looking(directory) as abandoned:
            if abandoned and os.path.lexists(directory / OLD):
                return directory / OLD
    return None


@contextmanager
def only_one(directory: Path, patience: float = 60.0) -> Iterator[None]:
    """Make swaps by other threads and processes in a directory wait.

    patience (float): seconds after which the block is entered without the lock, because only a
        foreign program holds it so long. Where directories cannot be locked, there is no waiting.
    """
    if sys.platform == "win32":
        yield
        return
    file = os.open(directory, os.O_RDONLY)
    try:
        end = time.monotonic() + patience
        while try_lock(file) is False and time.monotonic() < end:
            time.sleep(0.005)
        yield
    finally:
        os.close(file)


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


def _make(target: Path) -> tuple[Path, BinaryIO | None]:
    """Make a directory and lock it."""
    while True:
        directory = Path(mkdtemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent))
        try:
            lock = _hold(directory)
            if lock is None or (directory / _LOCK).exists():
                return directory, lock
            lock.close()
        except FileNotFoundError:
            continue  # it looked abandoned before it was locked
        except BaseException:
            remove(directory)
            raise


def _hold(directory: Path) -> BinaryIO | None:
    """Lock a new directory; None where there are no locks."""
    file = (directory / _LOCK).open("xb")
    while (is_held := try_lock(file)) is False:  # somebody looks whether it is abandoned
        time.sleep(0.001)
    if is_held:
        return file
    file.close()
    (directory / _LOCK).unlink()  # nobody may take it for abandoned
    return None


@contextmanager
def _looking(directory: Path) -> Iterator[bool]:
    """Tell whether the owner of a directory is gone; during the block nobody else can lock it."""
    try:
        file = (directory / _LOCK).open("r+b")
    except OSError:  # not locked yet, or none of ours
        yield False
        return
    with file:
        yield try_lock(file) is True


def _dissolve(directory: Path, lock: BinaryIO | None) -> None:
    """Remove a directory, the lock last, so that after a kill it is known as abandoned."""
    with suppress(OSError):
        for path in directory.iterdir():
            if path.name != _LOCK:
                remove(path)
    if sys.platform == "win32" and lock is not None:
        lock.close()
    remove(directory)
    if lock is not None:
        lock.close()


def _places(target: Path) -> Iterator[Path]:
    for directory in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        # ".kb.<drawn>.tmp" is of "kb", ".kb.old.<drawn>.tmp" of "kb.old".
        drawn = directory.name[len(target.name) + 2 : -len(".tmp")]
        if _DRAWN.fullmatch(drawn) and directory.is_dir() and not directory.is_symlink():
            yield directory
