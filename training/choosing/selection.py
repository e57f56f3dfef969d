"""Choice of the weights to ship: trained, mixed with the base's, or the base's alone."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from spacy_medlink.encoders.objectives.protocol import Weights

from ..recipe.settings import SelectionSettings

Figures = dict[str, float]
"""acc@k in per cent, mrr, n, by their names."""
Halves = dict[str, Figures]
"""Figures of dev and test."""


@dataclass(frozen=True)
class Selection:
    """The chosen weights and their figures.

    part (float): share of the trained weights, 0 for the base alone. weights (Weights): to ship.
    measured (Halves): figures of these weights. tried (List[Tuple[float, Figures]]): each part and
    its figures on the shortlist.
    """

    part: float
    weights: Weights
    measured: Halves
    tried: list[tuple[float, Figures]]


def select(
    base: Weights,
    trained: Weights,
    settings: SelectionSettings,
    of_base: Halves,
    fast: Callable[[Weights], Figures],
    whole: Callable[[Weights], Halves],
) -> Selection:
    """Choose on dev; weights that do not beat the base by more than `min_gain` are not shipped.

    Test is measured along with dev but never looked at.

    of_base (Halves): of the base, among all names. fast (Callable): measures weights on the
    shortlist. whole (Callable): measures them among all names, to compare with the base.
    """
    metric = settings.metric
    tried: list[tuple[float, Figures]] = []
    for part in sorted(settings.interpolation):
        mixed = interpolate(base, trained, part)
        if all(bool(torch.isfinite(tensor).all()) for tensor in mixed.values()):
            tried.append((part, fast(mixed)))
    if tried:
        part, _ = max(tried, key=lambda pair: pair[1][metric])
        mixed = interpolate(base, trained, part)
        measured = whole(mixed)
        if measured["dev"][metric] > of_base["dev"][metric] + settings.min_gain:
            return Selection(part, mixed, measured, tried)
    return Selection(0.0, base, of_base, tried)


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
