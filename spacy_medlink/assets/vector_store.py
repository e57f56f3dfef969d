"""Vectors made before, found by the encoder that made them and by the text.

A `VectorStore` has them in files of a directory: beside the assets while a build is under way, and
beside an encoder that was trained. `KnownVectors` are in any other place, such as an older index.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from ..types import Array, Floats2d, Ints1d
from ..util.beside import remove_leftovers
from ..util.files import replacing_file
from ..util.hashes import positions
from ..util.outputs import PRIVATE

if TYPE_CHECKING:
    from ..encoders.bi_encoder import BiEncoder

DIRECTORY = "vectors"  # of an encoder
_FILE = re.compile(r"([0-9a-f]{32})-[0-9a-f]{32}-(\d+)\.safetensors")
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, SafetensorError)

Keys = NDArray[np.uint64]
"""Of texts: (n, 2)."""


def keys_of(texts: Iterable[str]) -> Keys:
    """Hash texts: (n, 2). No text can be written so that it has the hash of another."""
    hashed = (
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        for text in texts
    )
    return np.frombuffer(b"".join(hashed), dtype=np.uint64).reshape(-1, 2)


class KnownVectors:
    """Finds vectors by text; takes 20 bytes of memory a text, the vectors are where they are.

    keys (Keys): of the texts, in the order of rows. read (Callable): gets the vectors of rows,
        (n, dim); vectors that are not finite count as unknown.
    """

    def __init__(self, keys: Keys, read: Callable[[Ints1d], Floats2d]) -> None:
        self._rows = np.argsort(keys[:, 0]).astype(np.uint32)
        self._first, self._second = keys[self._rows].T.copy()
        self._read = read
        self.taken = 0

    def __len__(self) -> int:
        return len(self._rows)

    def take(self, texts: Sequence[str]) -> tuple[NDArray[np.bool_], Floats2d]:
        """Get the vectors of those texts that are known.

        RETURNS (Tuple[NDArray, Floats2d]): which are known, (n,), and the vectors of these,
            (n_known, dim).
        """
        keys = keys_of(texts)
        at = positions(self._first, keys[:, 0])
        is_known = at >= 0
        is_known[is_known] = self._second[at[is_known]] == keys[is_known, 1]
        vectors = self._read(self._rows[at[is_known]].astype(np.int64))
        is_whole = np.isfinite(vectors).all(axis=1)
        is_known[is_known] = is_whole
        self.taken += int(is_whole.sum())
        return is_known, vectors[is_whole]


class VectorStore:
    """The vectors of one encoder in files of a directory, which are named after the encoder.

    So vectors of other weights are never found. Files that cannot be read count as missing.

    place (Path): the directory; made when something is kept. made_by (str): the encoder's
        fingerprint. dim (int): of its vectors.
    """

    def __init__(self, place: Path, made_by: str, dim: int) -> None:
        self.place, self._made_by, self._dim = place, made_by, dim
        self.open()

    def open(self) -> None:
        """Find what is there, also what other processes have written meanwhile."""
        files = sorted(path for path, made_by, _ in _files(self.place) if made_by == self._made_by)
        keys = [_read(path, "keys", (2,)) for path in files]
        self._starts = np.cumsum([0, *map(len, keys)])
        self._files = files
        self._vectors_of = lru_cache(2)(self._of_file)  # texts come in the order of the files
        self.known = KnownVectors(np.concatenate([np.empty((0, 2), np.uint64), *keys]), self._rows)

    def count(self) -> int:
        """Count the texts whose vectors are on disk."""
        return sum(count for _, made_by, count in _files(self.place) if made_by == self._made_by)

    def add(self, texts: Sequence[str], vectors: NDArray[np.floating]) -> None:
        """Write the vectors of texts; `open` finds them then.

        RAISES (MedlinkError): E109 when the disk is full or cannot be written.
        """
        keys = keys_of(texts)
        digest = hashlib.blake2b(keys.tobytes(), digest_size=16).hexdigest()
        path = self.place / f"{self._made_by}-{digest}-{len(keys)}.safetensors"
        with replacing_file(path, PRIVATE) as new:
            save_file({"keys": keys, "vectors": np.ascontiguousarray(vectors)}, new)

    def remove(self) -> None:
        """Remove the files of every encoder, and the directory if nothing else is in it."""
        for path, _, _ in _files(self.place):
            path.unlink(missing_ok=True)
        for path in self.place.glob(".*.tmp"):  # of killed writers
            remove_leftovers(self.place / path.name[1:].rsplit(".", 2)[0])
        with suppress(OSError):
            self.place.rmdir()

    def _rows(self, rows: Ints1d) -> Floats2d:
        vectors = np.empty((len(rows), self._dim), dtype=np.float32)
        numbers = np.searchsorted(self._starts, rows, side="right") - 1
        for number in np.unique(numbers).tolist():
            own = numbers == number
            vectors[own] = self._vectors_of(number)[rows[own] - self._starts[number]]
        return vectors

    def _of_file(self, number: int) -> Array:
        count = int(self._starts[number + 1] - self._starts[number])
        vectors = _read(self._files[number], "vectors", (self._dim,))
        whole = len(vectors) == count
        return vectors if whole else np.full((count, self._dim), np.nan, dtype=np.float32)


def known_beside(encoder: "BiEncoder", directories: Iterable[Path]) -> list[KnownVectors]:
    """List the vectors that lie beside encoders and were made by this one."""
    made_by, dim = encoder.fingerprint(), encoder.dim
    stores = (VectorStore(directory / DIRECTORY, made_by, dim) for directory in directories)
    return [store.known for store in stores if len(store.known)]


def take_known(
    known: Iterable[KnownVectors], texts: Sequence[str], dim: int
) -> tuple[Floats2d, Ints1d]:
    """Ask for the vectors of texts in several places, one after the other.

    RETURNS (Tuple[Floats2d, Ints1d]): vectors, (n, dim), and the positions of those that no place
        has, ascending, which the caller fills in.
    """
    vectors, missing = np.empty((len(texts), dim), dtype=np.float32), np.arange(len(texts))
    for place in known:
        is_known, found = place.take([texts[at] for at in missing.tolist()])
        vectors[missing[is_known]] = found
        missing = missing[~is_known]
    return vectors, missing


def _files(place: Path) -> list[tuple[Path, str, int]]:
    """List our files of a directory: path, fingerprint of the encoder, number of texts."""
    try:
        found = [(path, _FILE.fullmatch(path.name)) for path in place.iterdir()]
    except OSError:
        return []
    return [(path, match[1], int(match[2])) for path, match in found if match]


def _read(path: Path, name: str, shape: tuple[int, ...]) -> Array:
    """Read one array of a file; empty where it is missing or of another shape."""
    with suppress(*_UNREADABLE), safe_open(path, "numpy") as file:
        array: Array = file.get_tensor(name)
        if array.shape[1:] == shape:
            return array
    return np.empty((0, *shape), dtype=np.uint64)
