"""Encoder and reranker: what they compute on the processor they compute on a GPU."""

from pathlib import Path

import numpy as np
import pytest
import torch

from spacy_medlink.encoders import bi_encoder
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.cross_encoder import CrossEncoder, CrossSettings
from spacy_medlink.encoders.opening import open_to_encode
from spacy_medlink.encoders.pairs import Pair
from spacy_medlink.types import Mention
from spacy_medlink.util import devices
from spacy_medlink.util.devices import has_native_bf16
from tests.complete_assets import random_cross_encoder
from tests.devices import CUDA, DEVICES

TEXTS = ["high fever", "fever", "infarction of the heart muscle", "", "diabetes mellitus type 2"]
PAIRS = [Pair(Mention(text, left="he had"), other) for text in TEXTS for other in TEXTS]


@pytest.fixture
def fp32(monkeypatch):
    """Let every device compute in fp32, so that figures can be compared."""
    monkeypatch.setattr(bi_encoder, "has_native_bf16", lambda device: False)


def whole(source: Path, work: Path, device: torch.device) -> BiEncoder:
    return BiEncoder.load(source, device=device)


def opened(source: Path, work: Path, device: torch.device) -> BiEncoder:
    BiEncoder.load(source).save(work)
    return open_to_encode(work, device)[0]


def moved(source: Path, work: Path, device: torch.device) -> BiEncoder:
    return BiEncoder.load(source).move(device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("open_encoder", [whole, opened, moved])
def test_the_same_vectors(tiny_encoder, tmp_path, device, open_encoder, fp32):
    expected = BiEncoder.load(tiny_encoder).encode(TEXTS)
    encoder = open_encoder(tiny_encoder, tmp_path, torch.device(device))
    assert encoder.device.type == encoder.special.device.type == device
    np.testing.assert_allclose(encoder.encode(TEXTS), expected, atol=1e-4)
    np.testing.assert_allclose(encoder.encode(TEXTS, batch_pieces=8), expected, atol=1e-4)


@pytest.mark.parametrize("device", DEVICES)
def test_the_fingerprint_does_not_depend_on_the_device(tiny_encoder, device):
    expected = BiEncoder.load(tiny_encoder).fingerprint()
    assert BiEncoder.load(tiny_encoder, device=torch.device(device)).fingerprint() == expected


@pytest.mark.parametrize("device", DEVICES)
def test_half_precision_is_near(tiny_encoder, fp32, device):
    encoder = BiEncoder.load(tiny_encoder, device=torch.device(device))
    expected = encoder.encode(TEXTS)
    half = encoder.over(encoder.module.bfloat16()).encode(TEXTS)
    assert ((half * expected).sum(axis=1) > 0.99).all()


@pytest.mark.parametrize("device", [CUDA])
def test_a_gpu_with_bf16_encodes_in_it(tiny_encoder, device):
    encoder = BiEncoder.load(tiny_encoder, device=torch.device(device))
    native = has_native_bf16(encoder.device)
    dtype = next(encoder.inference_module().parameters()).dtype
    assert dtype == (torch.bfloat16 if native else torch.float32)
    assert np.isfinite(encoder.encode(TEXTS)).all()


@pytest.mark.parametrize("device", DEVICES)
def test_the_same_scores_of_pairs(tiny_encoder, tmp_path, device, fp32):
    made = random_cross_encoder(tiny_encoder)
    expected = made.score(PAIRS)
    made.save(tmp_path)
    for other in (CrossEncoder.load(tmp_path, torch.device(device)), made):
        np.testing.assert_allclose(other.move(torch.device(device)).score(PAIRS), expected,
                                   atol=1e-3)  # fmt: skip
        assert other.fingerprint() == made.fingerprint()


@pytest.mark.parametrize("device", DEVICES)
def test_a_batch_that_does_not_fit_is_halved(tiny_encoder, device, fp32, monkeypatch):
    encoder = BiEncoder.load(tiny_encoder, device=torch.device(device))
    expected, run, sizes = encoder.encode(TEXTS), encoder.pooled, []

    def small(module: torch.nn.Module, pieces: list[list[int]]) -> torch.Tensor:
        sizes.append(len(pieces))
        if len(pieces) > 2:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return run(module, pieces)

    monkeypatch.setattr(encoder, "pooled", small)
    np.testing.assert_allclose(encoder.encode(TEXTS), expected, atol=1e-4)
    assert sizes[0] == 5
    assert max(sizes[-3:]) <= 2, "batches stay small once memory ran out"


@pytest.mark.parametrize("device", DEVICES)
def test_pairs_that_do_not_fit_are_halved(tiny_encoder, device, fp32, monkeypatch):
    base = BiEncoder.load(tiny_encoder, device=torch.device(device))
    encoder = CrossEncoder.of(base, CrossSettings())
    torch.nn.init.ones_(encoder.module.head.weight)
    expected, run, sizes = encoder.score(PAIRS), encoder._run, []

    def small(transformer: torch.nn.Module, pieces: list[object], length: int) -> torch.Tensor:
        sizes.append(len(pieces))
        if len(pieces) > 4:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return run(transformer, pieces, length)

    monkeypatch.setattr(encoder, "_run", small)
    np.testing.assert_allclose(encoder.score(PAIRS), expected, atol=1e-3)
    assert max(sizes) > 4
    assert sum(size for size in sizes if size <= 4) == len(PAIRS)


@pytest.mark.gpu
def test_memory_that_really_runs_out_is_noticed():
    free, _ = torch.cuda.mem_get_info()
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2 * free, dtype=torch.uint8, device=devices.find_device("cuda"))
    assert devices.is_out_of_memory(caught.value)
    devices.free_memory()
    assert devices.find_device("cuda").type == "cuda"


@pytest.mark.gpu
def test_a_gpu_is_described_and_found_by_auto():
    device = devices.find_device()
    assert device.type == "cuda"
    assert devices.describe(device).startswith("cuda:")
    assert torch.cuda.get_device_name() in devices.describe(device)
    assert devices.batch_pieces(device, 384) >= 4096
    assert not devices.fits(1 << 60, device)


@pytest.mark.gpu
def test_what_is_sent_is_pinned_and_what_is_fetched_is_the_same():
    array = np.arange(12, dtype=np.int64).reshape(3, 4)
    tensor = devices.sent(array, devices.find_device("cuda"))
    assert tensor.is_cuda
    np.testing.assert_array_equal(devices.fetched(tensor), array)
