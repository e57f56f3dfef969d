"""Scopes: the names that may be answers for each entity label, and the rule for ties."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..retrieval.concepts import TieRule
from ..retrieval.filters import Filter, NameFilters, Only, Selection, select
from ..types import FROM_MENTIONS

if TYPE_CHECKING:
    from ..retrieval.facets import Facets
    from ..retrieval.mask import Mask

# The meaning of the labels of well-known recognisers, as types or groups of the UMLS. It only
# breaks ties; `labels` of the settings excludes.
FAVOURED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("DISEASE", "DISORDER", "PROBLEM", "CONDITION", "DIAGNOSIS"), ("DISO",)),
    **dict.fromkeys(("SYMPTOM", "SIGN", "FINDING"), ("T184", "T033", "DISO")),
    **dict.fromkeys(("CHEMICAL", "DRUG", "MEDICATION", "SIMPLE_CHEMICAL"), ("CHEM",)),
    **dict.fromkeys(("PROCEDURE", "TREATMENT", "TEST"), ("PROC",)),
    **dict.fromkeys(("ANATOMY", "ORGAN", "TISSUE"), ("ANAT",)),
    **dict.fromkeys(("GENE", "GENE_OR_GENE_PRODUCT"), ("GENE",)),
    **dict.fromkeys(("SPECIES", "ORGANISM"), ("LIVB",)),
    "DEVICE": ("DEVI",),
}
_KEPT = 1024


@dataclass(frozen=True, eq=False)
class Scope:
    """The filter and the tie rule of some mentions; compared by identity, as part of cache keys.

    mask (Optional[Mask]): None lets every name pass. label (str): for the memory.
    """

    selection: Selection = ()
    mask: "Mask | None" = None
    rule: TieRule = field(default_factory=TieRule)
    label: str = ""

    def within(self, mask: "Mask") -> "Scope":
        """Make the scope with only the names of a mask."""
        both = mask if self.mask is None else type(mask).all_of([self.mask, mask])
        return replace(self, mask=both)


EVERYTHING = Scope()


class Scopes:
    """Makes the scopes of labels; labels of the same meaning share one.

    filters, facets: None if the engine has no knowledge base: filters are then impossible, and
        ties go by rows.
    labels (Optional[Mapping[str, Sequence[str]]]): the types or groups allowed for mentions of an
        entity label; other labels allow all. with_labels (bool): whether the memory tells them
        apart.
    built (NDArray[int32]): concept row of every name, without those that were added later.
    RAISES (MedlinkError): E213 for settings with names that nothing has.
    """

    def __init__(
        self,
        filters: NameFilters | None,
        facets: "Facets | None",
        labels: Mapping[str, Sequence[str]] | None,
        with_labels: bool,
        built: NDArray[np.int32],
    ) -> None:
        self._filters, self._facets, self._labels = filters, facets, labels or {}
        self._with_labels = with_labels
        self._rule = TieRule()
        if facets is not None:
            sources = list(facets.sources)
            of_mentions = sources.index(FROM_MENTIONS) if FROM_MENTIONS in sources else -1
            order, source = facets.concept_order, facets.source
            self._rule = TieRule(order, None, built, source, of_mentions)
        self._favoured = lru_cache(None)(self._places)
        self._scope = lru_cache(_KEPT)(self._make)
        self.of = lru_cache(_KEPT)(self._of)
        for label in ("", *self._labels):
            self.of(label)  # report wrong settings here, not at the first mention

    def unfiltered(self, label: str) -> Scope:
        """Make the scope that a label would have without any filter."""
        return self._of_selection(label, ())

    def _of(self, label: str, only: Only = None) -> Scope:
        """Get the scope of an entity label.

        only (Only): filter of one call, beside the settings.
        RAISES (MedlinkError): E213 for a filter with names that nothing has.
        """
        types = self._labels.get(label)
        return self._of_selection(label, select(Filter.of(types=types) if types else None, only))

    def _of_selection(self, label: str, selection: Selection) -> Scope:
        favoured = FAVOURED.get(label, ())
        if self._favoured(favoured) is None:
            favoured = ()
        return self._scope(selection, favoured, label if self._with_labels else "")

    def _make(self, selection: Selection, favoured: tuple[str, ...], label: str) -> Scope:
        mask = self._filters.mask(selection) if self._filters is not None else None
        rule = self._rule._replace(favoured=self._favoured(favoured))
        return Scope(selection, mask, rule, label)

    def _places(self, types: tuple[str, ...]) -> NDArray[np.uint8] | None:
        """Get the place of each concept among favoured types; None where no concept has one."""
        if not types or self._facets is None or self._filters is None:
            return None
        places = np.full(len(self._facets.concept_order), len(types), dtype=np.uint8)
        for rank in reversed(range(len(types))):
            named = self._filters.types_named(types[rank : rank + 1])
            places[self._facets.concepts_of_types(named)] = rank
        return places if (places < len(types)).any() else None
