"""Vectors kept on disk until the assets are whole, so that an interrupted build can continue."""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import MedlinkError, Warnings
from ..types import Floats2d
from ..util.beside import remove_leftovers
from ..util.files import replacing_file
from ..util.outputs import PRIVATE, files_in
from ..util.telling import tell

WORTH_KEEPING = 2048  # names; fewer are encoded again in a second or two
# Names from which on vectors are rounded to 16 bits, also those that are used at once, so that an
# interrupted build gives the same assets. It halves 23 GB of 15 million names; the index of so many
# rounds them to 8 bits.
HALVED = 1_000_000
_SHARD = re.compile(r"[0-9a-f]{16}-[0-9a-f]{40}-(\d+)\.npy")


class KeptVectors:
    """The vectors of one encoder, in shards named after their texts.

    The file name of a shard contains all that identifies it. So a build with other names finds the
    shards with the same names, and a build with another encoder finds none.

    out (Path): the assets to build; the shards lie beside. made_by (str): the encoder's
        fingerprint. names (int): number of all names to encode.
    """

    def __init__(self, out: Path, made_by: str, names: int) -> None:
        self.out, self.place, self.names = out, out.with_name(f".{out.name}.vectors"), names
        self._made_by = hashlib.sha256(made_by.encode()).hexdigest()[:16]
        self._dtype: np.dtype[np.floating] = np.dtype(np.float16 if names >= HALVED else np.float32)
        self._problem = self._find_problem()

    def encode(self, texts: Sequence[str], make: Callable[[], Floats2d]) -> Floats2d:
        """Find the vectors of texts, or make and keep them: (n_texts, dim)."""
        digest = hashlib.sha256()
        for text in texts:
            encoded = text.encode("utf-8", "surrogatepass")
            digest.update(len(encoded).to_bytes(8, "big") + encoded)
        shard = self.place / f"{self._made_by}-{digest.hexdigest()[:40]}-{len(texts)}.npy"
        vectors = None if self._problem else _read(shard, len(texts), self._dtype)
        if vectors is None:
            vectors = make().astype(self._dtype, copy=False)
            if len(texts) and not self._problem:
                self._keep(shard, vectors)
        return vectors.astype(np.float32, copy=False)

    def count(self) -> int:
        """Count the names whose vectors are kept."""
        return sum(int(match[1]) for match in self._shards() if match[0].startswith(self._made_by))

    def say_found(self) -> None:
        """Report that an earlier build continues, if one does."""
        if count := self.count():
            tell(Warnings.vectors_found.format(out=self.out, count=count, place=self.place))

    def say_kept(self) -> None:
        """Report the vectors kept of an interrupted build, and how to continue."""
        count = self.count()
        fields = {"out": self.out, "place": self.place, "names": self.names, "count": count}
        message = Warnings.vectors_kept.format(**fields)
        if self._problem:
            message = Warnings.vectors_not_kept.format(out=self.out, reason=self._problem)
        if self._problem or count:
            with suppress(Warning):  # raise the error that stopped the build
                tell(message)

    def remove(self) -> None:
        """Remove the shards after the build."""
        if not self._problem:
            for match in self._shards():
                (self.place / match[0]).unlink(missing_ok=True)
            for path in self.place.glob(".*.tmp"):  # of killed writers
                remove_leftovers(self.place / path.name[1:].rsplit(".", 2)[0])
        with suppress(OSError):
            self.place.rmdir()

    def _shards(self) -> list[re.Match[str]]:
        names = files_in(self.place) if self.place.is_dir() else []
        return [match for name in names if (match := _SHARD.fullmatch(name))]

    def _find_problem(self) -> str:
        """Give the reason why no vectors are kept; "" if they are."""
        try:
            there = files_in(self.place) if self.place.exists() else []
            shards = len(self._shards())
        except OSError as error:
            return str(error)
        # A killed writer may have left a part of a shard, in a directory of its own.
        others = [name for name in there if not name.startswith(".")]
        return f"{self.place} is not ours" if len(others) > shards else ""

    def _keep(self, shard: Path, vectors: NDArray[np.floating]) -> None:
        try:
            with replacing_file(shard, PRIVATE) as path, path.open("wb") as file:
                np.save(file, vectors, allow_pickle=False)
        except (MedlinkError, OSError) as error:  # the build itself may have enough room
            self._problem = str(error)


@contextmanager
def keeping(out: Path, made_by: str | None, names: int) -> Iterator[KeptVectors | None]:
    """Keep the vectors of a block until it ends well; if it fails, report what is kept.

    made_by (Optional[str]): the encoder's fingerprint, None without an encoder.
    RETURNS (Optional[KeptVectors]): None where encoding again is fast.
    """
    if made_by is None or names < WORTH_KEEPING:
        yield None
        return
    kept = KeptVectors(out, made_by, names)
    kept.say_found()
    try:
        yield kept
    except BaseException:
        kept.say_kept()
        raise
    kept.remove()


def _read(shard: Path, count: int, dtype: np.dtype[np.floating]) -> NDArray[np.floating] | None:
    """Read a shard; None where it is missing or not whole."""
    try:
        vectors: NDArray[np.floating] = np.load(shard, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    whole = vectors.ndim == 2 and len(vectors) == count and vectors.dtype == dtype
    return vectors if whole and bool(np.isfinite(vectors).all()) else None
