"""The fusions that a build chooses from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..retrieval.fusion import FUSIONS, RECIPROCAL_RANK, WEIGHTED
from ..types import Fusion

DEFAULT_WEIGHTS = {"exact": 0.1, "ngram": 0.3, "dense": 1.0}
DEFAULT_NGRAM = DEFAULT_WEIGHTS["ngram"]
_NGRAM_CHOICES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
_BY_RANK = (0.3, 1.0)


@dataclass(frozen=True)
class Choice:
    """A fusion, by the name that the manifest gives it.

    ngram (Optional[float]): weight of the n-gram tier beside a dense one of weight 1, where it is
        such a weighted sum. alone (bool): whether one tier ranks by itself.
    """

    name: str
    function: str
    weights: Mapping[str, float] = field(hash=False, compare=False)
    ngram: float | None = None
    alone: bool = False

    @property
    def fusion(self) -> Fusion:
        """The function with its weights."""
        return FUSIONS[self.function](self.weights)


def choices(tiers: Sequence[str]) -> list[Choice]:
    """List the fusions of some tiers; each has the exact tier in it, where there is one."""
    exact = {"exact": DEFAULT_WEIGHTS["exact"]} if "exact" in tiers else {}
    found = [Choice(f"{tier} alone", WEIGHTED, {**exact, tier: 1.0}, alone=True) for tier in tiers]
    both = "ngram" in tiers and "dense" in tiers
    for ngram in _NGRAM_CHOICES if both else (DEFAULT_NGRAM,):
        weights = _weights(tiers, ngram)
        found.append(Choice(f"ngram {ngram}", WEIGHTED, weights, ngram=ngram))
    for ngram in _BY_RANK if both else ():
        name = f"reciprocal rank, ngram {ngram}"
        found.append(Choice(name, RECIPROCAL_RANK, _weights(tiers, ngram)))
    return found


def normalised(weights: Mapping[str, float]) -> dict[str, float]:
    """Scale weights to sum to 1."""
    total = sum(weights.values())
    return {tier: weight / total for tier, weight in weights.items()}


def _weights(tiers: Iterable[str], ngram: float) -> dict[str, float]:
    return {tier: ngram if tier == "ngram" else DEFAULT_WEIGHTS[tier] for tier in tiers}
