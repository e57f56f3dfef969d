"""Static encoders, which have no layers: a table of word pieces, whose vectors are averaged.

They run in NumPy, on the weights that `BiEncoder.save` wrote, mapped into memory: of a table of
50 MB, only the rows that texts need are ever read.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..types import Array, Floats2d
from ..util.held import view
from .tokens import read_json

_WORDS = "embeddings.word_embeddings.weight"
_POSITIONS, _SEGMENTS = (
    "embeddings.position_embeddings.weight",
    "embeddings.token_type_embeddings.weight",
)
_SCALE, _SHIFT = "embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias"


class StaticNetwork:
    """The embeddings of a BERT without layers, of which the weighted mean is taken.

    RAISES (OSError, ValueError, KeyError): for weights that cannot be read.
    """

    def __init__(self, directory: Path) -> None:
        weights = _mapped(directory)
        self._epsilon = float(read_json(directory, "config.json")["layer_norm_eps"])
        self._words, self._positions = weights[_WORDS], weights[_POSITIONS]
        self._segment, self._scale, self._shift = (
            weights[_SEGMENTS][0],
            weights[_SCALE],
            weights[_SHIFT],
        )

    def __call__(self, inputs: Mapping[str, Array]) -> Floats2d:
        """Compute the vectors of texts, as `Session` says: (n, dim), of length 1."""
        ids = inputs["ids"]
        hidden = self._words[ids] + self._positions[: ids.shape[1]] + self._segment
        hidden -= hidden.mean(axis=2, keepdims=True)
        variance = np.square(hidden).mean(axis=2, keepdims=True)
        hidden = hidden / np.sqrt(variance + self._epsilon) * self._scale + self._shift
        vectors = np.einsum("nld,nl->nd", hidden, inputs["weights"])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)


def _mapped(directory: Path) -> dict[str, NDArray[np.float32]]:
    """Map the weights of a file of safetensors: eight bytes with the length of the header come
    first, then the header in JSON, then the numbers.
    """
    content = view(directory / "model.safetensors")
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    weights = {}
    for name in (_WORDS, _POSITIONS, _SEGMENTS, _SCALE, _SHIFT):
        tensor = header[name]
        if tensor["dtype"] != "F32":
            raise ValueError(f"{name} is of type {tensor['dtype']}, not F32")
        start, end = tensor["data_offsets"]
        values = np.frombuffer(content, "<f4", (end - start) // 4, 8 + size + start)
        weights[name] = values.reshape(tensor["shape"])
    return weights
