"""Open files that keep their content even if other files replace them at their paths.

A build replaces a whole file or directory while linkers have the old one open. A descriptor still
refers to the old file afterwards, in every thread and in forked children; a path would refer to the
new file. Therefore all files of a build are opened together and read through descriptors.
"""

import errno
import gc
import hashlib
import os
import shutil
import stat
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from mmap import ACCESS_COPY, mmap
from pathlib import Path
from tempfile import mkdtemp

from ..errors import MedlinkError

_BLOCK = 1 << 20  # bytes
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
# A pipe in place of a file would be waited for, forever.
_FLAGS |= getattr(os, "O_NONBLOCK", 0)
_DESCRIPTORS = Path("/proc/self/fd")  # of the process that asks: right in forked children, too

Identity = tuple[int, int]
"""Device and inode: no other file has them as long as this one is open."""


class HeldFile:
    """An open file; its descriptor is closed when no reference to the object is left.

    path (Path): the path of the file, for messages, and for libraries that need a path.
    within (Optional[int]): descriptor of the directory that `name` is relative to.
    RAISES (OSError): when it is not there, cannot be opened, or is no ordinary file.
    """

    def __init__(self, path: Path, within: int | None = None, name: str = "") -> None:
        self.path = path.absolute()  # a process may change its directory
        self._fd = _descriptor(path if within is None else name, within)
        state = os.fstat(self._fd)
        self.identity = _identity(state)
        self._close = weakref.finalize(self, _close, self._fd, self.identity)
        self._close.atexit = False  # threads may still read; the system closes it then
        self._view: mmap | None = None
        self.size = state.st_size
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, "not an ordinary file", str(path))

    def is_in_place(self) -> bool:
        """Tell whether the path still leads to this very file."""
        return _is_at(self.path, self.identity)

    def view(self) -> mmap | bytes:
        """Map the content into memory, writable but never written back to the file.

        The map itself keeps the file open, so the descriptor is closed.
        """
        if self._view is None and self.size:
            self._check()
            self._view = mmap(self._fd, self.size, access=ACCESS_COPY)
            self._close()
        return self._view if self._view is not None else b""

    def read(self) -> bytes:
        """Read the content."""
        return b"".join(self._blocks())

    def sha256(self) -> str:
        """Compute the SHA-256 of the content, hexadecimal."""
        digest = hashlib.sha256()
        for block in self._blocks():
            digest.update(block)
        return digest.hexdigest()

    def source(self) -> Path:
        """Return a path by which this very file can be opened in this process.

        RAISES (OSError): where the system has no such path and another file is in place.
        """
        if self._close.alive and _DESCRIPTORS.is_dir():
            self._check()
            return _DESCRIPTORS / str(self._fd)
        if not self.is_in_place():
            raise OSError(errno.ESTALE, "it was replaced since it was opened", str(self.path))
        return self.path

    def put(self, destination: Path) -> None:
        """Make a file of the same content: a hard link where that is possible, else a copy."""
        try:
            os.link(self.path.resolve(), destination)
            if _identity(destination.stat()) == self.identity:
                return
            destination.unlink()
        except OSError:
            destination.unlink(missing_ok=True)
        with destination.open("wb") as file:
            file.writelines(self._blocks())

    def _blocks(self) -> Iterator[bytes]:
        if self._view is not None:
            starts = range(0, self.size, _BLOCK)
            yield from (self._view[start : start + _BLOCK] for start in starts)
        elif hasattr(os, "pread"):  # which moves no position that processes would share
            self._check()
            start = 0
            while block := os.pread(self._fd, _BLOCK, start):
                yield block
                start += len(block)
        else:
            with self.source().open("rb") as file:
                while block := file.read(_BLOCK):
                    yield block

    def _check(self) -> None:
        """Raise an error if the descriptor was closed: another file may now have its number."""
        if not _is_at(self._fd, self.identity):
            raise OSError(errno.EBADF, "its descriptor was closed", str(self.path))


