"""OverlaidNames: names that the linker's overlay adds, and those that it takes away, in a Doc."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spacy.tokens import Doc

from ...retrieval.added import exact_index
from .names import NameFinder
from .words import Match

if TYPE_CHECKING:
    from ...assets.overlaid import OverlaidAssets


class OverlaidNames:
    """Finds names of an overlay, as a dictionary of their own.

    assets (OverlaidAssets): of the linker, whose names have the rows of the dictionary's.
    longest (int): words of a match, at most.
    """

    def __init__(self, assets: "OverlaidAssets", longest: int) -> None:
        self.assets = assets
        overlay = assets.overlay
        self._gone = overlay.gone
        # A match has rows of the dictionary: the first one of the concept stands for the new name.
        self._rows = [assets.kb.name_rows(concept).start for concept, _ in overlay.added]
        self._finder = NameFinder(exact_index(overlay.names), longest, False)

    def corrected(self, doc: Doc, found: Sequence[Match]) -> list[Match]:
        """Add names to what was found, without what is only a name that was taken away."""
        kept = [one._replace(rows=self._left(one.rows)) for one in found]
        kept = [one for one, was in zip(kept, found, strict=True) if one.rows or not was.rows]
        places = {(one.start, one.end) for one in kept}
        return kept + [
            one._replace(rows=tuple(self._rows[row] for row in one.rows))
            for one in self._finder.find(doc)
            if (one.start, one.end) not in places
        ]

    def _left(self, rows: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(row for row in rows if row not in self._gone)
