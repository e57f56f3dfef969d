"""LinkerFilters: the names of a dictionary that pass the filters of the pipeline's linker."""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...retrieval.mask import Mask

if TYPE_CHECKING:
    from ...assets.overlaid import OverlaidAssets
    from ...retrieval.exact import ExactIndex
    from ...retrieval.filters import Selection


class Kinds:
    """The hierarchy of a linker, which says which concepts are kinds of others.

    linker (MedicalLinker): a linker whose names have the same rows as the dictionary's.
    """

    def __init__(self, linker: Any) -> None:
        filters = linker.assets.filters
        self.assets = linker.assets
        self._concept, self._hierarchy = filters.name_concept, filters.hierarchy
        self._above = lru_cache(maxsize=4096)(self._find_above)

    def is_kind(self, own: Sequence[int], others: Sequence[int]) -> bool:
        """Tell whether a concept of some names is a kind of a concept of others, by name rows."""
        wanted = {int(self._concept[row]) for row in others}
        return any(not wanted.isdisjoint(self._above(int(self._concept[row]))) for row in own)

    def _find_above(self, concept: int) -> frozenset[int]:
        above = np.flatnonzero(self._hierarchy.above(np.array([concept])))
        return frozenset(above.tolist()) - {concept}


class LinkerFilters:
    """The filters of a linker, read anew each time, since they may change.

    label (str): entity label of the mentions, "" where labels differ.
    but (Collection[str]): filters that are ignored, since the finder has its own.
    """

    def __init__(self, label: str, but: Collection[str]) -> None:
        self._label, self._but = label, but
        self._same: tuple[Any, Any, bool] | None = None

    def selection(self, linker: Any) -> "Selection":
        """Get the current filters; () for anything but a medical_linker."""
        from ..linker.component import MedicalLinker

        if not isinstance(linker, MedicalLinker):
            return ()
        return linker.selection(self._label, but=self._but)

    def mask(self, linker: Any, selection: "Selection", exact: "ExactIndex") -> Mask | None:
        """Make the mask of a selection over the names of a dictionary.

        RETURNS (Optional[Mask]): None for all names: without a filter; where the linker has other
            assets, whose rows differ from the dictionary's; and where no name passes, since the
            linker then says so of every mention.
        """
        if not (selection and self.has_same_names(linker, exact)):
            return None
        mask: Mask | None = linker.opened.base.filters.mask(selection)
        return mask if mask is not None and mask.count else None

    def overlaid(self, linker: Any) -> "OverlaidAssets | None":
        """Get a linker's assets, if an overlay lies over them."""
        found: OverlaidAssets | None = getattr(getattr(linker, "opened", None), "overlaid", None)
        return found

    def has_same_names(self, linker: Any, exact: "ExactIndex") -> bool:
        """Tell whether the rows of the linker's names are those of a dictionary."""
        assets = linker.opened.base
        if self._same is None or self._same[0] is not assets or self._same[1] is not exact:
            same = exact.is_of(assets.kb.text_at, assets.kb.n_names)
            self._same = (assets, exact, same)
        return self._same[2]
