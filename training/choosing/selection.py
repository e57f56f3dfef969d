"""Which weights are shipped: the trained ones, a mixture with the base's, or the base's alone."""

from collections.abc import Callable
from dataclasses import dataclass

from ..recipe.settings import SelectionSettings
from ..weights import Weights, are_finite, interpolate

Figures = dict[str, float]
"""acc@k in per cent, mrr, n, by their names."""
Halves = dict[str, Figures]
"""Figures of dev and test."""


@dataclass(frozen=True)
class Selection:
    """What was chosen.

    part (float): of the trained weights, 0 for the base alone. weights (Weights): to ship.
    dev (Figures): their figures on dev. tried (List[Tuple[float, Figures]]): each part and its
    figures on the shortlist.
    """

    part: float
    weights: Weights
    dev: Figures
    tried: list[tuple[float, Figures]]


def select(
    base: Weights,
    trained: Weights,
    settings: SelectionSettings,
    base_dev: Figures,
    fast: Callable[[Weights], Figures],
    whole: Callable[[Weights], Figures],
) -> Selection:
    """Choose on dev; what does not beat the base by more than `min_gain` is not shipped.

    base_dev (Figures): the base among all names. fast (Callable): measures weights on the
    shortlist, whole (Callable): among all names, which alone decides against the base.
    """
    metric = settings.metric
    tried: list[tuple[float, Figures]] = []
    for part in sorted(settings.interpolation):
        mixed = interpolate(base, trained, part)
        if are_finite(mixed):
            tried.append((part, fast(mixed)))
    if tried:
        good = max(figures[metric] for _, figures in tried) - settings.tolerance
        part = next(part for part, figures in tried if figures[metric] >= good)
        mixed = interpolate(base, trained, part)
        figures = whole(mixed)
        if figures[metric] > base_dev[metric] + settings.min_gain:
            return Selection(part, mixed, figures, tried)
    return Selection(0.0, base, base_dev, tried)
