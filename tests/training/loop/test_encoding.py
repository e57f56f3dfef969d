"""Encoding: gradients do not depend on how a batch is divided."""

import threading
from pathlib import Path

import pytest
import torch

from spacy_medlink.encoders.bi_encoder import BiEncoder
from tests.children import SECONDS
from training.loop import encoding
from training.loop.encoding import encode_batch, encode_names
from training.loop.precision import Precision, backward
from training.recipe.settings import TrainingSettings

TEXTS = ["fever", "type ii diabetes mellitus", "DM", "high blood pressure", "pyrexia", "a b c d e"]
PLAIN = Precision("fp32", torch.device("cpu"))


def _gradients(path: Path, **settings: object) -> tuple[float, dict[str, torch.Tensor]]:
    encoder = BiEncoder.load(path)
    target = torch.linspace(-1, 1, len(TEXTS) * encoder.dim).reshape(len(TEXTS), -1)
    pieces = encoder.tokenize(TEXTS)
    vectors = encode_batch(encoder, pieces, TrainingSettings(**settings), PLAIN)
    loss = backward(((vectors @ vectors.T).exp().sum() + (vectors * target).sum()).log())
    own = {
        name: parameter.grad
        for name, parameter in encoder.module.named_parameters()
        if parameter.grad is not None
    }
    return float(loss), own


@pytest.fixture
def torch_threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("parts", [1, 2, 4, 50])
def test_parts_change_nothing(tiny_encoder, torch_threads, parts, threads):
    torch_threads(1)
    loss, own = _gradients(tiny_encoder, sub_batches=1)
    torch_threads(threads)
    other_loss, others = _gradients(tiny_encoder, sub_batches=parts)
    assert other_loss == pytest.approx(loss, rel=1e-5)
    assert others.keys() == own.keys()
    assert any(gradient.abs().max() > 1e-3 for gradient in own.values())
    for name, gradient in own.items():
        torch.testing.assert_close(others[name], gradient, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(("dropout", "threads"), [(False, 2), (True, 1)])
def test_a_batch_is_trained_in_two_threads_unless_random_numbers_are_drawn(
    tiny_encoder, torch_threads, dropout, threads
):
    encoder, met = BiEncoder.load(tiny_encoder), []
    encoder.module.train(dropout)
    both = threading.Barrier(threads, timeout=SECONDS)

    def meet(*_: object) -> None:
        both.wait()
        met.append(threading.get_ident())

    def watch(module: object, inputs: object, output: torch.Tensor) -> None:
        meet()
        output.register_hook(meet)

    encoder.module.get_submodule("embeddings").register_forward_hook(watch)
    torch_threads(2)
    vectors = encode_batch(encoder, encoder.tokenize(TEXTS), TrainingSettings(), PLAIN)
    forwards = set(met)
    met.clear()
    vectors.sum().backward()
    assert len(forwards) == len(set(met)) == threads
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize(("device", "parts"), [("cpu", 4), ("cuda", 1)])
def test_a_gpu_gets_a_batch_in_one_part(tiny_encoder, monkeypatch, device, parts):
    asked = []
    monkeypatch.setattr(encoding, "in_parts", lambda *given: asked.append(given[3]))
    encoder = BiEncoder.load(tiny_encoder)
    pieces = encoder.tokenize(TEXTS)
    monkeypatch.setattr(BiEncoder, "device", torch.device(device))
    encode_batch(encoder, pieces, TrainingSettings(sub_batches=4), PLAIN)
    assert asked == [parts]


def test_vectors_come_in_the_order_of_the_names(tiny_encoder):
    encoder = BiEncoder.load(tiny_encoder)
    pieces = encoder.tokenize(TEXTS)
    alone = torch.cat([encoder.forward([own]) for own in pieces])
    vectors = encode_batch(encoder, pieces, TrainingSettings(sub_batches=3), PLAIN)
    torch.testing.assert_close(vectors, alone)
    vectors = encode_names(encoder, TEXTS, PLAIN)
    torch.testing.assert_close(torch.from_numpy(vectors), alone.detach())
