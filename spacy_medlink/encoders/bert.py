"""Bert: the forward pass of BERT and RoBERTa, without the rest of `transformers`.

Importing the model classes of `transformers` takes seconds and 200 MB, because they import torch's
compiler and much else that linking does not use. This module has only the part for encoding: the
same arithmetic (Devlin et al. 2019, section 3; Vaswani et al. 2017, section 3) and weight names.
"""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import NamedTuple

import torch
from torch.nn.functional import embedding, gelu, layer_norm, linear, scaled_dot_product_attention

from ..types import Facts

Weights = Mapping[str, torch.Tensor]
_ROBERTA = ("roberta", "xlm-roberta", "camembert")
_LAYER = "encoder.layer.{}."


class Output(NamedTuple):
    """The result of a forward pass: the last layer, (n, length, dim)."""

    last_hidden_state: torch.Tensor


class Bert(torch.nn.Module):
    """A transformer for inference.

    config (Mapping): content of config.json. weights (Weights): by the names of `AutoModel`.
    dtype (torch.dtype): the type of the computation. Weights of this type are not copied, except
        those of queries, keys and values, which become one matrix.
    RAISES (KeyError): for a missing weight. See `can_run`.
    """

    def __init__(self, config: Facts, weights: Weights, dtype: torch.dtype) -> None:
        super().__init__()
        self.config = SimpleNamespace(**config)
        self._weights: dict[str, torch.nn.Parameter] = {}
        self._epsilon = float(config["layer_norm_eps"])
        self._heads = int(config["num_attention_heads"])
        # RoBERTa counts positions from behind the padding id, and calls padding's own place that.
        is_roberta = config["model_type"] in _ROBERTA
        self._padding = int(config["pad_token_id"]) if is_roberta else None
        for name in ("word_embeddings", "position_embeddings", "token_type_embeddings"):
            self._keep(name, weights[f"embeddings.{name}.weight"].type(dtype))
        self._keep_both("first_norm", weights, "embeddings.LayerNorm.", dtype)
        for layer in range(int(config["num_hidden_layers"])):
            self._keep_layer(layer, weights, dtype)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        token_type_ids: torch.Tensor | None = None,
    ) -> Output:
        """Run on word-piece ids, mask and segments, each (n, length), int64."""
        weights = self._weights
        hidden = embedding(input_ids, weights["word_embeddings"])
        hidden = hidden + embedding(self._positions(input_ids), weights["position_embeddings"])
        types = weights["token_type_embeddings"]
        hidden = hidden + (types[0] if token_type_ids is None else embedding(token_type_ids, types))
        hidden = self._norm(hidden, "first_norm")
        bias = None
        # On a GPU, reading the mask would wait for all computations before.
        if not hidden.is_cpu or not bool(attention_mask.all()):
            least = torch.finfo(hidden.dtype).min
            bias = (1 - attention_mask[:, None, None, :]).type(hidden.dtype) * least
        for layer in range(self.config.num_hidden_layers):
            hidden = self._layer(hidden, bias, str(layer))
        return Output(hidden)

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> "Bert":
        """Move or convert the weights, which may make new ones."""
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]  # so torch has it
        self._weights = dict(self.named_parameters())
        return self

    def _layer(self, hidden: torch.Tensor, bias: torch.Tensor | None, prefix: str) -> torch.Tensor:
        attended = self._linear(self._attend(hidden, bias, prefix), prefix + "mix")
        hidden = self._norm(attended + hidden, prefix + "mix_norm")
        inner = gelu(self._linear(hidden, prefix + "up"))
        return self._norm(self._linear(inner, prefix + "down") + hidden, prefix + "down_norm")

    def _attend(self, hidden: torch.Tensor, bias: torch.Tensor | None, prefix: str) -> torch.Tensor:
        count, length, dim = hidden.shape
        width = dim // self._heads
        whole = self._linear(hidden, prefix + "qkv").view(count, length, 3, self._heads, width)
        queries, keys, values = whole.permute(2, 0, 3, 1, 4)
        if not hidden.is_cpu:
            fused = scaled_dot_product_attention(queries, keys, values, attn_mask=bias)
            return fused.transpose(1, 2).reshape(count, length, dim)
        scores = queries @ keys.transpose(2, 3) * width**-0.5
        if bias is not None:
            scores = scores + bias
        mixed: torch.Tensor = scores.softmax(-1) @ values
        return mixed.transpose(1, 2).reshape(count, length, dim)

    def _positions(self, ids: torch.Tensor) -> torch.Tensor:
        if self._padding is None:
            return torch.arange(ids.shape[1], device=ids.device)
        real = ids.ne(self._padding).long()
        return torch.cumsum(real, dim=1) * real + self._padding

    def _linear(self, hidden: torch.Tensor, name: str) -> torch.Tensor:
        return linear(hidden, self._weights[name], self._weights[name + "_bias"])

    def _norm(self, hidden: torch.Tensor, name: str) -> torch.Tensor:
        weight, bias = self._weights[name], self._weights[name + "_bias"]
        return layer_norm(hidden, weight.shape, weight, bias, self._epsilon)

    def _keep_layer(self, layer: int, weights: Weights, dtype: torch.dtype) -> None:
        prefix, theirs = str(layer), _LAYER.format(layer)
        for parameter in ("weight", "bias"):
            parts = [
                weights[f"{theirs}attention.self.{name}.{parameter}"].type(dtype)
                for name in ("query", "key", "value")
            ]
            self._keep(
                prefix + "qkv" + ("" if parameter == "weight" else "_bias"), torch.cat(parts)
            )
        self._keep_both(prefix + "mix", weights, theirs + "attention.output.dense.", dtype)
        self._keep_both(prefix + "mix_norm", weights, theirs + "attention.output.LayerNorm.", dtype)
        self._keep_both(prefix + "up", weights, theirs + "intermediate.dense.", dtype)
        self._keep_both(prefix + "down", weights, theirs + "output.dense.", dtype)
        self._keep_both(prefix + "down_norm", weights, theirs + "output.LayerNorm.", dtype)

    def _keep_both(self, name: str, weights: Weights, theirs: str, dtype: torch.dtype) -> None:
        self._keep(name, weights[theirs + "weight"].type(dtype))
        self._keep(name + "_bias", weights[theirs + "bias"].type(dtype))

    def _keep(self, name: str, tensor: torch.Tensor) -> None:
        parameter = torch.nn.Parameter(tensor, requires_grad=False)
        self.register_parameter(name, parameter)
        self._weights[name] = parameter


def can_run(config: Facts) -> bool:
    """Tell whether a model of this config computes what Bert does, and nothing else."""
    return (
        config.get("model_type") in ("bert", *_ROBERTA)
        and config.get("hidden_act") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder", False)
        and not config.get("add_cross_attention", False)
        and {"layer_norm_eps", "num_attention_heads", "num_hidden_layers", "hidden_size"}
        <= set(config)
    )
