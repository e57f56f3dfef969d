"""An encoder without layers links without torch, from the weights as they were saved."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from spacy_medlink.assets import Assets, build_assets
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.runtime import RuntimeEncoder
from spacy_medlink.encoders.static import StaticNetwork
from spacy_medlink.types import Mention
from spacy_medlink.util.held import Held
from tests.children import python
from tests.mutants import damages, refused

TEXTS = ["fever", "heart attack", "Diabète", "[MASK] fever [SEP]", "血圧 😀", "x" * 300, "", "PE"]


@pytest.fixture
def static(tmp_path, tiny_encoder) -> Path:
    """An encoder without layers, whose other weights are all random."""
    encoder = BiEncoder.load(tiny_encoder)
    encoder.module.encoder.layer = encoder.module.encoder.layer[:0]
    encoder.module.config.num_hidden_layers = 0
    generator = torch.Generator().manual_seed(0)
    for name, weight in encoder.module.named_parameters():
        if "embeddings" in name:
            weight.data.copy_(torch.randn(weight.shape, generator=generator))
    encoder.save(tmp_path / "static")
    return tmp_path / "static"


@pytest.mark.parametrize("pooling", ["mean", "mean_all", "cls"])
def test_it_gives_the_vectors_of_torch(static, pooling):
    settings = static / "medlink_encoder.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "pooling": pooling}))
    by_torch = BiEncoder.load(static)
    expected = by_torch.run_batches(by_torch.module, by_torch.tokenize(TEXTS), 512)
    encoder = RuntimeEncoder(None, Held(static))
    np.testing.assert_allclose(encoder.encode(TEXTS), expected, atol=1e-5)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(alone, expected, atol=1e-5)
    assert encoder.encode([]).shape == (0, encoder.dim)


def test_assets_with_it_export_nothing_and_link_as_torch_does(tmp_path, tiny_kb, static):
    assets = build_assets(tmp_path / "assets", tiny_kb.path, static, runtime="onnx")
    facts = assets.manifest["encoder"]
    assert facts["static"] and "runtime" not in facts
    assert not any(name.startswith("runtime/") for name in assets.files)
    assert isinstance(assets.encoder, RuntimeEncoder)
    mentions = [Mention(text) for text in [*TEXTS, *tiny_kb.iter_texts()]]
    linker = assets.engine(exact_first=False)
    by_torch = linker.with_parts(encoder=BiEncoder.load(static))
    for ours, theirs in zip(linker.decide(mentions), by_torch.decide(mentions), strict=True):
        best, expected = ([one.score for one in ranked.ranking[:1]] for ranked in (ours, theirs))
        assert best == pytest.approx(expected, abs=0.003), "torch computes in 16 bits"
    again = build_assets(tmp_path / "next", tiny_kb.path, update=assets.path)
    assert isinstance(again.encoder, RuntimeEncoder)


def test_no_torch_is_imported(tmp_path, tiny_kb, static):
    assets = build_assets(tmp_path / "assets", tiny_kb.path, static)
    code = """
import sys
sys.modules["torch"] = sys.modules["onnxruntime"] = sys.modules["transformers"] = None
from spacy_medlink.assets import Assets
from spacy_medlink.types import Mention
(decision,) = Assets(sys.argv[1]).engine().decide([Mention("hart atack")])
print(decision.ranking[0].scores["dense"])
"""
    assert -1 <= float(python("-c", code, assets.path).stdout) <= 1


@damages(("model.safetensors tokenizer.json", ("a byte of its end",)))
def test_damage_is_met_before_it_links(tmp_path, tiny_kb, static, file, how):
    path = build_assets(tmp_path / "assets", tiny_kb.path, static).path
    other = r"E202.*not the one of the build"
    refused(path / "encoder" / file, how, lambda: Assets(path).encoder, match=other)


@damages(("model.safetensors", (b"", b"\xff" * 8, (2).to_bytes(8, "little") + b"{}")))
def test_what_is_no_weights(static, file, how):
    refused(static / file, how, RuntimeEncoder, None, Held(static), match="E206")


def test_weights_of_another_type(static):
    path = static / "model.safetensors"
    path.write_bytes(path.read_bytes().replace(b'"F32"', b'"F16"'))
    with pytest.raises(ValueError, match="F16"):
        StaticNetwork(static)
