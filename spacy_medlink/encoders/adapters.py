"""What training puts into a transformer: adapters, and dropout for a step.

Adapters are small layers that are trained while the own weights of the transformer stay. In the
configuration of Pfeiffer et al. 2021 ("AdapterFusion", section 4.2) one bottleneck stands after the
feed-forward block of every layer, with the layer norm before and after it. MAD-X (Pfeiffer et al.
2020, section 3.3) has an invertible adapter after the embeddings, too.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from ..errors import Errors
from .directory import config_of

Tensors = dict[str, torch.Tensor]
_KEY, _COUPLING = ".adapter.", "embeddings.adapter."


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


class Coupling(torch.nn.Module):
    """The invertible adapter of MAD-X (section 3.3): NICE's additive coupling of two halves.

    dim (int): dimensions of the embeddings, an even number. Each half is changed by a bottleneck of
    half its width over the other, so that both can be subtracted again.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.first, self.second = Bottleneck(dim // 2, 2), Bottleneck(dim // 2, 2)

    def forward(self, embeddings: torch.Tensor) -> torch.Tensor:
        """Change embeddings, (batch, length, dim)."""
        one, two = embeddings.chunk(2, dim=-1)
        one = one + self.first(two)
        return torch.cat([one, two + self.second(one)], dim=-1)


def add_adapters(module: torch.nn.Module, reduction: int, invertible: bool = False) -> None:
    """Put an adapter into every layer of a transformer.

    invertible (bool): and one after its embeddings, as in MAD-X.
    RAISES (MedlinkError): E216 when the layers are not built as BERT's are.
    """
    layers = list(getattr(getattr(module, "encoder", None), "layer", []))
    parts = ("dense", "dropout", "LayerNorm")  # of an output block like BERT's
    fitting = all(
        hasattr(getattr(layer, "output", None), part) for layer in layers for part in parts
    )
    embeddings: Any = getattr(module, "embeddings", None)
    dim = getattr(config_of(module), "hidden_size", 1) if layers else 1
    if not layers or not fitting or (invertible and (embeddings is None or dim % 2)):
        raise Errors.no_adapters(model=type(module).__name__)
    for layer in layers:
        layer.output = AdaptedOutput(layer.output, reduction)
    if invertible:
        embeddings.adapter = Coupling(dim)
        embeddings.register_forward_hook(_couple)


def _couple(embeddings: Any, inputs: object, output: torch.Tensor) -> torch.Tensor:
    changed: torch.Tensor = embeddings.adapter(output)
    return changed


def add_adapters_of(other: torch.nn.Module, module: torch.nn.Module) -> None:
    """Put adapters into a transformer that has none, of the kind that another one has, if any."""
    reduction = adapter_reduction(other)
    if reduction and adapter_reduction(module) is None:
        add_adapters(module, reduction, any(isinstance(part, Coupling) for part in other.modules()))


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


def load_adapters(module: torch.nn.Module, path: Path, reduction: int) -> None:
    """Put adapters into a transformer, with the weights that were saved.

    RAISES (MedlinkError): E206 a file that cannot be read, or that is not of such adapters.
    """
    try:
        saved = load_file(path)
        add_adapters(module, reduction, any(name.startswith(_COUPLING) for name in saved))
        module.load_state_dict(saved, strict=False)
    except Exception as error:  # safetensors raises classes of its own
        raise Errors.encoder_damaged(path=path, reason=error) from error
    _, own = divided(module.state_dict())
    if differing := sorted(own.keys() ^ saved.keys()):
        reason = f"{differing[0]} is in it or in its model, not in both"
        raise Errors.encoder_damaged(path=path, reason=reason)


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
