"""What builds encode for an index."""

from collections.abc import Sequence

import numpy as np
import pytest

from spacy_medlink.assets import Assets, vectors
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.types import Floats2d

CHUNK = 8


def all_vectors(assets: Assets) -> Floats2d:
    return assets.dense.vectors(np.arange(assets.kb.n_names))


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every string that is encoded for an index, which comes before any search."""
    texts: list[str] = []
    original = vectors._encoded

    def note(encoder: BiEncoder, chunk: Sequence[str]) -> Floats2d:
        texts.extend(chunk)
        return original(encoder, chunk)

    monkeypatch.setattr(vectors, "_encoded", note)
    return texts


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small builds be divided, and keep their vectors."""
    monkeypatch.setattr(vectors, "_CHUNK", CHUNK)
    monkeypatch.setattr(vectors, "_CHUNK_OF_KNOWN", CHUNK)
    monkeypatch.setattr(vectors, "WORTH_KEEPING", 1)
