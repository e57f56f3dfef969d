"""Random vectors of length 1, and blocks of them."""

from collections.abc import Iterator

import numpy as np

from spacy_medlink.types import Floats2d

DIM = 16


def unit(count: int, seed: int = 0, dim: int = DIM) -> Floats2d:
    vectors = np.random.default_rng(seed).normal(size=(count, dim)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def blocks(vectors: Floats2d, size: int = 64) -> Iterator[Floats2d]:
    for start in range(0, len(vectors), size):
        yield vectors[start : start + size]
