"""Parts: the models, tiers and data of a linker."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..retrieval.fusion import WeightedFusion
from ..retrieval.tier import EXACT, Tier
from ..text.lexicon import Lexicon
from ..types import Calibrator, Data, Encoder, Facts, Fusion, Rescorer
from .identified import IdentifiersOf
from .tiers import Tiers, of_texts

if TYPE_CHECKING:  # the tiers are imported only if they are used
    from ..retrieval.added import AddedNames
    from ..retrieval.exact import ExactIndex
    from ..retrieval.facets import Facets
    from ..retrieval.filters import NameFilters
    from ..retrieval.memory import MentionMemory

_DIGITS = 4  # of weights


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a linker; `replace` gives a changed copy.

    name_concept (NDArray): concept row of every name row, (n_names,).
    kb (Optional[KnowledgeBase]): None for a linker that only ranks: it neither backs off nor
        explains.
    exact (Optional[ExactIndex]): a tier; None leaves it out. others (Mapping[str, Tier]): the other
        tiers, by name. encoder (Optional[Encoder]): for tiers that ask vectors.
    memory (Optional[MentionMemory]): the corrections.
    added (Optional[AddedNames]): the names added after the tiers were built.
    fusion (Fusion): combines the tiers' scores, with weights.
    facets, filters: of the knowledge base; needed for filters and for ties by id.
    rescorer (Optional[Rescorer]): orders the candidates anew, with the mention's context.
    identifiers_of (Optional[IdentifiersOf]): of concepts; without it the identifiers that a
        document writes beside its mentions are ignored.
    spare (Mapping[str, Tier]): tiers that propose further candidates for mentions that are not
        encoded.
    calibrator (Optional[Calibrator]): gives probabilities to first candidates.
    lexicon (Lexicon): the meanings of abbreviations that a document does not define.
    """

    name_concept: NDArray[np.int32]
    kb: KnowledgeBase | None = None
    exact: "ExactIndex | None" = None
    others: Mapping[str, Tier] = field(default_factory=dict)
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
    spare: Mapping[str, Tier] = field(default_factory=dict)

    @property
    def tiers(self) -> Tiers:
        """The tiers that are asked."""
        return Tiers(self.name_concept, self.exact, self.others, self.memory, self.added)

    @property
    def cheap_tiers(self) -> Tiers:
        """The tiers that are asked about mentions that are not encoded."""
        others = {**self.spare, **self.others}
        return replace(self.tiers, others=of_texts(others))

    @property
    def tier_names(self) -> list[str]:
        """The names of the tiers that are asked, in the order in which they are asked."""
        return [*([] if self.exact is None else [EXACT]), *self.others]

    @property
    def asks_vectors(self) -> bool:
        """Whether a tier asks vectors of the encoder."""
        return any(tier.asks_vectors for tier in self.others.values())

    @cached_property
    def is_gated(self) -> bool:
        """Whether names are not encoded (`is_settled`); a reranker reads what all tiers propose."""
        reads_context = self.rescorer is not None and self.rescorer.reads_context
        return self.exact is not None and self.asks_vectors and not reads_context

    def conditions(self, encoder: Facts | None) -> Data:
        """List the conditions on which scores depend, as plain data: whatever is fitted keeps them.

        encoder (Optional[Facts]): as the manifest describes it.
        """
        tiers = sorted(self.tier_names)
        return {
            "tiers": tiers,
            "fusion": type(self.fusion).__name__,
            "weights": _rounded(tiers, self.fusion.weights or {}),
            "encoder": encoder["fingerprint"] if encoder and self.asks_vectors else "",
            "reranker": "" if self.rescorer is None else self.rescorer.fingerprint,
        }


def _rounded(tiers: Sequence[str], weights: Mapping[str, float]) -> dict[str, float]:
    """Round the weights of tiers, so that conditions compare equal."""
    return {tier: round(weights.get(tier, 0.0), _DIGITS) for tier in sorted(tiers)}
