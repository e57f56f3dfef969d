"""The encoder as a thinc model: made from a config, trained, saved without pickle, copied."""

import copy
import pickle

import numpy as np
import pytest
import spacy
import srsly
import torch
from safetensors.numpy import load
from thinc.api import Adam, Config, Model

from spacy_medlink.encoders.architectures import encoder_of, transformer_bi_encoder
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import MedlinkError

TEXTS = ["fever", "heart attack", "asthma", "Type 2 diabetes"]
SAME = 0.02  # as in test_bi_encoder


@pytest.fixture
def model(tiny_encoder):
    made = transformer_bi_encoder(str(tiny_encoder))
    made.initialize()
    return made


def train(model, steps=10):
    """Teach every text the vector of the next one. RETURNS: the loss at each step."""
    target = np.roll(model.predict(TEXTS), 1, axis=0)
    optimizer, losses = Adam(0.01), []
    for _ in range(steps):
        vectors, backprop = model.begin_update(TEXTS)
        losses.append(float(((vectors - target) ** 2).sum()))
        backprop(vectors - target)
        model.finish_update(optimizer)
    return losses


def test_a_config_makes_it(tiny_encoder):
    config = Config().from_str(
        f"""
        [encoder]
        @architectures = "spacy-medlink.TransformerBiEncoder.v1"
        name = "{tiny_encoder}"
        pooling = "cls"
        """
    )
    model = spacy.registry.resolve(config)["encoder"]
    assert isinstance(model, Model)
    model.initialize()
    assert model.get_dim("nO") == 32
    want = BiEncoder.load(tiny_encoder, "cls").encode(TEXTS)
    np.testing.assert_array_equal(model.predict(TEXTS), want)


def test_nothing_is_loaded_before_it_is_needed(tmp_path):
    model = transformer_bi_encoder(str(tmp_path / "missing"))
    assert model.to_bytes()
    with pytest.raises(MedlinkError, match="E205"):
        model.initialize()
    with pytest.raises(MedlinkError, match="E205"):
        model.predict(TEXTS)
    with pytest.raises(MedlinkError, match="E302"):
        transformer_bi_encoder("some", pooling="max")


def test_predict_is_encode(model, tiny_encoder):
    np.testing.assert_array_equal(model.predict(TEXTS), BiEncoder.load(tiny_encoder).encode(TEXTS))
    assert model.predict([]).shape == (0, 32)


def test_training_lowers_the_loss_and_changes_what_is_predicted(model):
    before = model.predict(TEXTS)
    weights = {name: value.clone() for name, value in encoder_of(model).module.named_parameters()}
    losses = train(model)
    assert losses[-1] < 0.2 * losses[0]
    changed = [
        name
        for name, value in encoder_of(model).module.named_parameters()
        if not torch.equal(value, weights[name])
    ]
    assert "embeddings.word_embeddings.weight" in changed
    assert len(changed) > 10
    after = model.predict(TEXTS)
    assert np.abs(after - np.roll(before, 1, axis=0)).max() < np.abs(after - before).max()
    vectors, _ = model.begin_update(TEXTS)
    np.testing.assert_allclose(after, vectors, atol=SAME)
    assert not encoder_of(model).module.training, "dropout would be left on"


def test_the_gradient_is_that_of_the_output(model):
    encoder = encoder_of(model)
    vectors, backprop = model.begin_update(TEXTS)
    gradient = np.random.default_rng(0).normal(size=vectors.shape).astype(np.float32)
    assert backprop(gradient) == []
    found = encoder.module.embeddings.word_embeddings.weight.grad.clone()
    encoder.module.zero_grad()
    (encoder.forward(encoder.tokenize(TEXTS)) * torch.from_numpy(gradient)).sum().backward()
    torch.testing.assert_close(found, encoder.module.embeddings.word_embeddings.weight.grad)


def test_an_update_without_texts_changes_nothing(model):
    before = model.predict(TEXTS)
    vectors, backprop = model.begin_update([])
    assert vectors.shape == (0, 32)
    assert backprop(vectors) == []
    model.finish_update(Adam(0.01))
    np.testing.assert_array_equal(model.predict(TEXTS), before)


def forbid_pickle(monkeypatch):
    def forbidden(*_, **__):
        raise AssertionError("a pickle is read or written")

    for module, name in [
        (pickle, "loads"), (pickle, "load"), (pickle, "dumps"), (pickle, "dump"),
        (pickle, "Unpickler"), (pickle, "Pickler"), (torch, "load"), (torch, "save"),
    ]:  # fmt: skip
        monkeypatch.setattr(module, name, forbidden)


@pytest.mark.parametrize("way", ["bytes", "disk"])
def test_saving_keeps_trained_weights_without_pickle(model, way, tmp_path, monkeypatch):
    train(model, steps=2)
    want = model.predict(TEXTS)
    with monkeypatch.context() as context:
        forbid_pickle(context)
        other = transformer_bi_encoder("/no/such/place", pooling="mean")
        if way == "bytes":
            other.from_bytes(model.to_bytes())
        else:
            model.to_disk(tmp_path / "model")
            other.from_disk(tmp_path / "model")
    np.testing.assert_array_equal(other.predict(TEXTS), want)
    assert encoder_of(other).fingerprint() == encoder_of(model).fingerprint()
    assert other.get_dim("nO") == 32


def test_bytes_are_the_files_of_a_model_directory(model):
    saved = srsly.msgpack_loads(model.to_bytes())
    ((shim,),) = saved["shims"]
    files = srsly.msgpack_loads(shim)
    assert {"config.json", "tokenizer.json", "model.safetensors"} <= files.keys()
    weights = load(files["model.safetensors"])
    state = encoder_of(model).module.state_dict()
    assert weights.keys() == state.keys()
    np.testing.assert_array_equal(
        weights["embeddings.word_embeddings.weight"],
        state["embeddings.word_embeddings.weight"].numpy(),
    )
    for name, content in files.items():
        assert content[:2] not in (b"\x80\x04", b"\x80\x02", b"PK"), f"{name} is a pickle"


def test_foreign_bytes_cannot_write_elsewhere(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shim = model.shims[0]
    files = srsly.msgpack_loads(shim.to_bytes())
    (tmp_path / "inner").mkdir()
    files |= {"../../escaped": b"x", f"{tmp_path}/absolute": b"x"}
    shim.copy().from_bytes(srsly.msgpack_dumps(files))
    assert not list(tmp_path.rglob("escaped")) + list(tmp_path.rglob("absolute"))


COPIES = {
    "copy": lambda model: model.copy(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
}


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_copies_are_equal_and_independent(model, make):
    want = model.predict(TEXTS)
    other = make(model)
    np.testing.assert_array_equal(other.predict(TEXTS), want)
    train(other, steps=2)
    np.testing.assert_array_equal(model.predict(TEXTS), want)
    assert np.abs(other.predict(TEXTS) - want).max() > SAME


def test_what_is_not_loaded_can_be_copied_too(tiny_encoder):
    for make in COPIES.values():
        other = make(transformer_bi_encoder(str(tiny_encoder)))
        assert other.predict(TEXTS).shape == (4, 32)
