"""Vectors beside an encoder: found by its fingerprint and by word pieces, and by nothing else."""

import numpy as np
import pytest

from spacy_medlink.assets import build_assets
from spacy_medlink.assets.build import _stored
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.stored import StoredVectors, store_vectors

TEXTS = ["measles", "gout", "heart failure"]


@pytest.fixture
def encoder(tiny_encoder):
    return BiEncoder.load(tiny_encoder)


@pytest.fixture
def stored(encoder, tmp_path):
    pieces = encoder.tokenize(TEXTS)
    store_vectors(tmp_path, encoder.fingerprint(), pieces, encoder.encode(TEXTS))
    return tmp_path


def test_what_was_stored_is_found(encoder, stored):
    found = StoredVectors.find(encoder, [stored / "elsewhere", stored])
    assert found is not None
    is_known, vectors = found.take(["gout", "anemia", "Heart Failure", "measles"])
    assert is_known.tolist() == [True, False, True, True]  # the tokenizer lower-cases
    np.testing.assert_array_equal(vectors, encoder.encode(TEXTS)[[1, 2, 0]])


def test_vectors_of_other_weights_are_not_found(encoder, stored):
    next(encoder.module.parameters()).data.add_(0.1)
    assert StoredVectors.find(encoder, [stored]) is None


def test_vectors_of_few_names_are_not_looked_up(encoder, tiny_kb, tmp_path, monkeypatch):
    """Nor any where several processes encode: they wait for each other when all is encoded."""
    encoder.save(tmp_path)
    texts = [*tiny_kb.iter_texts()]
    for count, processes, used in ((len(texts) // 3, 1, False), (len(texts), 1, True),
                                   (len(texts), 2, False)):  # fmt: skip
        some = texts[:count]
        store_vectors(tmp_path, encoder.fingerprint(), encoder.tokenize(some), encoder.encode(some))
        monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
        monkeypatch.setenv("WORLD_SIZE", str(processes))
        assert (_stored(encoder, [tmp_path], len(texts)) is not None) == used


def test_a_build_encodes_only_what_is_not_stored(
    encoder, tiny_kb, tiny_encoder, tmp_path, monkeypatch
):
    whole = build_assets(tmp_path / "whole", tiny_kb.path, tiny_encoder, calibrate=False)
    encoder.save(tmp_path / "encoder")
    texts = [*tiny_kb.iter_texts()]
    most = texts[: 2 * len(texts) // 3]
    store_vectors(
        tmp_path / "encoder", encoder.fingerprint(), encoder.tokenize(most), encoder.encode(most)
    )
    asked: list[str] = []
    encode = BiEncoder.encode

    def noted(self: BiEncoder, texts: list[str], *more: int) -> np.ndarray:
        asked.extend(texts)
        return encode(self, texts, *more)

    monkeypatch.setattr(BiEncoder, "encode", noted)
    made = build_assets(tmp_path / "made", tiny_kb.path, tmp_path / "encoder", calibrate=False)
    assert set(texts) - set(most) <= set(asked)
    # The build also looks up examples that are made of names; it encodes no name to store it.
    assert len([text for text in asked if text in most]) < len(most)
    rows = np.arange(len(texts))
    np.testing.assert_allclose(made.dense.vectors(rows), whole.dense.vectors(rows), atol=1e-5)
