"""The number format that is chosen is one that the processor computes, not one that it imitates."""

from time import perf_counter
from types import SimpleNamespace

import torch

from spacy_medlink.util.devices import has_native_bf16
from tests.tables import table

CPU = torch.device("cpu")


@table(__file__, "what_the_processor_can_do_decides")
def test_what_the_processor_can_do_decides(monkeypatch, capabilities, expected):
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities, raising=False)
    assert has_native_bf16(CPU) is expected
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: False)
    assert has_native_bf16(CPU) is False  # no kernels


def test_torch_that_does_not_list_capabilities(monkeypatch):
    monkeypatch.setattr(torch, "cpu", SimpleNamespace())
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)
    assert has_native_bf16(CPU) is False


def test_other_devices():
    assert has_native_bf16(torch.device("mps")) is False
    assert has_native_bf16(torch.device("meta")) is False


def test_it_is_not_the_slower_one():
    """Where bf16 is imitated it takes five times as long as fp32."""
    texts, weights = torch.randn(512, 384), torch.randn(1536, 384)

    def seconds(dtype: torch.dtype) -> float:
        given = texts.to(dtype), weights.to(dtype)
        best = float("inf")
        for _ in range(20):
            start = perf_counter()
            torch.nn.functional.linear(*given)
            best = min(best, perf_counter() - start)
        return best

    formats = torch.bfloat16, torch.float32
    chosen, other = formats if has_native_bf16(CPU) else formats[::-1]
    assert seconds(chosen) < 2 * seconds(other)
