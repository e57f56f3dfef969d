"""The encoder: the same string gives the same vector, whoever asks, with whom, and after saving."""

import json
import shutil

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import MedlinkError
from spacy_medlink.types import Encoder
from tests.children import in_threads, python_forks
from tests.limits import files_limited_to
from tests.tiny import write_tiny_encoder

# Sums in another order (other batches, other padding) differ in the last bits of bf16.
SAME = 0.02
TEXTS = [
    "fever", "heart attack", "Type 2 diabetes mellitus", "血圧", "😀", "x" * 300, "the " * 200,
    "Diabète", "PE", "-", "pulmonary embolism of the left lung", "fever",
]  # fmt: skip


@pytest.fixture(scope="module")
def encoder(tiny_encoder):
    return BiEncoder.load(tiny_encoder)


def writable(source, target):
    shutil.copytree(source, target)
    return target


def test_vectors_have_length_one(encoder):
    vectors = encoder.encode([*TEXTS, "", " ", "\n\t"])
    assert vectors.shape == (15, encoder.dim) == (15, 32)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert isinstance(encoder, Encoder)
    assert encoder.encode([]).shape == (0, 32)


def test_identical_strings_have_cosine_one(encoder):
    vectors = encoder.encode(TEXTS)
    np.testing.assert_array_equal(vectors, encoder.encode(TEXTS))
    np.testing.assert_array_equal(vectors[0], vectors[-1])
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(np.einsum("nd,nd->n", vectors, alone), 1, atol=1e-3)


@pytest.fixture(scope="module")
def want(encoder):
    return encoder.encode(TEXTS)


@given(order=st.permutations(range(len(TEXTS))), batch_pieces=st.sampled_from([1, 8, 40, 1024]))
@settings(max_examples=20)
def test_order_and_batches_do_not_matter(encoder, want, order, batch_pieces):
    found = encoder.encode([TEXTS[place] for place in order], batch_pieces)
    np.testing.assert_allclose(found, want[order], atol=SAME)


def test_different_strings_have_different_vectors(encoder):
    vectors = encoder.encode(list(set(TEXTS) - {"😀"}))  # like 血圧 one unknown word
    cosines = vectors @ vectors.T - 2 * np.eye(len(vectors))
    assert cosines.max() < 1 - 1e-4


def test_a_word_that_the_model_does_not_know_counts(encoder):
    known, unknown = encoder.encode(["fever", "fever ☃"])
    assert known @ unknown < 0.999


def test_threads_get_the_same_vectors(encoder):
    texts = [f"{text} {number}" for number in range(20) for text in TEXTS]
    want = encoder.encode(texts)
    for found in in_threads(lambda _: encoder.encode(texts), range(24)):
        np.testing.assert_array_equal(found, want)


def test_threads_of_one_call_get_the_same_vectors(encoder, monkeypatch):
    texts = [f"{text} {number}" for number in range(40) for text in TEXTS]
    monkeypatch.setattr(encoder, "_workers", lambda pieces: 1)
    want = encoder.encode(texts)
    for workers in (2, 5):
        monkeypatch.setattr(encoder, "_workers", lambda pieces, workers=workers: workers)
        np.testing.assert_allclose(encoder.encode(texts), want, atol=SAME)


def hidden_of(encoder, text):
    (ids,) = encoder.tokenize([text])
    with torch.no_grad():
        return encoder.module(input_ids=torch.tensor([ids])).last_hidden_state[0], ids


def unit(vector):
    return (vector / vector.norm()).numpy()


def test_mean_leaves_special_tokens_and_padding_out(encoder):
    hidden, ids = hidden_of(encoder, "heart attack")
    tokenizer = encoder.tokenizer
    assert ids[0] == tokenizer.cls_token_id
    assert ids[-1] == tokenizer.sep_token_id
    want = unit(hidden[1:-1].mean(dim=0))
    with torch.no_grad():
        found = encoder.forward(encoder.tokenize(["heart attack", "pulmonary embolism " * 9]))
    np.testing.assert_allclose(found[0].numpy(), want, atol=1e-5)
    np.testing.assert_allclose(encoder.encode(["heart attack"])[0], want, atol=SAME)


