"""AddedNames: names added to an index after it was built, and rows that are no longer names.

The added names have an exact tier of their own; the other tiers know them after the next build.
"""

from collections.abc import Collection, Sequence

import numpy as np

from ..kb.lookup import hashed
from ..types import Floats2d, Hits, Ints1d, Ints2d
from .exact import ExactIndex
from .mask import Mask, MaskedParts

_MASKS = 64  # masks whose two parts are remembered
_MORE = 256  # rows that a search asks for beyond those wanted, at most


class AddedNames:
    """The names that were added, and the rows that were taken away.

    names (Sequence[str]): their rows are `built`, `built` + 1 ... built (int): names before them.
    dropped (Collection[int]): rows that may no longer be answers.
    """

    def __init__(self, names: Sequence[str], built: int, dropped: Collection[int] = ()) -> None:
        self.built = built
        self._dropped: Ints1d = np.array(sorted(dropped), dtype=np.int64)
        self._exact = exact_index(names) if names else None
        self._masks = MaskedParts[tuple[Mask, Mask]](_MASKS, lambda _: 1)

    def width(self, k: int) -> int:
        """Tell how many built names a tier must propose, so that about k of them are left."""
        return k + min(len(self._dropped), _MORE)

    def built_mask(self, mask: Mask | None) -> Mask | None:
        """Take the part of a mask that is of the built names."""
        return None if mask is None else self._masks.get(mask, self._split)[0]

    def without_dropped(self, hits: Hits, k: int) -> Hits:
        """Leave out the rows that were taken away, and keep the k best of the others."""
        gone = np.isin(hits.rows, self._dropped)
        rows, scores = (
            np.where(gone, -1, hits.rows),
            np.where(gone, np.float32(-np.inf), hits.scores),
        )
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return Hits(
            np.take_along_axis(rows, best, axis=1), np.take_along_axis(scores, best, axis=1)
        )

    def with_exact(self, hits: Hits, texts: Sequence[str], k: int, mask: Mask | None) -> Hits:
        """Add the added names with the key of a text to what the exact tier found.

        mask (Optional[Mask]): over all names.
        """
        if self._exact is not None:
            second = None if mask is None else self._masks.get(mask, self._split)[1]
            added = self._exact.search(texts, k, second)
            rows = np.where(added.rows >= 0, added.rows + self.built, -1)
            scores = np.hstack([hits.scores, added.scores])
            hits = Hits(np.hstack([hits.rows, rows]), scores)
        return self.without_dropped(hits, k)

    def built_rows(self, rows: Ints2d) -> Ints2d:
        """Replace the rows of added names by -1."""
        return np.where(rows >= self.built, -1, rows)

    def scored(self, scores: Floats2d, rows: Ints2d) -> Floats2d:
        """Give added names the score 1: the text is this name, and any tier would score it so."""
        return np.where(rows >= self.built, np.float32(1), scores)

    def _split(self, mask: Mask) -> tuple[Mask, Mask]:
        """Split a mask into one for the built names and one for the added names."""
        allowed = np.unpackbits(mask.bits, count=mask.size, bitorder="little").astype(np.bool_)
        return Mask.of(allowed[: self.built]), Mask.of(allowed[self.built :])


def exact_index(names: Sequence[str]) -> ExactIndex:
    """Build the exact tier of a few names; their positions are their rows."""
    entries = np.sort(hashed(0, names), order=("hash", "name"))
    pairs = zip(entries["hash"].tolist(), entries["name"].tolist(), strict=True)
    return ExactIndex.build(pairs, names)
