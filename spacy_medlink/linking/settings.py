"""LinkSettings: all settings of one linker."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..retrieval.filters import Only

NAMES_PER_TIER = 64


@dataclass(frozen=True)
class LinkSettings:
    """The settings of a linker; `open_linker` and the component's settings have the same defaults.

    top_k (int): candidates to keep for each mention.
    threshold (Optional[float]): links with a lower probability (a lower score without a
        calibrator) are NIL, 0..1; None for what the calibrator recommends, 0 without one.
    tiers (Optional[Sequence[str]]): of "exact", "ngram", "dense"; None for all that were built and
        add something.
    exact_first (Optional[bool]): True takes the answer of memory and exact tier, where they have
        one, without asking the others; None asks all tiers, but not the dense one if the answer
        is settled, nor the reranker if the candidates pass its gate; False always asks all.
    labels (Optional[Mapping[str, Sequence[str]]]): the types or groups allowed for mentions of an
        entity label. only (Only): the filters for all mentions.
    force_within_filter (bool): link to the best concept within the filters, even if a concept
        outside matches the mention better.
    memory (bool): ask the memory of corrections. ranker (bool): let the ranker order candidates.
    rerank_top (Optional[int]): candidates that the reranker reads; None for as many as it was
        trained for, 0 leaves it out.
    calibrator (Optional[bool]): True insists on that of the assets, None takes it where it fits,
        False leaves it out.
    resolve_abbreviations, resolve_identifiers (bool): use those that the document writes.
    composite (bool): link each part of "breast and ovarian cancer" by itself.
    names_per_tier (int): names that each tier proposes; more where too few concepts are found.
    cache_size (int): mentions whose ranking is remembered.
    """

    top_k: int = 5
    threshold: float | None = None
    tiers: Sequence[str] | None = None
    exact_first: bool | None = None
    labels: Mapping[str, Sequence[str]] | None = None
    only: Only = None
    force_within_filter: bool = False
    memory: bool = True
    ranker: bool = True
    rerank_top: int | None = None
    calibrator: bool | None = None
    resolve_abbreviations: bool = True
    resolve_identifiers: bool = True
    composite: bool = False
    names_per_tier: int = NAMES_PER_TIER
    cache_size: int = 65_536