def test_a_string_without_pieces_keeps_its_special_tokens(encoder):
    hidden, ids = hidden_of(encoder, " ")
    assert len(ids) == 2
    np.testing.assert_allclose(encoder.encode([" "])[0], unit(hidden.mean(dim=0)), atol=SAME)
    np.testing.assert_array_equal(encoder.encode([""]), encoder.encode(["\n"]))


def test_cls_takes_the_first_piece(tiny_encoder, encoder):
    cls = BiEncoder.load(tiny_encoder, pooling="cls")
    hidden, _ = hidden_of(cls, "heart attack")
    np.testing.assert_allclose(cls.encode(["heart attack"])[0], unit(hidden[0]), atol=SAME)
    assert np.abs(cls.encode(TEXTS) - encoder.encode(TEXTS)).max() > 0.1


def test_the_pooler_reads_the_first_piece(tiny_encoder):
    encoder = BiEncoder.load(tiny_encoder, pooling="pooler")
    hidden, _ = hidden_of(encoder, "heart attack")
    dense = encoder.module.pooler.dense
    by_hand = torch.tanh(hidden[0] @ dense.weight.T + dense.bias).detach()
    np.testing.assert_allclose(encoder.encode(["heart attack"])[0], unit(by_hand), atol=SAME)


def test_a_model_without_a_pooler_has_no_such_vectors(tiny_encoder, tmp_path):
    bare = writable(tiny_encoder, tmp_path / "bare")
    weights = load_file(bare / "model.safetensors")
    kept = {name: weight for name, weight in weights.items() if "pooler" not in name}
    save_file(kept, bare / "model.safetensors", {"format": "pt"})
    with pytest.raises(MedlinkError, match=r"E302.*pooler.*'cls'"):
        BiEncoder.load(bare, pooling="pooler")


def test_long_strings_are_cut_and_keep_the_separator(tiny_encoder):
    encoder = BiEncoder.load(tiny_encoder, max_length=8)
    (ids,) = encoder.tokenize(["fever " * 100])
    assert len(ids) == 8
    assert ids[-1] == encoder.tokenizer.sep_token_id
    assert encoder.tokenize(["fever"])[0] == [ids[0], ids[1], ids[-1]]


def test_a_length_beyond_what_the_model_takes_is_lowered(tiny_encoder):
    encoder = BiEncoder.load(tiny_encoder, max_length=5000)
    assert encoder.max_length == 64
    assert np.isfinite(encoder.encode(["fever " * 1000])).all()


@pytest.mark.parametrize(("pooling", "length"), [("mean", 16), ("cls", 64), ("pooler", 64)])
def test_saving_keeps_everything(tmp_path, tiny_encoder, pooling, length):
    encoder = BiEncoder.load(tiny_encoder, pooling, length)
    encoder.save(tmp_path / "saved")
    loaded = BiEncoder.load(tmp_path / "saved")
    assert (loaded.pooling, loaded.max_length) == (pooling, length)
    assert loaded.fingerprint() == encoder.fingerprint()
    np.testing.assert_array_equal(loaded.encode(TEXTS), encoder.encode(TEXTS))
    files = {file.name for file in (tmp_path / "saved").iterdir()}
    assert "model.safetensors" in files
    assert not {file for file in files if file.endswith((".bin", ".pt", ".pkl"))}


def test_fingerprints_tell_encoders_apart(tmp_path, tiny_encoder, encoder):
    (tmp_path / "other").mkdir()
    others = [
        BiEncoder.load(write_tiny_encoder(tmp_path / "other", seed=1)),
        BiEncoder.load(tiny_encoder, pooling="cls"),
        BiEncoder.load(tiny_encoder, max_length=32),
    ]
    touched = BiEncoder.load(tiny_encoder)
    with torch.no_grad():
        next(touched.module.parameters())[0, 0] += 1e-3
    words = BiEncoder.load(tiny_encoder)
    words.tokenizer.add_tokens(["glioblastoma"])
    prints = {one.fingerprint() for one in (encoder, *others, touched, words)}
    assert len(prints) == 6
    assert BiEncoder.load(tiny_encoder).fingerprint() == encoder.fingerprint()


