"""The module to train: its attention, dropout, frozen layers, and few weights in place of all."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from transformers import AutoModel

from spacy_medlink.encoders import adapters
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.preparation import POOLER, Preparation
from spacy_medlink.errors import Errors
from spacy_medlink.util.devices import attention_for, device_of, moved
from spacy_medlink.util.extras import how_to_install, lacking

from ..recipe.settings import AdapterSettings, DataSettings, EncoderSettings


def preparation_of(encoder: BiEncoder, settings: DataSettings) -> Preparation:
    """Return how the trained encoder prepares texts: as the base, in the recipe's letter case.

    With a tokenizer that lower-cases, nothing changes, and the fingerprint of the base stays.
    """
    return replace(encoder.preparation, lower_case=settings.lower_case and _keeps_case(encoder))


def prepare(encoder: BiEncoder, settings: EncoderSettings, device: torch.device) -> BiEncoder:
    """Make the encoder to train: a copy of the base's weights in a new module, on the device.

    RAISES (MedlinkError): E502 for a base whose layers cannot be frozen one by one.
    """
    base = encoder.module
    module = AutoModel.from_config(base.config, attn_implementation=attention_for(device))
    adapters.add_adapters_of(base, module)
    module.load_state_dict(base.state_dict())
    adapters.set_dropout(module, settings.dropout)
    pooling = settings.pooling or encoder.pooling
    for parameter in _left_alone(module, settings, pooling):
        parameter.requires_grad = False
    return BiEncoder(
        encoder.tokenizer,
        moved(module, device),
        pooling,
        settings.max_length or encoder.max_length,
        encoder.preparation,
        encoder.projection,
    )


def trained(module: torch.nn.Module) -> list[torch.nn.Parameter]:
    """List the parameters that training changes."""
    return [parameter for parameter in module.parameters() if parameter.requires_grad]


def _keeps_case(encoder: BiEncoder) -> bool:
    fast = encoder.tokenizer.backend_tokenizer
    return bool(fast.encode("Fever").ids != fast.encode("fever").ids)


def _left_alone(
    module: torch.nn.Module, settings: EncoderSettings, pooling: str
) -> Iterator[torch.nn.Parameter]:
    pooler = getattr(module, "pooler", None)
    if pooler is not None and pooling != POOLER:  # it would get no gradient
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


class Adaptation:
    """The trainable weights added to an encoder's module; none, if all weights are trained.

    encoder (BiEncoder): its module is changed in place, and computes the same as before.
    settings (AdapterSettings): kind of weights. seed (int): of the random initial weights.
    weights (int): how many are trained.
    RAISES (MedlinkError): E216 a model without support for bottlenecks, E614 peft is not installed.
    """

    def __init__(self, encoder: BiEncoder, settings: AdapterSettings, seed: int) -> None:
        self._encoder, self._lora = encoder, None
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            if settings.kind in ("bottleneck", "mad_x"):
                _add_adapters(encoder.module, settings)
            elif settings.kind == "lora":
                self._lora = _add_lora(encoder.module, settings)
        self.weights = sum(weight.numel() for weight in trained(encoder.module))

    def finish(self) -> None:
        """Merge LoRA's changes into the module's weights."""
        if self._lora is not None:
            self._encoder.module = self._lora.merge_and_unload().eval()
            self._lora = None


def _add_adapters(module: torch.nn.Module, settings: AdapterSettings) -> None:
    if adapters.adapter_reduction(module) is None:  # a base with adapters continues to train them
        device = device_of(module)
        adapters.add_adapters(module, settings.reduction, settings.kind == "mad_x")
        moved(module, device)
    module.requires_grad_(False)
    for parameter in adapters.adapter_parameters(module):
        parameter.requires_grad = True


def _add_lora(module: torch.nn.Module, settings: AdapterSettings) -> Any:
    """Add LoRA (Hu et al. 2022, "LoRA: low-rank adaptation of large language models", section 4.1).

    If peft knows the kind of model, its defaults are changed (queries and values of attention),
    otherwise all linear layers.
    """
    try:
        from peft import LoraConfig, get_peft_model
        from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as KNOWN
    except ImportError as error:
        raise Errors.extra_missing(
            what="A LoRA", lacking=lacking(error), remedy=how_to_install("peft")
        ) from error

    model_type = getattr(module.config, "model_type", "")
    targets: Any = KNOWN.get(model_type, "all-linear")
    config = LoraConfig(r=settings.rank, lora_alpha=settings.alpha, target_modules=targets)
    return get_peft_model(module, config)
