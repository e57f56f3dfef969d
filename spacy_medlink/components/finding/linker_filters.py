"""LinkerFilters: what the filters of the pipeline's linker let pass, for a dictionary."""

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
    """Tells which concepts are kinds of others, by the hierarchy of a linker.

    linker (MedicalLinker): whose names have the rows of the dictionary's.
    """

    def __init__(self, linker: Any) -> None:
        filters = linker.assets.filters
        self.assets = linker.assets
        self._concept, self._hierarchy = filters.name_concept, filters.hierarchy
        self._above = lru_cache(maxsize=4096)(self._find_above)

    def is_kind(self, own: Sequence[int], others: Sequence[int]) -> bool:
        """Tell whether some name is of a kind of what one of the others names, by their rows."""
        wanted = {int(self._concept[row]) for row in others}
        return any(not wanted.isdisjoint(self._above(int(self._concept[row]))) for row in own)

    def _find_above(self, concept: int) -> frozenset[int]:
        above = np.flatnonzero(self._hierarchy.above(np.array([concept])))
        return frozenset(above.tolist()) - {concept}


class LinkerFilters:
    """Reads the filters of a linker, which may change at any time.

    label (str): entity label of what is found, "" where labels differ.
    but (Collection[str]): filters that are not taken, since the finder has its own.
    """

    def __init__(self, label: str, but: Collection[str]) -> None:
        self._label, self._but = label, but
        self._same: tuple[Any, Any, bool] | None = None

    def selection(self, linker: Any) -> "Selection":
        """Get the filters that hold now; () for anything but a medical_linker."""
        from ..linker.component import MedicalLinker

        if not isinstance(linker, MedicalLinker):
            return ()
        return linker.selection(self._label, but=self._but)

    def mask(self, linker: Any, selection: "Selection", exact: "ExactIndex") -> Mask | None:
        """Make the mask of a selection over the names of a dictionary.

        RETURNS (Optional[Mask]): None for all names: without a filter, where the linker has other
            assets, whose rows are not those of the dictionary, and where no name passes, since
            the linker then says so of every mention.
        """
        if not (selection and self.has_same_names(linker, exact)):
            return None
        mask: Mask | None = linker.opened.base.filters.mask(selection)
        return mask if mask is not None and mask.count else None

    def overlaid(self, linker: Any) -> "OverlaidAssets | None":
        """Get a linker's assets, if an overlay lies over them."""
        from ..linker.component import MedicalLinker

        if not isinstance(linker, MedicalLinker):
            return None
        return linker.opened.overlaid

    def has_same_names(self, linker: Any, exact: "ExactIndex") -> bool:
        """Tell whether the rows of the linker's names are those of a dictionary."""
        assets = linker.opened.base
        if self._same is None or self._same[0] is not assets or self._same[1] is not exact:
            same = exact.is_of(assets.kb.text_at, assets.kb.n_names)
            self._same = (assets, exact, same)
        return self._same[2]
