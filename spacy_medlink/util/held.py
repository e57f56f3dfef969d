"""Files and directories that are read as they were opened, even if others take their places.

A build replaces a whole directory while linkers have the old one open. A directory is held by one
descriptor, and read by a path that leads through it, in every thread and forked child, wherever the
old one was moved. A lock tells writers to leave it on the disk; the last reader removes it.
"""

import errno
import fcntl
import os
import shutil
import stat
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from mmap import ACCESS_COPY, mmap
from pathlib import Path

from ..errors import MedlinkError
from .beside import remove_leftovers, try_lock

# A pipe in place of a file would be waited for, forever.
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_DESCRIPTORS = Path("/proc/self/fd")  # of the process that asks: right in forked children, too

_Identity = tuple[int, int]
"""Device and inode: no other file has them as long as this one is open."""


class Held:
    """A file or directory that stays what was opened, as long as this object lives.

    path (Path): where it was opened, for messages. size (int): of a file, in bytes.
    within (Optional[Held]): the directory in which `path` is a name.
    RAISES (OSError): when it is not there, cannot be opened, or is being removed.
    """

    def __init__(self, path: Path, within: "Held | None" = None) -> None:
        self.path = path.absolute()  # a process may change its directory
        self._within = within  # whose lock must last
        self._fd = os.open(path if within is None else within.source / path.name, _FLAGS)
        state = os.fstat(self._fd)
        self._identity, self.size = _identity(state), state.st_size
        is_alone = within is None and stat.S_ISDIR(state.st_mode)
        close = weakref.finalize(self, _close, self._fd, self._identity, path if is_alone else None)
        if is_alone and try_lock(self._fd, fcntl.LOCK_SH) is False:
            close()
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))

    def part(self, name: str) -> "Held":
        """Hold a file or directory within. RAISES (OSError): when it is not there."""
        return Held(self.path / name, self)

    def is_at(self, path: Path) -> bool:
        """Tell whether a path leads to this very file."""
        return _is_at(path, self._identity)

    @property
    def source(self) -> Path:
        """A path to read by, also after it was moved. RAISES (OSError): where there is none."""
        link = _DESCRIPTORS / str(self._fd)
        for place in (link, self.path):
            if self.is_at(place):  # a daemon has closed its descriptors: others have the numbers
                return place
        raise OSError(errno.ESTALE, "it was replaced since it was opened", str(self.path))

    @property
    def place(self) -> Path | None:
        """Where it is now, for libraries that follow links; None where it was removed."""
        link = _DESCRIPTORS / str(self._fd)
        places = (self.path, Path(os.path.realpath(link)))
        return next(filter(self.is_at, places), None)

    @contextmanager
    def reading(self) -> Iterator[Path]:
        """Yield `source`; errors of the block name the path that users know instead.

        RAISES (OSError): as `source`.
        """
        source = self.source
        try:
            yield source
        except MedlinkError as error:
            if str(source) not in error.message or source == self.path:
                raise
            message = error.message.replace(str(source), str(self.path))
            raise MedlinkError(error.code, message) from error

    def put(self, destination: Path, name: str = "") -> None:
        """Make a file like this one, or one within: a hard link if possible, else a copy."""
        source = self.source / name
        try:
            # With a descriptor, Python links what a link leads to, which the path by itself is.
            os.link(source, destination, src_dir_fd=self._fd, follow_symlinks=True)
        except OSError:
            destination.unlink(missing_ok=True)
            shutil.copyfile(source, destination)


def view(path: Path) -> mmap | bytes:
    """Map a file into memory, writable but never written back; replacing it changes nothing."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        return mmap(file.fileno(), size, access=ACCESS_COPY) if size else b""


def _identity(state: os.stat_result) -> _Identity:
    return state.st_dev, state.st_ino


def _is_at(place: Path | int, identity: _Identity) -> bool:
    """Tell whether a file is at a path, or behind a descriptor."""
    try:
        return _identity(os.stat(place)) == identity  # noqa: PTH116  # takes descriptors, too
    except OSError:
        return False


def _close(descriptor: int, identity: _Identity, path: Path | None) -> None:
    """Close a descriptor that is still ours, and remove a directory that was replaced since."""
    if _is_at(descriptor, identity):
        os.close(descriptor)
    if path is not None and not _is_at(path, identity):
        with suppress(OSError):
            remove_leftovers(path)
