"""What training puts into a transformer: bottleneck adapters, and dropout for a step.

Adapters are small layers that are trained while the own weights of the transformer stay, in the
configuration of Pfeiffer et al. 2021 ("AdapterFusion", section 4.2): one adapter after the
feed-forward block of every layer, with the layer norm before and after it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from ..errors import Errors

Tensors = dict[str, torch.Tensor]
_KEY = ".adapter."


class Bottleneck(torch.nn.Module):
    """x + up(relu(down(x))), which is x at the start: `up` begins as zeros.

    dim (int): dimensions of x. reduction (int): dim divided by the width of the middle.
    """

    def __init__(self, dim: int, reduction: int) -> None:
        super().__init__()
        self.down = torch.nn.Linear(dim, max(1, dim // reduction))
        self.up = torch.nn.Linear(max(1, dim // reduction), dim)
        torch.nn.init.zeros_(self.up.weight)
        torch.nn.init.zeros_(self.up.bias)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Compute the change that is added to a layer's output, (batch, length, dim)."""
        change: torch.Tensor = self.up(torch.relu(self.down(hidden)))
        return change


class AdaptedOutput(torch.nn.Module):
    """The output block of a BERT-like layer with an adapter; its own weights keep their names."""

    def __init__(self, output: torch.nn.Module, reduction: int) -> None:
        super().__init__()
        block: Any = output
        self.dense, self.dropout, self.LayerNorm = block.dense, block.dropout, block.LayerNorm
        self.adapter = Bottleneck(self.dense.out_features, reduction)

    def forward(self, hidden: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        """Compute the layer's output. hidden: of the feed-forward block. residual: its input."""
        whole = self.dropout(self.dense(hidden)) + residual
        adapted: torch.Tensor = self.LayerNorm(whole + self.adapter(self.LayerNorm(whole)))
        return adapted


def add_adapters(module: torch.nn.Module, reduction: int) -> None:
    """Put an adapter into every layer of a transformer.

    RAISES (MedlinkError): E216 when the layers are not built as BERT's are.
    """
    layers = list(getattr(getattr(module, "encoder", None), "layer", []))
    parts = ("dense", "dropout", "LayerNorm")  # of an output block like BERT's
    fitting = all(
        hasattr(getattr(layer, "output", None), part) for layer in layers for part in parts
    )
    if not layers or not fitting:
        raise Errors.no_adapters(model=type(module).__name__)
    for layer in layers:
        layer.output = AdaptedOutput(layer.output, reduction)


def adapter_reduction(module: torch.nn.Module) -> int | None:
    """Return the reduction of a transformer's adapters; None when it has none."""
    for part in module.modules():
        if isinstance(part, AdaptedOutput):
            down = part.adapter.down
            return max(1, down.in_features // down.out_features)
    return None


def adapter_parameters(module: torch.nn.Module) -> Iterator[torch.nn.Parameter]:
    """List the weights of all adapters."""
    for part in module.modules():
        if isinstance(part, Bottleneck):
            yield from part.parameters()


def divided(state: Tensors) -> tuple[Tensors, Tensors]:
    """Divide weights into those of the base and those of the adapters."""
    base = {name: tensor for name, tensor in state.items() if _KEY not in name}
    return base, {name: tensor for name, tensor in state.items() if _KEY in name}


def save_adapters(adapters: Tensors, path: Path) -> None:
    """Write the weights of adapters, as `divided` gives them."""
    save_file({name: tensor.contiguous() for name, tensor in adapters.items()}, path)


def load_adapters(module: torch.nn.Module, path: Path, reduction: int) -> None:
    """Put adapters into a transformer, with the weights that were saved.

    RAISES (MedlinkError): E206 a file that cannot be read, or that is not of such adapters.
    """
    add_adapters(module, reduction)
    try:
        unknown = module.load_state_dict(load_file(path), strict=False).unexpected_keys
    except Exception as error:  # safetensors raises classes of its own
        raise Errors.encoder_damaged(path=path, reason=error) from error
    if unknown:
        raise Errors.encoder_damaged(path=path, reason=f"it has {unknown[0]}, of another model")


def set_dropout(module: torch.nn.Module, rate: float) -> None:
    """Set the share of numbers that are left out in training, 0..1, in all parts of a module."""
    for part in module.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = rate
        if hasattr(part, "dropout_prob"):  # kept as a number by attention that is fused
            part.dropout_prob = rate  # type: ignore[assignment]  # torch expects tensors


@contextmanager
def dropping(module: torch.nn.Module, rate: float) -> Iterator[None]:
    """Run a module with dropout while the block lasts; it is pinned to evaluation otherwise."""
    if not rate:
        yield
        return
    set_dropout(module, rate)
    module.train()
    try:
        yield
    finally:
        module.eval()
