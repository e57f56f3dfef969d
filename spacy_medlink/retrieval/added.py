"""AddedNames: names added to an index after it was built, and rows that are no longer names.

The added names have an exact tier of their own; the other tiers know them after the next build.
"""

from collections.abc import Collection, Sequence
from typing import Any, Protocol

import numpy as np

from ..kb.lookup import hashed
from ..types import Floats2d, Hits, Ints1d, Ints2d
from .exact import ExactIndex
from .mask import Mask, MaskedParts

_MASKS = 64  # masks whose two parts are remembered
_MORE = 256  # rows that a search asks for beyond those wanted, at most


class _Search(Protocol):
    """The search of a tier; queries are texts, or vectors of texts."""

    def __call__(self, queries: Any, k: int, mask: Mask | None = None, /) -> Hits:
        """Find k names for each query."""


class _Scores(Protocol):
    """A tier that can score any name."""

    def score(self, queries: Any, rows: Ints2d) -> Floats2d:
        """Score names (n, m) for each query."""


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

    def search(
        self, tier: str, search: _Search, queries: Any, k: int, mask: Mask | None = None
    ) -> Hits:
        """Search the built index of a tier; for the exact tier the added names, too.

        search (_Search): of the tier, over the first `built` names. mask (Optional[Mask]): over
            all.
        """
        first, second = (None, None) if mask is None else self._masks.get(mask, self._split)
        built = search(queries, k + min(len(self._dropped), _MORE), first)
        gone = np.isin(built.rows, self._dropped)
        rows = [np.where(gone, -1, built.rows)]
        scores = [np.where(gone, np.float32(-np.inf), built.scores)]
        if tier == "exact" and self._exact is not None:
            added = self._exact.search(queries, k, second)
            rows.append(np.where(added.rows >= 0, added.rows + self.built, -1))
            scores.append(added.scores)
        all_rows, all_scores = np.hstack(rows), np.hstack(scores)
        best = np.argsort(-all_scores, axis=1, kind="stable")[:, :k]
        return Hits(
            np.take_along_axis(all_rows, best, axis=1), np.take_along_axis(all_scores, best, axis=1)
        )

    def score(self, index: _Scores, queries: Any, rows: Ints2d) -> Floats2d:
        """Score names (n, m) for each query, by the built index of the n-gram or dense tier.

        An added name is there only where the text is this name, which either tier would score 1.
        """
        is_added = rows >= self.built
        scores = index.score(queries, np.where(is_added, -1, rows))
        return np.where(is_added, np.float32(1), scores)

    def _split(self, mask: Mask) -> tuple[Mask, Mask]:
        """Split a mask into one for the built names and one for the added names."""
        allowed = np.unpackbits(mask.bits, count=mask.size, bitorder="little").astype(np.bool_)
        return Mask.of(allowed[: self.built]), Mask.of(allowed[self.built :])


def exact_index(names: Sequence[str]) -> ExactIndex:
    """Build the exact tier of a few names; their positions are their rows."""
    entries = np.sort(hashed(0, names), order=("hash", "name"))
    pairs = zip(entries["hash"].tolist(), entries["name"].tolist(), strict=True)
    return ExactIndex.build(pairs, names)
