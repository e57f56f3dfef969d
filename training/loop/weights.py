"""Weights as dicts: copying them, and mixing those of two models."""

import torch

from spacy_medlink.encoders.objectives.protocol import Weights as Weights


def copy_weights(module: torch.nn.Module) -> Weights:
    """Copy the weights of a module to the processor's memory."""
    return {name: tensor.detach().cpu().clone() for name, tensor in module.state_dict().items()}


def interpolate(base: Weights, trained: Weights, part: float) -> Weights:
    """Mix two sets of weights: (1 - part) x base + part x trained.

    Wortsman et al. 2022, "Robust fine-tuning of zero-shot models" (WiSE-FT), section 3: between a
    general model and one trained from it there are often weights better than either, and they
    keep more of what the general model can do outside the training data.
    """
    return {
        name: torch.lerp(tensor.float(), trained[name].float(), part).type(tensor.dtype)
        if tensor.is_floating_point()
        else trained[name].clone()
        for name, tensor in base.items()
    }


def are_finite(weights: Weights) -> bool:
    """Tell whether no weight is infinite or not a number."""
    return all(bool(torch.isfinite(tensor).all()) for tensor in weights.values())
