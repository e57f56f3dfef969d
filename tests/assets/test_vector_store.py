"""Vectors beside an encoder: found by its fingerprint and by the text, and by nothing else."""

from pathlib import Path

import numpy as np
import pytest

from spacy_medlink.assets.vector_store import DIRECTORY, VectorStore, known_beside
from spacy_medlink.encoders.bi_encoder import BiEncoder

TEXTS = ["measles", "gout", "heart failure"]


@pytest.fixture
def encoder(tiny_encoder: Path) -> BiEncoder:
    return BiEncoder.load(tiny_encoder)


def store(encoder: BiEncoder, directory: Path, *parts: list[str]) -> Path:
    own = VectorStore(directory / DIRECTORY, encoder.fingerprint(), encoder.dim)
    for texts in parts:
        own.add(texts, encoder.encode(texts))
    return directory


@pytest.mark.parametrize("parts", [[TEXTS], [TEXTS[:1], TEXTS[1:]], [[one] for one in TEXTS]])
def test_what_was_stored_is_found(encoder, tmp_path, parts):
    store(encoder, tmp_path, *parts)
    (found,) = known_beside(encoder, [tmp_path / "elsewhere", tmp_path])
    is_known, vectors = found.take(["gout", "anemia", "heart failure", "measles", "Gout", "gout"])
    assert is_known.tolist() == [True, False, True, True, False, True]
    np.testing.assert_array_equal(vectors, encoder.encode(TEXTS)[[1, 2, 0, 1]])
    assert found.taken == 4


def test_vectors_of_other_weights_are_not_found(encoder, tmp_path):
    store(encoder, tmp_path, TEXTS)
    next(encoder.module.parameters()).data.add_(0.1)
    assert known_beside(encoder, [tmp_path]) == []


@pytest.mark.parametrize("cut", [0, 2, 100, -20, -1])
def test_of_a_damaged_file_nothing_is_known(encoder, tmp_path, cut):
    store(encoder, tmp_path, TEXTS[:1], TEXTS[1:])
    path = max((tmp_path / DIRECTORY).iterdir(), key=lambda file: file.stat().st_size)
    path.write_bytes(path.read_bytes()[:cut])
    (found,) = known_beside(encoder, [tmp_path])
    assert found.take(TEXTS)[0].tolist() == [True, False, False]
