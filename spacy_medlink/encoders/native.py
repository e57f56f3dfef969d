"""Finds the number formats that a device computes natively, without emulation."""

import torch

# As `torch.cpu.get_capabilities` names them: Intel and AMD, then ARM.
_BF16 = ("avx512_bf16", "amx_bf16", "avx10_2", "bf16", "sve_bf16")
# What releases of torch without that list have in its place.
_BF16_BEFORE = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")


def has_native_bf16(device: torch.device) -> bool:
    """Tell whether a device computes bf16 natively.

    oneDNN claims bf16 on any processor with AVX-512, but emulates it there, five times as slow as
    fp32. Therefore the processor's capabilities in torch decide. A release of torch without them
    uses fp32.
    """
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type != "cpu" or not _has_kernels():
        return False
    capabilities = getattr(torch.cpu, "get_capabilities", None)
    if capabilities is not None:
        has = capabilities()
        return any(has.get(name, False) for name in _BF16)
    return any(getattr(torch.cpu, name, bool)() for name in _BF16_BEFORE)


def _has_kernels() -> bool:
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
