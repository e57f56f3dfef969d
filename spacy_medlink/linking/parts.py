"""Parts: what a linker is made of."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..retrieval.fusion import WeightedFusion
from ..text.lexicon import Lexicon
from ..types import Calibrator, Encoder, Fusion, Rescorer
from .identified import IdentifiersOf
from .scopes import Scopes, ScopeSettings
from .tiers import NgramTier, Tiers

if TYPE_CHECKING:  # only the tiers that are used should be paid for
    from ..ranking.gate import Gate
    from ..retrieval.added import AddedNames
    from ..retrieval.dense import DenseIndex
    from ..retrieval.exact import ExactIndex
    from ..retrieval.facets import Facets
    from ..retrieval.filters import NameFilters
    from ..retrieval.memory import MentionMemory

_PARENTS_KEPT = 65_536

ParentsOf = Callable[[int], tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Parts:
    """What a linker is made of; `replace` gives a copy with other ones.

    name_concept (NDArray): concept row of every name row, (n_names,).
    kb (Optional[KnowledgeBase]): None for a linker that only ranks: it neither backs off nor
        explains.
    exact, ngram, dense: the tiers; None leaves one out. encoder: needed with `dense`.
    memory (Optional[MentionMemory]): what corrections say that mentions are.
    added (Optional[AddedNames]): names that the tiers were not built over.
    fusion (Fusion): how the tiers' scores become one; with its weights.
    facets, filters: of the knowledge base; needed for filters and for ties by id.
    rescorer (Optional[Rescorer]): orders the candidates anew, with the mention's context.
    identifiers_of (Optional[IdentifiersOf]): of concepts; without it the identifiers that a
        document writes beside its mentions are not looked at.
    gate (Optional[Gate]): tells where memory and exact tier answer alone.
    calibrator (Optional[Calibrator]): gives probabilities to first candidates.
    lexicon (Lexicon): what abbreviations mean that a document does not define.
    """

    name_concept: NDArray[np.int32]
    kb: KnowledgeBase | None = None
    exact: "ExactIndex | None" = None
    ngram: NgramTier | None = None
    dense: "DenseIndex | None" = None
    memory: "MentionMemory | None" = None
    encoder: Encoder | None = None
    fusion: Fusion = field(default_factory=lambda: WeightedFusion().with_weights({}))
    facets: "Facets | None" = None
    filters: "NameFilters | None" = None
    rescorer: Rescorer | None = None
    identifiers_of: IdentifiersOf | None = None
    calibrator: Calibrator | None = None
    lexicon: Lexicon = field(default_factory=Lexicon)
    added: "AddedNames | None" = None
    gate: "Gate | None" = None

    @property
    def tiers(self) -> Tiers:
        """The tiers that are asked."""
        return Tiers(self.name_concept, self.exact, self.ngram, self.dense, self.memory, self.added)

    def scopes(self, settings: ScopeSettings) -> Scopes:
        """Make the scopes of entity labels.

        RAISES (MedlinkError): E162, E213 for filters that name what the knowledge base has not.
        """
        return Scopes(self.filters, self.facets, settings, self.memory is not None)


def parents_of(kb: KnowledgeBase) -> ParentsOf:
    """Make what lists the concept rows above a concept row, each read once."""

    @lru_cache(maxsize=_PARENTS_KEPT)
    def parents(row: int) -> tuple[int, ...]:
        above = kb.concept_at(row, names=False).parents
        return tuple(kb.row_of(id) for id in above if id in kb)

    return parents
