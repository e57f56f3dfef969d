"""The module to train: its attention, dropout, and frozen layers."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from transformers import AutoModel

from spacy_medlink.encoders.adapters import adapter_reduction, add_adapters
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.dropout import set_dropout
from spacy_medlink.encoders.preparation import Preparation
from spacy_medlink.errors import Errors
from spacy_medlink.util.devices import attention_for, moved

from ..recipe.settings import DataSettings, EncoderSettings


def preparation_of(encoder: BiEncoder, settings: DataSettings) -> Preparation:
    """Return how the trained encoder prepares texts: as the base, in the recipe's letter case.

    With a tokenizer that lower-cases, nothing changes, and the fingerprint of the base stays.
    """
    return replace(encoder.preparation, lower_case=settings.lower_case and _keeps_case(encoder))


def prepare(encoder: BiEncoder, settings: EncoderSettings, device: torch.device) -> BiEncoder:
    """Make the encoder to train: a copy of the base's weights in a new module, on the device.

    RAISES (MedlinkError): E502 for a base whose layers cannot be frozen one by one.
    """
    attention = settings.attention or attention_for(device)
    base = encoder.module
    module = AutoModel.from_config(base.config, attn_implementation=attention)
    if reduction := adapter_reduction(base):
        add_adapters(module, reduction)
    module.load_state_dict(base.state_dict())
    set_dropout(module, settings.dropout)
    for parameter in _left_alone(module, settings):
        parameter.requires_grad = False
    return BiEncoder(
        encoder.tokenizer,
        moved(module, device),
        settings.pooling or encoder.pooling,
        settings.max_length or encoder.max_length,
        encoder.preparation,
        encoder.projection,
    )


def trained(module: torch.nn.Module) -> list[torch.nn.Parameter]:
    """List the parameters that training changes."""
    return [parameter for parameter in module.parameters() if parameter.requires_grad]


def _keeps_case(encoder: BiEncoder) -> bool:
    fast = encoder.tokenizer._tokenizer
    return bool(fast.encode("Fever").ids != fast.encode("fever").ids)


def _left_alone(module: torch.nn.Module, settings: EncoderSettings) -> Iterator[torch.nn.Parameter]:
    pooler = getattr(module, "pooler", None)
    if pooler is not None:  # the encoder's pooling does not use it, so it would get no gradient
        yield from pooler.parameters()
    if settings.freeze_embeddings or settings.freeze_layers:
        yield from module.get_submodule("embeddings").parameters()
    if settings.freeze_layers:
        for layer in _layers(module, settings.freeze_layers)[: settings.freeze_layers]:
            yield from layer.parameters()


def _layers(module: torch.nn.Module, frozen: int) -> list[torch.nn.Module]:
    """List the layers: BERT has them as `encoder.layer`, DistilBERT as `transformer.layer`."""
    config: Any = module.config
    for part in module.modules():
        if isinstance(part, torch.nn.ModuleList) and len(part) == config.num_hidden_layers:
            return list(part)
    rule = f"must be 0 for a {type(module).__name__}, which has no list of layers"
    raise Errors.bad_value(key="encoder.freeze_layers", value=frozen, rule=rule)
