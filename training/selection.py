"""Which weights are shipped: the trained ones, a mixture with the base's, or the base's alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .weights import Weights, are_finite, interpolate

Figures = dict[str, float]


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
    parts: Sequence[float],
    metric: str,
    min_gain: float,
    base_dev: Figures,
    fast: Callable[[Weights], Figures],
    whole: Callable[[Weights], Figures],
) -> Selection:
    """Choose on dev; what does not beat the base by more than `min_gain` is not shipped.

    parts (Sequence[float]): mixtures to try; of equals the one nearer to the base is taken.
    base_dev (Figures): the base among all names. fast (Callable): measures weights on the
    shortlist, whole (Callable): among all names, which alone decides against the base.
    """
    tried: list[tuple[float, Figures]] = []
    best, highest = 0.0, float("-inf")
    for part in sorted(parts):
        mixed = interpolate(base, trained, part)
        if not are_finite(mixed):
            continue
        figures = fast(mixed)
        tried.append((part, figures))
        if figures[metric] > highest:
            best, highest = part, figures[metric]
    if best:
        mixed = interpolate(base, trained, best)
        figures = whole(mixed)
        if figures[metric] > base_dev[metric] + min_gain:
            return Selection(best, mixed, figures, tried)
    return Selection(0.0, base, base_dev, tried)
