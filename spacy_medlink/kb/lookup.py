"""Builds the exact tier's table: key hashes of all names, sorted on disk in buckets.

Making the keys is a quarter of the work of a build, so a second process does it for many names.
It gets the names through a pipe and writes buckets: files that each hold one range of hashes.
Sorting them one by one takes little memory, whatever the number of names.
"""

import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..text.normalisation import hash_keys, key
from .second_process import last_words, start

Entries = NDArray[np.void]
"""Records of ENTRY: (n,)."""

ENTRY = np.dtype([("hash", "<i8"), ("name", "<u4")])
_BITS = 6
_HEADER = struct.Struct("<QQ")
_MANY = 100_000


class LookupSorter:
    """Collects the key hashes of names and sorts them, in bounded memory.

    directory (Path): directory of the buckets; made with the first names, removed by `close`.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._buckets: Buckets | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def add(self, first: int, texts: Sequence[str]) -> None:
        """Add names with rows first, first + 1 ...; none may hold a line break.

        RAISES (OSError): when the disk is full or the second process has died.
        """
        if self._process is None and self._buckets is None:
            shutil.rmtree(self._directory, ignore_errors=True)  # left by a killed build
            self._directory.mkdir()
            self._buckets = Buckets(self._directory)
        if self._buckets is not None and first + len(texts) > _MANY:
            # A second process continues with the buckets, if one can be started.
            self._process = start(__name__, "serve", str(self._directory), stdin=subprocess.PIPE)
            if self._process is not None:
                self._close_buckets()
        if self._buckets is not None:
            self._buckets.add(hashed(first, texts))
        else:
            self._send(first, "\n".join(texts).encode("utf-8", "surrogatepass"))

    def sorted(self) -> Iterator[Entries]:
        """Stream the entries by hash, then by row; nothing can be added afterwards.

        RAISES (OSError): when the second process could not do its work.
        """
        self._close_buckets()
        self._finish_process()
        for path in _bucket_paths(self._directory):
            if path.exists():
                entries = np.fromfile(path, dtype=ENTRY)
                # Rows were added in rising order, and a stable sort keeps that order.
                yield entries[np.argsort(entries["hash"], kind="stable")]
                path.unlink()

    def close(self) -> None:
        """End the second process and remove the files."""
        try:
            self._close_buckets()
        finally:
            if self._process is not None:
                self._process.kill()
                self._process.communicate()
                self._process = None
            shutil.rmtree(self._directory, ignore_errors=True)

    def _send(self, first: int, payload: bytes) -> None:
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(_HEADER.pack(first, len(payload)))
            self._process.stdin.write(payload)
        except BrokenPipeError:
            self._finish_process()
            raise

    def _close_buckets(self) -> None:
        buckets, self._buckets = self._buckets, None
        if buckets is not None:
            buckets.close()

    def _finish_process(self) -> None:
        if self._process is None:
            return
        _, problem = self._process.communicate()
        if self._process.returncode != 0:
            raise OSError(f"the second process of the build failed: {last_words(problem)}")
        self._process = None


class Buckets:
    """Files, each with the entries of one range of hashes in the order in which they came."""

    def __init__(self, directory: Path) -> None:
        self._files = [path.open("ab") for path in _bucket_paths(directory)]

    def add(self, entries: Entries) -> None:
        """Append each entry to its bucket."""
        numbers = (entries["hash"] >> (64 - _BITS)) + (1 << (_BITS - 1))
        entries = entries[np.argsort(numbers, kind="stable")]
        ends = np.cumsum(np.bincount(numbers, minlength=len(self._files)))
        for file, part in zip(self._files, np.split(entries, ends[:-1]), strict=True):
            file.write(part.tobytes())

    def close(self) -> None:
        """Write the buffered entries and close the files."""
        with ExitStack() as stack:  # closes all files, even if the disk is too full for one
            for file in self._files:
                stack.callback(file.close)


def hashed(first: int, texts: Sequence[str]) -> Entries:
    """Hash the keys of names with rows first, first + 1 ...; names without a key are left out."""
    keys = [key(text) for text in texts]
    entries = np.empty(len(keys), dtype=ENTRY)
    entries["hash"] = hash_keys(keys).view(np.int64)
    entries["name"] = np.arange(first, first + len(keys))
    return entries[np.fromiter(map(bool, keys), dtype=np.bool_, count=len(keys))]


def serve(directory: str) -> None:
    """Run the second process: put names from standard input into buckets until the input ends."""
    try:
        buckets = Buckets(Path(directory))
        while header := sys.stdin.buffer.read(_HEADER.size):
            first, size = _HEADER.unpack(header)
            data = sys.stdin.buffer.read(size)
            if len(data) < size:
                raise EOFError("the build was interrupted")
            buckets.add(hashed(first, data.decode("utf-8", "surrogatepass").split("\n")))
        buckets.close()
    except (OSError, EOFError, struct.error) as error:
        sys.exit(str(error))


def _bucket_paths(directory: Path) -> list[Path]:
    return [directory / f"{bucket:02d}" for bucket in range(1 << _BITS)]
