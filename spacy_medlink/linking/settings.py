"""LinkSettings: everything that one linker is told."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..ranking.backoff import MARGIN, NEAR_TIES
from ..ranking.features import DEPTH
from ..retrieval.filters import Only
from .scopes import ScopeSettings

NAMES_PER_TIER = 64


@dataclass(frozen=True)
class LinkSettings:
    """The settings of a linker; `open_linker` and the component's settings have the same defaults.

    top_k (int): candidates kept of each mention.
    threshold (Optional[float]): links that are less probable, or without a calibrator score less,
        are NIL, 0..1; None for what the calibrator recommends, 0 without one.
    tiers (Optional[Sequence[str]]): of "exact", "ngram", "dense"; None for all that were built and
        add something.
    exact_first (Optional[bool]): True takes the answer of memory and exact tier, where they have
        one, without asking the others; None asks all but the dense tier where the gate lets that
        answer pass; False always asks all.
    scope (ScopeSettings): filters by label, and the rule for ties. only (Only): for all mentions.
    force_within_filter (bool): link a mention that a concept outside the filters says better to the
        best one within.
    memory (bool): ask the memory of corrections. ranker (bool): let the ranker order candidates.
    rerank_top (Optional[int]): candidates that the reranker reads; None for as many as it was
        trained for, 0 leaves it out.
    calibrator (Optional[bool]): True insists on that of the assets, None takes it where it fits,
        False leaves it out.
    resolve_abbreviations, resolve_identifiers (bool): heed what the document says of its mentions.
    composite (bool): link the parts of "breast and ovarian cancer" each by itself.
    backoff (bool): link near ties to the concept above them, within `backoff_margin`.
    names_per_tier (int): names that each tier proposes; more where too few concepts are found.
    cache_size (int): mentions whose ranking is remembered.
    """

    top_k: int = 5
    threshold: float | None = None
    tiers: Sequence[str] | None = None
    exact_first: bool | None = None
    scope: ScopeSettings = field(default_factory=ScopeSettings)
    only: Only = None
    force_within_filter: bool = False
    memory: bool = True
    ranker: bool = True
    rerank_top: int | None = None
    calibrator: bool | None = None
    resolve_abbreviations: bool = True
    resolve_identifiers: bool = True
    composite: bool = False
    backoff: bool = False
    backoff_margin: float = MARGIN
    names_per_tier: int = NAMES_PER_TIER
    cache_size: int = 65_536

    @property
    def depth(self) -> int:
        """How many candidates a decision sees, whatever number of them is kept.

        Near ties must be seen to be told, and a runner-up to be compared with.
        """
        return max(self.top_k, NEAR_TIES if self.backoff else DEPTH)