def test_vectors_follow_the_weights(tiny_encoder):
    encoder = BiEncoder.load(tiny_encoder)
    before = encoder.encode(TEXTS)
    optimizer = torch.optim.SGD(encoder.module.parameters(), lr=1.0)
    encoder.forward(encoder.tokenize(["fever", "heart attack"])).sum().backward()
    optimizer.step()
    after = encoder.encode(TEXTS)
    assert np.abs(after - before).max() > 2 * SAME
    with torch.no_grad():
        found = encoder.forward(encoder.tokenize(TEXTS)).numpy()
    np.testing.assert_allclose(after, found, atol=SAME)


def test_half_the_weights_give_the_same_vectors(tiny_encoder, encoder):
    halved = BiEncoder.load(tiny_encoder)
    halved.halve()
    np.testing.assert_array_equal(halved.encode(TEXTS), encoder.encode(TEXTS))
    halved.halve()
    np.testing.assert_array_equal(halved.encode(TEXTS), encoder.encode(TEXTS))


@pytest.mark.parametrize("source", ["/no/such/place", "./nowhere", "../no/where/at/all", "~/none"])
def test_no_such_directory(source):
    with pytest.raises(MedlinkError, match=rf"E205.*{source}"):
        BiEncoder.load(source)


@pytest.mark.parametrize(
    ("lacks", "says"), [("pooler", ""), ("encoder.layer.0.output", "E206.*weights lack encoder")]
)
def test_weights_that_a_file_lacks_are_not_random(tmp_path, tiny_encoder, lacks, says):
    directory = writable(tiny_encoder, tmp_path / "encoder")
    path = directory / "model.safetensors"
    weights = load_file(path)
    rest = {name: own for name, own in weights.items() if not name.startswith(lacks)}
    assert len(rest) < len(weights)
    save_file(rest, path, {"format": "pt"})
    if says:
        with pytest.raises(MedlinkError, match=says):
            BiEncoder.load(directory)
    else:
        first, second = BiEncoder.load(directory), BiEncoder.load(directory)
        assert first.fingerprint() == second.fingerprint()


def test_code_in_the_directory_is_not_run(tmp_path, tiny_encoder):
    directory = writable(tiny_encoder, tmp_path / "encoder")
    config = json.loads((directory / "config.json").read_text())
    config |= {"model_type": "evil", "auto_map": {"AutoConfig": "evil.C", "AutoModel": "evil.M"}}
    (directory / "config.json").write_text(json.dumps(config))
    (directory / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(MedlinkError, match="E206"):
        BiEncoder.load(directory)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("pooling", ["max", "CLS", " "])
def test_unknown_pooling(tiny_encoder, pooling):
    with pytest.raises(MedlinkError, match=r"E302.*'mean', 'cls'"):
        BiEncoder.load(tiny_encoder, pooling=pooling)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite(tmp_path, tiny_encoder, value):
    directory = writable(tiny_encoder, tmp_path / "encoder")
    weights = load_file(directory / "model.safetensors")
    encoder = BiEncoder.load(directory)
    (piece,) = encoder.tokenize(["-"])[0][1:-1]
    weights["embeddings.word_embeddings.weight"][piece, 0] = value
    save_file(weights, directory / "model.safetensors", {"format": "pt"})
    with pytest.raises(MedlinkError, match=r"E208.*gave 2 vectors.*number 1\)"):
        BiEncoder.load(directory).encode(["fever", "a - b", "heart attack", "-"])


ASK = """
from spacy_medlink.encoders.bi_encoder import BiEncoder
encoder = BiEncoder.load(sys.argv[1])
texts = [f"heart attack number {number} in the long run" for number in range(1000)]
want = encoder.encode(texts, 20_000)
def ask():
    return abs(encoder.encode(texts, 20_000) - want).max() <= 0.02
"""


def test_a_forked_child_can_encode_after_its_parent_has(tiny_encoder):
    python_forks(ASK, tiny_encoder)


def test_a_full_disk_is_an_error_of_the_system(tmp_path, encoder):
    with pytest.raises(OSError, match="File too large"), files_limited_to(20_000):
        encoder.save(tmp_path / "saved")
