"""OverlaidNames: the names that the linker's overlay adds to a dictionary or removes from it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...retrieval.added import exact_index
from ...retrieval.mask import Mask
from ...text.pieces import Pieces
from .kept import Kept
from .match import Match
from .names import NameFinder

if TYPE_CHECKING:
    from ...assets.overlaid import OverlaidAssets


class OverlaidNames:
    """The names of an overlay, as a dictionary of their own.

    assets (OverlaidAssets): of a linker whose names have the same rows as the dictionary's.
    longest (int): words of a match, at most.
    """

    def __init__(self, assets: "OverlaidAssets", longest: int) -> None:
        self.assets = assets
        self._concepts = [concept for concept, _ in assets.overlay.added]
        self._finder = NameFinder(exact_index(assets.overlay.names), longest)
        self._left: tuple[Kept, Kept] | None = None  # last argument of `left_of`, its result

    def left_of(self, kept: Kept) -> Kept:
        """Leave out the names that the overlay removes; equal calls return the same object."""
        dropped = list(self.assets.overlay.dropped)
        if not dropped:
            return kept
        if self._left is None or self._left[0] is not kept:
            left = np.ones(self.assets.kb.n_names, dtype=np.bool_)
            left[dropped] = False
            masks = [Mask.of(left)] if kept.mask is None else [Mask.of(left), kept.mask]
            self._left = kept, kept._replace(mask=Mask.all_of(masks))
        return self._left[1]

    def added_to(self, pieces: Pieces, found: Sequence[Match], kept: Kept) -> list[Match]:
        """Add the overlay's names to the matches of a Doc.

        kept (Kept): the names of the dictionary that are found, removed or not.
        """
        matches, places = list(found), {(one.start, one.end) for one in found}
        new = (one for one in self._finder.find(pieces) if (one.start, one.end) not in places)
        for match in new:
            own = [self.assets.kb.name_rows(self._concepts[place]) for place in match.rows]
            allowed = ([x for x in rows if kept.mask is None or x in kept.mask] for rows in own)
            if firsts := tuple(rows[0] for rows in allowed if rows):  # one for each name
                matches.append(match._replace(rows=firsts))
        return matches
