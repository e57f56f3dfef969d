"""Weights of the tiers that are stated, and the weight of spelling that an encoder has learned."""

import json

import pytest

from spacy_medlink.assets import build_assets
from spacy_medlink.encoders.bi_encoder import SETTINGS_FILE, BiEncoder
from spacy_medlink.errors import MedlinkError


def test_a_learned_weight_does_not_turn_the_ngram_tier_off(tmp_path, tiny_kb, tiny_encoder):
    encoder = BiEncoder.load(tiny_encoder)
    assert encoder.sparse_weight is None
    encoder.sparse_weight = 5e-5
    encoder.save(tmp_path / "encoder")
    assert BiEncoder.load(tmp_path / "encoder").sparse_weight == 5e-5
    assets = build_assets(tmp_path / "assets", tiny_kb.path, tmp_path / "encoder")
    assert assets.weights["ngram"] == pytest.approx(0.3 * assets.weights["dense"])


def test_stated_weights_are_not_chosen_anew(tmp_path, tiny_kb, tiny_encoder):
    stated = {"exact": 0.1, "ngram": 0.4, "dense": 0.5}
    assets = build_assets(tmp_path / "assets", tiny_kb.path, tiny_encoder, weights=stated)
    assert assets.weights == pytest.approx(stated)
    assert assets.ranker is None, "the order is the stated one"


def test_a_weight_that_is_none(tmp_path, tiny_encoder):
    BiEncoder.load(tiny_encoder).save(tmp_path)
    file = tmp_path / SETTINGS_FILE
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), "sparse_weight": "x"}))
    with pytest.raises(MedlinkError, match=r"E206.*sparse_weight"):
        BiEncoder.load(tmp_path)
