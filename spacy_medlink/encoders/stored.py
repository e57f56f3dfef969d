"""StoredVectors: vectors made in training and saved beside the encoder, to be used again."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import xxhash
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from ..errors import Errors
from ..types import Floats2d
from .bi_encoder import BiEncoder

DIRECTORY = "vectors"
_KEY = 16  # bytes


class StoredVectors:
    """Finds vectors by the word pieces of a text.

    They are in the directory of a trained encoder, one file for each encoder that made vectors. The
    file is named after the encoder's fingerprint, so vectors of other weights are never used.

    encoder (BiEncoder): the encoder that made the vectors. path (Path): path of the file.
    RAISES (MedlinkError): E206 when it cannot be read.
    """

    def __init__(self, encoder: BiEncoder, path: Path) -> None:
        self._encoder = encoder
        try:
            arrays = load_file(path)
            keys, self._vectors = arrays["keys"], arrays["vectors"]
        except Exception as error:  # safetensors has a class of its own for each fault
            raise Errors.encoder_damaged(path=path, reason=error) from error
        if self._vectors.shape != (len(keys), encoder.dim) or keys.shape[1:] != (_KEY,):
            raise Errors.encoder_damaged(path=path, reason="it has vectors of another shape")
        self._rows = {key.tobytes(): row for row, key in enumerate(keys)}

    @classmethod
    def find(cls, encoder: BiEncoder, directories: Iterable[Path]) -> "StoredVectors | None":
        """Open what an encoder has made, from the first directory that has it; else None."""
        name = _file_of(encoder.fingerprint())
        paths = (directory / DIRECTORY / name for directory in directories)
        path = next((path for path in paths if path.is_file()), None)
        return None if path is None else cls(encoder, path)

    def __len__(self) -> int:
        return len(self._vectors)

    def take(self, texts: Sequence[str]) -> tuple[NDArray[np.bool_], Floats2d]:
        """Get the vectors of those texts that are known.

        RETURNS (Tuple[NDArray, Floats2d]): which are known, (n,), and the vectors of these,
            (n_known, dim).
        """
        return self.of_pieces(self._encoder.tokenize(texts))

    def of_pieces(self, pieces: Sequence[Sequence[int]]) -> tuple[NDArray[np.bool_], Floats2d]:
        """Get the vectors of texts that are cut into word pieces, as `take` does."""
        rows = np.array([self._rows.get(_key(row), -1) for row in pieces], dtype=np.int64)
        is_known = rows >= 0
        return is_known, self._vectors[rows[is_known]]


def store_vectors(
    directory: Path, fingerprint: str, pieces: Iterable[Sequence[int]], vectors: Floats2d
) -> None:
    """Write vectors into the directory of an encoder.

    fingerprint (str): of the encoder that made them. pieces: word pieces of each name, (n,).
    vectors (Floats2d): (n, dim).
    """
    keys = np.frombuffer(b"".join(map(_key, pieces)), dtype=np.uint8).reshape(-1, _KEY)
    target = directory / DIRECTORY
    target.mkdir(exist_ok=True)
    save_file({"keys": keys, "vectors": vectors}, target / _file_of(fingerprint))


def _key(pieces: Sequence[int]) -> bytes:
    return xxhash.xxh3_128_digest(np.asarray(pieces, dtype=np.int32).tobytes())


def _file_of(fingerprint: str) -> str:
    return f"{fingerprint}.safetensors"
