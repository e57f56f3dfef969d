"""Vectors of concepts for spaCy's entity_linker: from a dense index, or random projections."""

from typing import TYPE_CHECKING, Protocol

import numpy as np
import xxhash

from ...text.normalisation import key
from ...types import Floats1d

if TYPE_CHECKING:  # faiss is loaded when an index is
    from ...retrieval.dense import DenseIndex

_DIGEST = 16  # bytes of a 128-bit hash


class EntityVectors(Protocol):
    """The source of concept vectors."""

    @property
    def width(self) -> int:
        """Number of dimensions."""

    def of(self, id: str, name: str, name_row: int) -> Floats1d:
        """Make the vector of a concept: (width,), length 1.

        name (str), name_row (int): its preferred name.
        """


class IndexVectors:
    """The vectors of preferred names in a dense index."""

    def __init__(self, index: "DenseIndex") -> None:
        self._index = index

    @property
    def width(self) -> int:
        """Number of dimensions."""
        return self._index.dim

    def of(self, id: str, name: str, name_row: int) -> Floats1d:
        """Read a vector: (width,)."""
        vector: Floats1d = self._index.vectors(np.array([name_row]))[0]
        return vector


class NameProjections:
    """Sums of random directions, one for each word of the preferred name and one for the id.

    A random projection keeps angles: concepts whose names share words have similar vectors, all
    others nearly orthogonal ones. So a linker can learn them as targets. Vectors of zeros have no
    direction: a linker would learn nothing from them, and divide by zero.

    width (int): number of dimensions.
    """

    def __init__(self, width: int) -> None:
        self.width = width

    def of(self, id: str, name: str, name_row: int) -> Floats1d:
        """Make the vector of a concept: (width,), length 1, the same on every machine."""
        total = sum(self._direction(word) for word in (f"\0{id}", *key(name).split()))
        vector: Floats1d = np.asarray(total, dtype=np.float32)
        vector /= np.linalg.norm(vector)
        return vector

    def _direction(self, word: str) -> Floats1d:
        data = word.encode("utf-8", "surrogatepass")
        rounds = range(-(-self.width // _DIGEST))
        digest = b"".join(xxhash.xxh3_128_digest(data, seed=seed) for seed in rounds)
        # Signed bytes plus a half, so that no direction is all zeros.
        return np.frombuffer(digest, dtype=np.int8)[: self.width].astype(np.float32) + 0.5
