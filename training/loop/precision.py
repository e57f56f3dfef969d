"""Number formats of training: their choice, autocast, the scaler of fp16, the backward pass."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from spacy_medlink.errors import Errors
from spacy_medlink.util.devices import has_native_bf16


class Precision:
    """The number format in which a module computes; its weights stay fp32.

    name (str): "fp32", "bf16", "fp16" (CUDA only) or "auto": bf16 where it is native, else fp32.
    RAISES (MedlinkError): E502 for fp16 on a CPU, which has no fast arithmetic for it.
    """

    def __init__(self, name: str, device: torch.device) -> None:
        if name == "fp16" and device.type != "cuda":
            rule = f"the device is {device.type}, and fp16 needs CUDA: choose 'auto' or 'bf16'"
            raise Errors.bad_value(key="training.precision", value=name, rule=rule)
        if name == "auto":
            name = "bf16" if has_native_bf16(device) else "fp32"
        self.name = name
        self._device = device
        self.scaler = torch.amp.GradScaler(device.type, enabled=name == "fp16")

    def autocast(self) -> AbstractContextManager[Any]:
        """Return the context in which the module runs."""
        if self.name == "fp32":
            return nullcontext()
        dtype = torch.bfloat16 if self.name == "bf16" else torch.float16
        return torch.autocast(self._device.type, dtype=dtype)

    def backward(self, loss: torch.Tensor) -> torch.Tensor:
        """Add the gradients of a loss to the parameters.

        RETURNS (Tensor): its value; it stays on the device, so that nothing waits for it.
        """
        if loss.requires_grad:
            torch.autograd.backward(self.scaler.scale(loss))
        return loss.detach()
