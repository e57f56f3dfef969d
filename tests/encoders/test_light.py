"""What is opened to encode only is the encoder that it is opened from, without `transformers`."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from spacy_medlink.assets import Assets
from spacy_medlink.assets.manifest import ENCODER
from spacy_medlink.encoders import light
from spacy_medlink.encoders.adapters import add_adapters
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.light import open_to_encode
from spacy_medlink.errors import MedlinkError
from spacy_medlink.util.devices import CPU

TEXTS = ["fever", "heart attack", "Diabète", "[MASK] fever [SEP]", "血圧 😀", "x" * 300, "", "PE"]
SAME = 0.02  # as in test_bi_encoder


@pytest.fixture
def saved(tiny_encoder, tmp_path):
    """A directory that `BiEncoder.save` wrote."""
    BiEncoder.load(tiny_encoder).save(tmp_path / "saved")
    return tmp_path / "saved"


@pytest.mark.parametrize(("pooling", "length"), [("mean", 64), ("cls", 8)])
def test_it_is_the_same_encoder(tiny_encoder, tmp_path, pooling, length):
    whole = BiEncoder.load(tiny_encoder, pooling, length)
    whole.save(tmp_path / "saved")
    found = light._open_light(tmp_path / "saved", CPU)
    assert found is not None
    encoder, fingerprint = found
    assert fingerprint == whole.fingerprint()
    assert (encoder.pooling, encoder.max_length, encoder.dim) == (pooling, length, 32)
    assert encoder.special.tolist() == whole.special.tolist()
    assert encoder.tokenize(TEXTS) == whole.tokenize(TEXTS)
    np.testing.assert_allclose(encoder.encode(TEXTS), whole.encode(TEXTS), atol=SAME)


def test_an_encoder_with_a_pooler_is_opened_as_a_whole(tiny_encoder, tmp_path):
    whole = BiEncoder.load(tiny_encoder, "pooler")
    whole.save(tmp_path / "saved")
    encoder, fingerprint = light.open_to_encode(tmp_path / "saved", CPU)
    assert (encoder.pooling, fingerprint) == ("pooler", whole.fingerprint())
    np.testing.assert_allclose(encoder.encode(TEXTS), whole.encode(TEXTS), atol=SAME)


def test_a_processor_without_bf16(saved, monkeypatch):
    """The weights are then used where the file is mapped, in full precision."""
    whole = BiEncoder.load(saved)
    monkeypatch.setattr(light, "has_native_bf16", lambda device: False)
    monkeypatch.setattr("spacy_medlink.encoders.bi_encoder.has_native_bf16", lambda device: False)
    encoder, _ = open_to_encode(saved)
    assert {one.dtype for one in encoder.module.parameters()} == {torch.float32}
    np.testing.assert_allclose(encoder.encode(TEXTS), whole.encode(TEXTS), atol=1e-5)


def test_adapters_are_loaded_with_the_whole(saved, tmp_path):
    whole = BiEncoder.load(saved)
    add_adapters(whole.module, 4)
    whole.module.eval()
    whole.save(tmp_path / "adapted")
    encoder, fingerprint = open_to_encode(tmp_path / "adapted")
    assert fingerprint == whole.fingerprint()
    np.testing.assert_allclose(encoder.encode(TEXTS), whole.encode(TEXTS), atol=SAME)


def test_models_that_are_not_bert(saved, tmp_path):
    from transformers import AutoTokenizer, DistilBertConfig, DistilBertModel

    config = DistilBertConfig(vocab_size=500, dim=32, n_layers=1, n_heads=2, hidden_dim=64)
    DistilBertModel(config).save_pretrained(tmp_path / "other")
    AutoTokenizer.from_pretrained(saved).save_pretrained(tmp_path / "other")
    whole = BiEncoder.load(tmp_path / "other")
    whole.save(tmp_path / "other_saved")
    assert light._open_light(tmp_path / "other_saved", CPU) is None
    encoder, fingerprint = open_to_encode(tmp_path / "other_saved")
    assert fingerprint == whole.fingerprint()
    np.testing.assert_allclose(encoder.encode(TEXTS), whole.encode(TEXTS), atol=SAME)


def test_assets_of_another_encoder(tiny_assets, tmp_path):
    tiny_assets.copy_to(tmp_path / "assets")
    settings = tmp_path / "assets" / ENCODER / "medlink_encoder.json"
    values = json.loads(settings.read_text())
    settings.unlink()  # the files are hard links
    settings.write_text(json.dumps({**values, "max_length": 60}, indent=2) + "\n")
    with pytest.raises(MedlinkError, match=r"E204.*another encoder"):
        _ = Assets(tmp_path / "assets").encoder


LINK = """
import sys, warnings
import spacy
nlp = spacy.blank("en")
before = set(sys.modules)
nlp.add_pipe("medical_linker", config={"assets": sys.argv[1]})
(link,) = nlp.get_pipe("medical_linker").link_texts(["hart attack"])
assert "dense" in link.candidates[0].scores, link
print(sorted({name.split(".")[0] for name in set(sys.modules) - before}))
assert not {"torch._dynamo", "scipy.optimize", "scipy.stats"} & (set(sys.modules) - before)
"""


def test_linking_imports_neither_transformers_nor_sklearn(tiny_assets):
    command = [sys.executable, "-c", LINK, str(tiny_assets.path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert {"faiss", "tokenizers", "safetensors"} & set(eval(done.stdout))
    assert not {"transformers", "sklearn", "pandas", "sympy"} & set(eval(done.stdout))
