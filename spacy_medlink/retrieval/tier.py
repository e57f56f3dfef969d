"""Tier: a way to retrieve names, which a package may bring as the entry point `medlink_tiers`."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from ..types import Floats2d, Hits, Ints1d, Ints2d
from ..util import sides
from .mask import Mask

_GROUP = "medlink_tiers"
EXACT, DENSE = "exact", "dense"


class Tier(Protocol):
    """Searches all names for those like a query, and scores names that other tiers found.

    weight (float): of its scores among those of all tiers, where nothing chooses weights.
    asks_vectors (bool): whether a query is a vector of the encoder, (n, dim), or a text.
    """

    weight: ClassVar[float]
    asks_vectors: ClassVar[bool]

    def weigh(self, queries: Any) -> Any:
        """Prepare queries once, for `search` and `score`."""

    def search(
        self,
        queries: Any,
        k: int,
        mask: Mask | None = None,
        same: Ints1d | None = None,
        weighed: Any = None,
    ) -> Hits:
        """Find the k best names of each query.

        mask (Optional[Mask]): the names that may be answers. same (Optional[Ints1d]): for each
            query the row of a name with its key, or -1. weighed: the queries as `weigh` gives them.
        RETURNS (Hits): (n, at most k), scores in 0..1, best first; padded with -1 and -inf.
        """

    def score(self, queries: Any, rows: Ints2d, weighed: Any = None) -> Floats2d:
        """Score names, (n, m), for each query; 0 for -1."""


class TierOfNames(Tier, Protocol):
    """A tier that is made of the names alone, and lies in a directory of its name."""

    @classmethod
    def build(cls, names: Iterable[str]) -> Self:
        """Build the tier of all names, in the order of their rows."""

    def save(self, directory: Path) -> None:
        """Write the tier into a new directory."""

    @classmethod
    def load(cls, directory: Path, n_names: int) -> Self:
        """Open a tier. RAISES (MedlinkError): E202 for damaged files."""


def tiers_of_names() -> dict[str, type[TierOfNames]]:
    """List the tiers that are built of names: the n-gram tier, and those that packages bring."""
    return {name: tier_of_names(name) for name in sides.names(_GROUP)}


def tier_of_names(name: str) -> type[TierOfNames]:
    """Get the class of a tier. RAISES (MedlinkError): E108 where no package brings it."""
    tier: type[TierOfNames] = sides.load(_GROUP, name, "tier")
    return tier


def known_tiers() -> Sequence[str]:
    """List the names of all tiers, in the order in which they are asked."""
    return (EXACT, *sides.names(_GROUP), DENSE)
