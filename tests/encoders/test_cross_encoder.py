"""The cross-encoder: pairs cut so that both texts stay, scores that no batch changes, files."""

import json

import numpy as np
import pytest
import torch

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.cross_encoder import CrossEncoder, CrossSettings, batches
from spacy_medlink.encoders.pairs import Pair
from spacy_medlink.errors import MedlinkError
from spacy_medlink.types import Mention
from tests.complete_assets import random_cross_encoder

MENTION = Mention("PE", "", "", "clot in the lung,", "was seen")
PAIRS = [
    Pair(MENTION, "PE ; Pulmonary embolism ; T047"),
    Pair(MENTION, "PE ; Pericardial effusion ; T033"),
    Pair(Mention("fever"), "Fever ; T184"),
    Pair(Mention("", "", "", "left", "right"), ""),
    Pair(Mention("x " * 5000, "a long form"), "Asthma " * 400),
] * 3


@pytest.fixture
def encoder(tiny_encoder):
    return random_cross_encoder(tiny_encoder, kb="a kb")


def test_an_untrained_one_prefers_nothing(tiny_encoder):
    made = CrossEncoder.of(BiEncoder.load(tiny_encoder), CrossSettings())
    np.testing.assert_array_equal(made.score(PAIRS), np.zeros(len(PAIRS)))


def test_it_begins_with_the_weights_of_the_bi_encoder_and_leaves_them(tiny_encoder):
    start = BiEncoder.load(tiny_encoder)
    before = start.fingerprint()
    made = CrossEncoder.of(start, CrossSettings())
    assert made.base.fingerprint() == before == made.settings.encoder
    torch.nn.init.zeros_(next(made.module.parameters()))
    assert start.fingerprint() == before


@pytest.mark.parametrize("batch_pieces", [1, 64, 300, 100_000])
def test_no_batch_changes_a_score(encoder, batch_pieces):
    want = np.concatenate([encoder.score([pair]) for pair in PAIRS])
    found = encoder.score(PAIRS, batch_pieces)
    assert found.dtype == np.float32 and found.shape == (len(PAIRS),)
    assert found.std() > 0.01
    np.testing.assert_allclose(found, want, atol=1e-4)


def test_context_is_read(encoder):
    other = MENTION._replace(left="water around the heart,")
    a, b = encoder.score([Pair(MENTION, "Fever"), Pair(other, "Fever")])
    assert abs(a - b) > 1e-3


def test_pairs_keep_mention_and_candidate(encoder):
    for pair, pieces in zip(PAIRS, encoder.tokenize(PAIRS), strict=True):
        assert len(pieces.ids) <= encoder.settings.max_length <= 64
        text = encoder.base.tokenizer.decode(pieces.ids[: pieces.second])
        if pair.mention.text and len(pair.mention.text) < 100:
            assert pair.mention.text.lower() in text
        if pair.candidate:
            assert len(pieces.ids) - pieces.second > 1
    long = encoder.tokenize([PAIRS[4]])[0]
    assert len(long.ids) - long.second > 20 and long.second > 20


def test_nothing_to_score(encoder):
    assert encoder.score([]).shape == (0,)


def test_batches_hold_one_length_each_and_every_pair_once():
    lengths = [8, 16, 8, 16, 24, 8]
    assert batches(lengths, 16) == [[4], [1], [3], [0, 2], [5]]


def test_weights_that_are_not_finite(encoder):
    torch.nn.init.constant_(encoder.module.head.weight, float("nan"))
    with pytest.raises(MedlinkError, match="E208"):
        encoder.score(PAIRS[:2])


def test_round_trip(encoder, tmp_path):
    encoder.save(tmp_path / "saved")
    loaded = CrossEncoder.load(tmp_path / "saved")
    assert loaded.fingerprint() == encoder.fingerprint()
    assert loaded.settings == encoder.settings
    np.testing.assert_array_equal(loaded.score(PAIRS), encoder.score(PAIRS))
    files = {file.suffix for file in (tmp_path / "saved").iterdir()}
    assert files <= {".json", ".safetensors", ".txt"}


def test_settings_and_head_are_part_of_the_fingerprint(encoder):
    before = encoder.fingerprint()
    assert encoder.using(weight=0.1).fingerprint() != before
    with torch.no_grad():
        encoder.module.head.bias += 1
    assert encoder.fingerprint() != before


def test_the_first_layers_only(tiny_encoder, tmp_path):
    start = BiEncoder.load(tiny_encoder)
    layers = start.module.config.num_hidden_layers
    made = CrossEncoder.of(start, CrossSettings(), layers=1)
    assert len(made.base.module.encoder.layer) == 1
    assert start.module.config.num_hidden_layers == len(start.module.encoder.layer) == layers
    made.save(tmp_path / "saved")
    assert CrossEncoder.load(tmp_path / "saved").fingerprint() == made.fingerprint()
    for count in (0, layers + 1, -1):
        with pytest.raises(MedlinkError, match=r"E302.*layers"):
            CrossEncoder.of(start, CrossSettings(), layers=count)


def test_settings_that_the_model_cannot_run_with(encoder, tmp_path):
    encoder.save(tmp_path / "saved")
    path = tmp_path / "saved" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "layer_norm_eps": "x"}))
    with pytest.raises(MedlinkError, match=r"E222|E206"):
        CrossEncoder.load(tmp_path / "saved").score(PAIRS)


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA out of memory"), MemoryError()])
def test_no_memory_is_no_fault_of_the_model(encoder, monkeypatch, error):
    def full(*_):
        raise error

    monkeypatch.setattr(encoder, "_run", full)
    with pytest.raises(type(error)):
        encoder.score(PAIRS)
