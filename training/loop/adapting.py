"""Training of few weights in place of all: bottleneck adapters, or low-rank changes (LoRA)."""

from typing import Any

import torch

from spacy_medlink.encoders.adapters import adapter_parameters, adapter_reduction, add_adapters
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import Errors
from spacy_medlink.util.devices import device_of, moved
from spacy_medlink.util.extras import lacking

from ..recipe.settings import AdapterSettings
from .modules import trained


class Adaptation:
    """The trainable weights added to an encoder's module; none, if all weights are trained.

    encoder (BiEncoder): its module is changed in place, and computes the same as before.
    settings (AdapterSettings): kind of weights. seed (int): of the random initial weights.
    weights (int): how many are trained.
    RAISES (MedlinkError): E216 a model without support for bottlenecks, E521 peft is not installed.
    """

    def __init__(self, encoder: BiEncoder, settings: AdapterSettings, seed: int) -> None:
        self._encoder, self._lora = encoder, None
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            if settings.kind == "bottleneck":
                _add_bottlenecks(encoder.module, settings.reduction)
            elif settings.kind == "lora":
                self._lora = _add_lora(encoder.module, settings)
        self.weights = sum(weight.numel() for weight in trained(encoder.module))

    def finish(self) -> None:
        """Merge LoRA's changes into the module's weights."""
        if self._lora is not None:
            self._encoder.module = self._lora.merge_and_unload().eval()
            self._lora = None


def _add_bottlenecks(module: torch.nn.Module, reduction: int) -> None:
    if adapter_reduction(module) is None:  # a base with adapters continues to train them
        device = device_of(module)
        add_adapters(module, reduction)
        moved(module, device)
    module.requires_grad_(False)
    for parameter in adapter_parameters(module):
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
        raise Errors.peft_missing(lacking=lacking(error)) from error

    kind = getattr(module.config, "model_type", "")
    targets: Any = KNOWN.get(kind, "all-linear")
    config = LoraConfig(r=settings.rank, lora_alpha=settings.alpha, target_modules=targets)
    return get_peft_model(module, config)
