"""Number formats of training."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from spacy_medlink.util.devices import has_native_bf16


class Precision:
    """The number format in which a module computes; its weights stay fp32.

    name (str): "fp32", "bf16" or "auto": bf16 where it is native, else fp32.
    """

    def __init__(self, name: str, device: torch.device) -> None:
        if name == "auto":
            name = "bf16" if has_native_bf16(device) else "fp32"
        self.name, self._device = name, device

    def autocast(self) -> AbstractContextManager[Any]:
        """Return the context in which the module runs."""
        if self.name == "fp32":
            return nullcontext()
        return torch.autocast(self._device.type, dtype=torch.bfloat16)


def backward(loss: torch.Tensor) -> torch.Tensor:
    """Add the gradients of a loss. RETURNS its value, on the device, so that nothing waits."""
    if loss.requires_grad:
        torch.autograd.backward(loss)
    return loss.detach()
