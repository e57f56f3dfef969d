"""What is opened to encode only is the encoder that it is opened from."""

import json

import numpy as np
import pytest

from spacy_medlink.assets import Assets
from spacy_medlink.assets.manifest import ENCODER
from spacy_medlink.encoders.adapters import add_adapters
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.opening import open_to_encode
from spacy_medlink.errors import MedlinkError

TEXTS = ["fever", "heart attack", "Diabète", "[MASK] fever [SEP]", "血圧 😀", "x" * 300, "", "PE"]
SAME = 0.02  # as in test_bi_encoder


def distilled(tiny_encoder, place):
    """A model of another kind than Bert."""
    from transformers import AutoTokenizer, DistilBertConfig, DistilBertModel

    config = DistilBertConfig(vocab_size=500, dim=32, n_layers=1, n_heads=2, hidden_dim=64)
    DistilBertModel(config).save_pretrained(place)
    AutoTokenizer.from_pretrained(tiny_encoder).save_pretrained(place)
    return BiEncoder.load(place)


def adapted(tiny_encoder, place):
    encoder = BiEncoder.load(tiny_encoder)
    add_adapters(encoder.module, 4)
    encoder.module.eval()
    return encoder


@pytest.mark.parametrize(
    "make",
    [
        lambda source, _: BiEncoder.load(source, "mean", 64),
        lambda source, _: BiEncoder.load(source, "cls", 8),
        lambda source, _: BiEncoder.load(source, "pooler"),
        distilled,
        adapted,
    ],
)
def test_it_is_the_same_encoder(tiny_encoder, tmp_path, make):
    whole = make(tiny_encoder, tmp_path / "source")
    whole.save(tmp_path / "saved")
    encoder, fingerprint = open_to_encode(tmp_path / "saved")
    assert fingerprint == whole.fingerprint()
    assert (encoder.pooling, encoder.max_length) == (whole.pooling, whole.max_length)
    assert encoder.dim == 32 and encoder.special.tolist() == whole.special.tolist()
    assert encoder.tokenize(TEXTS) == whole.tokenize(TEXTS)
    np.testing.assert_allclose(encoder.encode(TEXTS), whole.encode(TEXTS), atol=SAME)


def test_assets_of_another_encoder(tiny_assets, tmp_path):
    tiny_assets.copy_to(tmp_path / "assets")
    settings = tmp_path / "assets" / ENCODER / "medlink_encoder.json"
    values = json.loads(settings.read_text())
    settings.unlink()  # the files are hard links
    settings.write_text(json.dumps({**values, "max_length": 60}, indent=2) + "\n")
    with pytest.raises(MedlinkError, match=r"E204.*another encoder"):
        _ = Assets(tmp_path / "assets").encoder
