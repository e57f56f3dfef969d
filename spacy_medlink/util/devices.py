"""Devices: the only module that decides where tensors are made, moved and kept.

A name is "auto" (CUDA where torch finds it, else the processor), "cpu", "cuda", "cuda:1" or "mps",
or an id as spaCy's `--gpu-id` has them: "0", and "-1" for the processor.
"""

import os
from collections.abc import Iterable
from typing import TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from thinc.api import prefer_gpu
from thinc.util import get_torch_default_device

from ..errors import Errors
from ..types import Array

AUTO = "auto"
CPU = torch.device("cpu")

# Word pieces in a batch. A processor's caches want few; a GPU is idle unless it has many.
_PIECES_ON_CPU = 512
_LEAST_PIECES, _MOST_PIECES = 4096, 1 << 17
_GPU_BLOCK = 8
# Memory of a word piece while its layer runs, as a multiple of the size of a vector.
_WIDTHS = 64

# On a CPU, torch has no exception class for a lack of memory.
_SIGNS = ("can't allocate memory", "not enough memory", "out of memory")
# As `torch.cpu.get_capabilities` names them: Intel and AMD, then ARM.
_BF16 = ("avx512_bf16", "amx_bf16", "avx10_2", "bf16", "sve_bf16")

Movable = TypeVar("Movable", bound=torch.Tensor | torch.nn.Module)


def find_device(name: str = AUTO) -> torch.device:
    """Find a device by name.

    RAISES (MedlinkError): E508 when this machine, or this build of torch, does not have it.
    """
    if name == AUTO:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    is_id = name.removeprefix("-").isdecimal()  # as spaCy has them
    try:
        device = torch.device(("cpu" if int(name) < 0 else f"cuda:{int(name)}") if is_id else name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        names = ["cpu", *(f"cuda:{gpu}" for gpu in range(torch.cuda.device_count()))]
        names += ["mps"] if torch.backends.mps.is_available() else []
        reason = str(error).splitlines()[0]
        raise Errors.no_device(device=name, reason=reason, known=", ".join(names)) from error
    return device


def spacy_device() -> str:
    """Name the device where spaCy computes: `prefer_gpu`, `require_gpu` and `--gpu-id` choose it.

    spaCy keeps this for each thread; ask in the thread that called them.
    """
    return str(get_torch_default_device())


def prefer_for_spacy(name: str) -> None:
    """Let spaCy's own networks compute on a device, too, where it is a GPU that spaCy can use."""
    device = find_device(name)
    if device.type != "cpu":
        prefer_gpu(device.index or 0)


def rank_device(name: str = AUTO) -> str:
    """Name this process's device: for "auto" or "cuda", the GPU that torchrun assigned to it."""
    local = os.environ.get("LOCAL_RANK", "")
    chosen = find_device(name).type if name == AUTO else name
    return f"cuda:{local}" if chosen == "cuda" and local else name


def describe(device: torch.device) -> str:
    """Name a device for people: "cpu", or "cuda:0 (NVIDIA H200)"."""
    if device.type != "cuda":
        return str(device)
    gpu = torch.cuda.current_device() if device.index is None else device.index
    return f"cuda:{gpu} ({torch.cuda.get_device_name(gpu)})"


def device_of(module: torch.nn.Module) -> torch.device:
    """Return the device of a module."""
    return next(module.parameters()).device


def moved(what: Movable, device: torch.device) -> Movable:
    """Move a tensor or a module; a module is changed in place."""
    return cast(Movable, what.to(device))


def sent(array: Array, device: torch.device) -> torch.Tensor:
    """Make a tensor of an array; on a processor it shares the array's memory.

    It is copied to a GPU through pinned memory, so that the call does not wait for the copy.
    """
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor if device.type == "cpu" else tensor.to(device)


def fetched(tensor: torch.Tensor) -> Array:
    """Get a tensor as an array. This waits for the device: call it once for many batches."""
    return tensor.detach().cpu().numpy()


def gathered(
    blocks: Iterable[NDArray[np.float32]], rows: int, width: int, device: torch.device
) -> torch.Tensor:
    """Join blocks of vectors on a device: (rows, width), with zeros in missing rows.

    RAISES (RuntimeError): when the memory is too small; see `is_out_of_memory`.
    """
    whole = torch.zeros((rows, width), dtype=torch.float32, device=device)
    start = 0
    for block in blocks:
        whole[start : start + len(block)].copy_(torch.from_numpy(block))
        start += len(block)
    return whole


def fits(n_bytes: int, device: torch.device) -> bool:
    """Tell whether a GPU has room for this many bytes: at most three quarters of its free memory.

    False for other devices: they share the processor's memory, which already has the vectors.
    """
    if device.type != "cuda":
        return False
    free, _ = torch.cuda.mem_get_info(device)
    return bool(n_bytes <= free * 3 // 4)


def batch_pieces(device: torch.device, width: int) -> int:
    """Return the number of word pieces that a batch may have, padding included.

    width (int): width of the vectors; batches may take half of a GPU's free memory.
    """
    if device.type == "cpu":
        return _PIECES_ON_CPU
    if device.type != "cuda":
        return _LEAST_PIECES
    free, _ = torch.cuda.mem_get_info(device)
    fitting = free // 2 // (4 * _WIDTHS * width)
    return int(min(max(fitting, _LEAST_PIECES), _MOST_PIECES))


def padded_length(length: int, most: int, device: torch.device) -> int:
    """Round the length of a batch up to one that is fast on the device, at most `most`.

    A GPU multiplies in blocks, and prepares its kernels again for each new shape.
    """
    rounded = -(-length // _GPU_BLOCK) * _GPU_BLOCK
    return max(length, min(rounded, most)) if device.type == "cuda" else length


def attention_for(device: torch.device) -> str:
    """Name the attention of `transformers` that is faster for names.

    Names are short: on a processor the plain product beats the fused kernel by a factor of two, and
    the fused kernel's backward pass in bf16 costs more still.
    """
    return "sdpa" if device.type == "cuda" else "eager"


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error says that a device, or the machine, has no memory left."""
    if isinstance(error, MemoryError | torch.cuda.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error) for sign in _SIGNS)


def free_memory() -> None:
    """Release the GPU memory that torch caches, after the memory ran out."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def has_native_bf16(device: torch.device) -> bool:
    """Tell whether a device computes bf16 natively.

    oneDNN claims bf16 on any processor with AVX-512, but emulates it there, five times as slow as
    fp32. Therefore the processor's capabilities in torch decide. A release of torch without them
    uses fp32.
    """
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type != "cpu" or not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return False
    capabilities: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()
    return any(capabilities.get(name, False) for name in _BF16)
