"""Devices: one module decides where tensors are made and moved."""

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.encoders.bi_encoder import BiEncoder, fitting, pad
from spacy_medlink.encoders.cross_encoder import CrossEncoder, CrossSettings
from spacy_medlink.encoders.opening import open_to_encode
from spacy_medlink.encoders.pairs import Pair
from spacy_medlink.encoders.tokens import batches_of
from spacy_medlink.errors import MedlinkError
from spacy_medlink.types import Mention
from spacy_medlink.util import devices

ROOT = Path(__file__).parents[2]
TEXTS = ["high fever", "fever", "infarction of the heart muscle", "", "diabetes mellitus type 2"]
# The meta device computes shapes alone. A tensor that was left on the processor raises an error
# there, as it would on a GPU.
META = torch.device("meta")


def _modules() -> Iterator[Path]:
    for room in ("spacy_medlink", "training"):
        yield from sorted((ROOT / room).rglob("*.py"))


def _uses_torch(tree: ast.Module) -> bool:
    return any(
        (isinstance(node, ast.Import) and any(name.name == "torch" for name in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "torch")
        for node in ast.walk(tree)
    )


def _misplaced(tree: ast.Module) -> Iterator[int]:
    """List lines that move a tensor, or make one elsewhere than where another tensor is."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr in ("to", "cuda", "pin_memory"):
            yield node.lineno
        on_torch = isinstance(node.func.value, ast.Name) and node.func.value.id == "torch"
        for keyword in node.keywords if on_torch else ():
            beside = isinstance(keyword.value, ast.Attribute) and keyword.value.attr == "device"
            if keyword.arg == "device" and not beside:
                yield node.lineno


def test_no_other_module_moves_tensors_or_chooses_their_device():
    own = ROOT / "spacy_medlink" / "util" / "devices.py"
    found = []
    for path in _modules():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if path != own and _uses_torch(tree):
            found += [f"{path.relative_to(ROOT)}:{line}" for line in _misplaced(tree)]
    assert not found, found


def test_the_check_finds_what_it_looks_for():
    lines = ["x.to(d)", "x.cuda()", "torch.zeros(1, device=d)", "torch.zeros(1, device=x.device)"]
    assert list(_misplaced(ast.parse("\n".join(lines)))) == [1, 2, 3]


def test_auto_is_a_gpu_where_there_is_one():
    expected = "cuda" if torch.cuda.is_available() else "cpu"
    assert devices.find_device().type == devices.find_device("auto").type == expected
    assert devices.find_device("cpu") == devices.CPU


def test_ids_are_those_of_spacy(monkeypatch):
    assert devices.find_device("-1") == devices.CPU
    asked = []
    monkeypatch.setattr(devices.torch, "empty", lambda *size, device: asked.append(str(device)))
    assert [str(devices.find_device(id)) for id in ("0", "2")] == asked == ["cuda:0", "cuda:2"]


@pytest.mark.parametrize("name", ["cuda:99", "gpu", "", "cuda:x"])
def test_a_device_that_is_not_there_is_refused(name):
    with pytest.raises(MedlinkError, match=r"E508.*cpu"):
        devices.find_device(name)


@pytest.mark.parametrize("opened", ["whole", "light"])
def test_an_encoder_computes_where_it_is(tiny_encoder, tmp_path, opened):
    BiEncoder.load(tiny_encoder).save(tmp_path)
    encoder = (BiEncoder.load(tmp_path) if opened == "whole" else open_to_encode(tmp_path)[0]).move(
        META
    )
    assert encoder.device == encoder.special.device == META
    with torch.inference_mode():
        vectors = encoder.forward(encoder.tokenize(TEXTS))
    assert vectors.device == META
    assert vectors.shape == (5, encoder.dim)


def test_a_cross_encoder_computes_where_it_is(tiny_encoder, monkeypatch):
    # How many pieces count is a look at values, once a batch: here all of them do.
    monkeypatch.setattr(torch, "nonzero", lambda t: torch.arange(len(t), device=t.device)[:, None])
    encoder = CrossEncoder.of(BiEncoder.load(tiny_encoder), CrossSettings()).move(META)
    pairs = [Pair(Mention("fever"), "high fever"), Pair(Mention("pain"), "ache of the head")]
    with torch.inference_mode():
        assert encoder.forward(encoder.tokenize(pairs)).device == META


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_encoding_waits_for_nothing(tiny_encoder, attention, monkeypatch):
    """Whatever looks at a value waits for the device; the meta device has none to look at."""
    monkeypatch.setattr(devices, "attention_for", lambda device: attention)
    encoder = BiEncoder.load(tiny_encoder, device=META)
    assert encoder.module.config._attn_implementation == attention

    def run(rows):
        return encoder.projected(encoder.pooled(encoder.module, [pieces[row] for row in rows]))

    with torch.inference_mode():
        pieces = encoder.tokenize(TEXTS * 9)
        lengths = list(map(len, pieces))
        parts = list(fitting(run, batches_of(pieces, 32), lengths))
    assert sum(len(rows) for rows, _ in parts) == 45
    assert all(vectors.device == META for _, vectors in parts)


def test_a_tensor_left_behind_is_noticed(tiny_encoder):
    """The test of the tests above: with one tensor on the processor they fail."""
    encoder = BiEncoder.load(tiny_encoder).move(META)
    encoder.module.embeddings.token_type_embeddings = torch.nn.Embedding(2, encoder.dim)
    with pytest.raises(RuntimeError, match="device"), torch.inference_mode():
        encoder.forward(encoder.tokenize(TEXTS))


def test_other_errors_and_a_single_text_that_does_not_fit_are_raised(tiny_encoder, monkeypatch):
    encoder = BiEncoder.load(tiny_encoder)

    def full(module: torch.nn.Module, pieces: list[list[int]]) -> torch.Tensor:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(encoder, "pooled", full)
    with pytest.raises(torch.cuda.OutOfMemoryError):
        encoder.encode(TEXTS)


def test_vectors_are_fetched_once_however_many_batches(tiny_encoder, monkeypatch):
    encoder, fetched, calls = BiEncoder.load(tiny_encoder), devices.fetched, []
    monkeypatch.setattr(encoder, "_workers", lambda pieces: 1)  # as on a GPU
    monkeypatch.setattr(devices, "fetched", lambda tensor: calls.append(1) or fetched(tensor))
    encoder.encode([f"fever {number}" for number in range(300)], batch_pieces=32)
    assert len(calls) == 1


@given(st.lists(st.lists(st.integers(1, 99), min_size=1, max_size=9), min_size=1, max_size=9))
def test_padding_gives_back_what_was_padded(pieces):
    ids, mask = pad(pieces, 7)
    assert ids.shape == mask.shape == (len(pieces), max(map(len, pieces)))
    assert ids.dtype == mask.dtype == torch.int64
    for row, own in enumerate(pieces):
        assert ids[row][mask[row].bool()].tolist() == own
        assert (ids[row][~mask[row].bool()] == 7).all()
        assert mask[row, : len(own)].all()


@pytest.mark.parametrize(("free", "pieces"), [(0, 4096), (80 << 30, 1 << 17)])
def test_a_gpu_takes_as_many_pieces_as_fit(monkeypatch, free, pieces):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, free))
    assert devices.batch_pieces(torch.device("cuda"), 384) == pieces
    assert devices.batch_pieces(devices.CPU, 384) == 512


@pytest.mark.parametrize(
    ("length", "most", "device", "padded"),
    [(5, 25, "cpu", 5), (5, 25, "cuda", 8), (8, 25, "cuda", 8), (9, 25, "cuda", 16),
     (24, 25, "cuda", 24), (25, 25, "cuda", 25), (30, 25, "cuda", 30)],
)  # fmt: skip
def test_a_gpu_gets_batches_of_few_lengths(length, most, device, padded):
    assert devices.padded_length(length, most, torch.device(device)) == padded


def test_padding_for_a_gpu_changes_no_vector(tiny_encoder, monkeypatch):
    encoder, texts = BiEncoder.load(tiny_encoder), ["gout", "heart failure", ""]
    expected = encoder.encode(texts)
    gpu = torch.device("cuda")
    own = devices.padded_length
    monkeypatch.setattr(devices, "padded_length", lambda length, most, _: own(length, most, gpu))
    np.testing.assert_allclose(encoder.encode(texts), expected, atol=2e-2)
    ids, _ = pad([[1, 2, 3]], 0, most=16)
    assert ids.shape == (1, 8)