class HeldFiles:
    """The files of a directory, all opened at one moment.

    path (Path): the directory. files (Mapping): by their names, relative to the directory.
    """

    def __init__(self, path: Path, files: Mapping[str, HeldFile]) -> None:
        self.path, self._files = path, files

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def __getitem__(self, name: str) -> HeldFile:
        """Get a file. RAISES (FileNotFoundError): when there is none."""
        if name not in self._files:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path / name))
        return self._files[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def part(self, name: str) -> "HeldFiles":
        """Get the files of a directory within."""
        inner = {
            path.removeprefix(f"{name}/"): file
            for path, file in self._files.items()
            if path.startswith(f"{name}/")
        }
        return HeldFiles(self.path / name, inner)

    @contextmanager
    def directory(self) -> Iterator[Path]:
        """Yield a directory with these files, for libraries that need one; the block's end ends it.

        An error of the block names the path of the files in place of that of the directory.
        RAISES (OSError): where they are no longer in place, and there is no other way.
        """
        if not _DESCRIPTORS.is_dir():
            _ = [each.source() for each in self._files.values()]
            yield self.path
            _ = [each.source() for each in self._files.values()]
            return
        directory = Path(mkdtemp(prefix="spacy-medlink-files-"))
        try:
            for name, file in self._files.items():
                (directory / name).parent.mkdir(parents=True, exist_ok=True)
                (directory / name).symlink_to(file.source())
            yield directory
        except MedlinkError as error:
            message = error.message.replace(str(directory), str(self.path))
            raise MedlinkError(error.code, message) from error
        finally:
            shutil.rmtree(directory, ignore_errors=True)


Directory = Path | HeldFiles
"""Where a part is read from: a directory as it is now, or files that were opened before."""
File = Path | HeldFile
"""What is read: the file that is at a path now, or one that was opened before."""


def held(directory: Directory, name: str) -> HeldFile:
    """Get a file of a directory, opened.

    RAISES (OSError): when it is not there or cannot be opened.
    """
    return directory[name] if isinstance(directory, HeldFiles) else HeldFile(directory / name)


def files_in(path: Path, suffix: str) -> HeldFiles:
    """Open the files with a suffix of one directory, while another may take its place.

    RAISES (OSError): when it is not there, or one cannot be opened.
    """
    with opened(path) as within:
        names = os.listdir(path if within is None else within)  # noqa: PTH208  # of the descriptor
        wanted = sorted(name for name in names if name.endswith(suffix))
        try:
            return HeldFiles(path, {name: HeldFile(path / name, within, name) for name in wanted})
        except FileNotFoundError:
            if is_same_directory(path, within):
                raise
    return files_in(path, suffix)


def place_of(source: Directory | File) -> Path:
    """Get the path of a file or directory, for messages."""
    return source if isinstance(source, Path) else source.path


def content_of(file: File) -> bytes:
    """Read a file. RAISES (OSError): when it cannot be read."""
    return file.read_bytes() if isinstance(file, Path) else file.read()


def source_of(file: File) -> Path:
    """Give a path by which a file can be opened. RAISES (OSError): where there is none."""
    return file if isinstance(file, Path) else file.source()


@contextmanager
def opened(path: Path) -> Iterator[int | None]:
    """Open a directory, so that names are looked up in it even if another takes its place.

    RETURNS (Optional[int]): its descriptor; None where the system has none for directories.
    RAISES (OSError): when it is not there.
    """
    if os.open not in os.supports_dir_fd:
        yield None
        return
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def is_same_directory(path: Path, within: int | None) -> bool:
    """Tell whether a path still leads to an opened directory."""
    return within is None or _is_at(path, _identity(os.fstat(within)))


def _descriptor(name: str | Path, within: int | None) -> int:
    """Open a file; if the process has too many open files, collect garbage and try again.

    Components and their pipelines refer to each other, so only the collector closes their files.
    """
    try:
        return os.open(name, _FLAGS, dir_fd=within)
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
        gc.collect()
    return os.open(name, _FLAGS, dir_fd=within)


def _identity(state: os.stat_result) -> Identity:
    return state.st_dev, state.st_ino


def _is_at(place: Path | int, identity: Identity) -> bool:
    """Tell whether a file is at a path, or behind a descriptor."""
    try:
        return _identity(os.stat(place)) == identity  # noqa: PTH116  # takes descriptors, too
    except OSError:
        return False


def _close(descriptor: int, identity: Identity) -> None:
    # A process that became a daemon has closed all descriptors, and others have their numbers.
    if _is_at(descriptor, identity):
        os.close(descriptor)
