"""Tiers: the names that the tiers propose for a text, scored by all tiers on equal terms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..retrieval.concepts import MEMORY
from ..retrieval.exact import IN_CAPITALS
from ..types import Floats1d, Floats2d, Hits, Ints1d, Ints2d, Mention

if TYPE_CHECKING:  # the tiers are imported only if they are used
    from ..retrieval.added import AddedNames
    from ..retrieval.dense import DenseIndex
    from ..retrieval.exact import ExactIndex
    from ..retrieval.mask import Mask
    from ..retrieval.memory import MentionMemory

TIERS = ("exact", "ngram", "dense")


class Found(NamedTuple):
    """Names for n texts.

    rows (Ints2d): (n, m), -1 where there is none; a row may occur twice.
    scores (Dict[str, Floats2d]): of these names by each tier, (n, m).
    hits (Dict[str, Hits]): the names that each tier itself proposed, (n, own width).
    """

    rows: Ints2d
    scores: dict[str, Floats2d]
    hits: dict[str, Hits]

    def complete(self, width: int) -> NDArray[np.bool_]:
        """Tell for each text whether no tier has more than the `width` names asked for: (n,)."""
        more = [
            hits.rows[:, width - 1] >= 0
            for hits in self.hits.values() if hits.rows.shape[1] >= width
        ]  # fmt: skip
        return ~np.any(more, axis=0) if more else np.ones(len(self.rows), dtype=np.bool_)


class NgramTier(Protocol):
    """The methods that an n-gram tier must have.

    uses_same (bool): whether a search is faster for a text that is known to be a name.
    """

    uses_same: bool

    @property
    def idf(self) -> Floats1d:
        """Weight of each trigram bucket."""

    def search(
        self,
        texts: Sequence[str],
        k: int,
        mask: "Mask | None" = None,
        same: Ints1d | None = None,
    ) -> Hits:
        """Find the k names that are most similar to each text.

        same (Optional[Ints1d]): for each text the row of a name with its key, or -1.
        """

    def score(self, texts: Sequence[str], rows: Ints2d) -> Floats2d:
        """Score name rows (n, m) for each text."""


@dataclass(frozen=True)
class Tiers:
    """The tiers to ask; None leaves one out.

    name_concept (NDArray[int32]): concept row of every name row, ascending except for added names.
    memory: corrections. added (Optional[AddedNames]): names added after the tiers were built.
    """

    name_concept: NDArray[np.int32]
    exact: "ExactIndex | None" = None
    ngram: NgramTier | None = None
    dense: "DenseIndex | None" = None
    memory: "MentionMemory | None" = None
    added: "AddedNames | None" = None

    def search(
        self,
        texts: Sequence[str],
        vectors: Floats2d | None,
        width: int,
        mask: "Mask | None" = None,
        label: str = "",
    ) -> Found:
        """Search all tiers, then let each tier score the names of the others.

        vectors (Optional[Floats2d]): of the texts, (n, dim), for the dense tier.
        width (int): names that each tier proposes. label (str): of the mentions, for the memory.
        """
        hits: dict[str, Hits] = {}
        if self.memory is not None:
            hits[MEMORY] = self.remembered(texts, mask, label)
        indices: dict[str, Any] = {"exact": self.exact, "ngram": self.ngram, "dense": self.dense}
        for tier, index in indices.items():
            queries = vectors if tier == "dense" else texts
            if index is None or queries is None:
                continue
            search = index.search
            if tier == "ngram" and "exact" in hits:
                search = partial(search, same=self._same(hits["exact"]))
            if self.added is None:
                hits[tier] = search(queries, width, mask)
            else:
                hits[tier] = self.added.search(tier, search, queries, width, mask)
        none = np.empty((len(texts), 0), dtype=np.int64)
        rows = np.hstack([none, *(own.rows for own in hits.values())])
        return Found(rows, self._scores(texts, vectors, rows, hits), hits)

    def remembered(self, texts: Sequence[str], mask: "Mask | None", label: str) -> Hits:
        """Find the concept that corrections give each text, by an allowed name: (n, 1)."""
        rows = np.full((len(texts), 1), -1, dtype=np.int64)
        if self.memory is not None:
            for place, concept in enumerate(self.memory.find(texts, label).tolist()):
                if concept >= 0:
                    rows[place] = self._a_name(concept, mask)
        return Hits(rows, np.where(rows >= 0, np.float32(1), np.float32(-np.inf)))

    def denied(self, mentions: Sequence[Mention]) -> list[bool]:
        """Tell for each mention whether corrections say that it is no concept."""
        if self.memory is None or not self.memory.has_nil:
            return [False] * len(mentions)
        said: dict[tuple[str, str], bool] = {}
        texts = [(one.label, one.long_form or one.text) for one in mentions]
        for label in dict.fromkeys(label for label, _ in texts):
            own = list(dict.fromkeys(text for other, text in texts if other == label))
            found = self.memory.denies(own, label).tolist()
            said.update(zip(((label, text) for text in own), found, strict=True))
        return [said[one] for one in texts]

    def has_name(self, concept: int, mask: "Mask | None") -> bool:
        """Tell whether a concept has a name that the mask allows."""
        return self._a_name(concept, mask) >= 0

    def search_exact(
        self, texts: Sequence[str], width: int, mask: "Mask | None", label: str
    ) -> Found:
        """Ask only the memory and the exact tier."""
        own = Tiers(self.name_concept, exact=self.exact, memory=self.memory, added=self.added)
        return own.search(texts, None, width, mask, label)

    def _same(self, exact: Hits) -> Ints1d:
        """Get the row of the first built name with the key of each text, -1 where there is none."""
        built = len(self.name_concept) if self.added is None else self.added.built
        first: Ints1d = exact.rows[:, :1].max(axis=1, initial=-1)
        return np.where(first < built, first, -1)

    def _scores(
        self,
        texts: Sequence[str],
        vectors: Floats2d | None,
        rows: Ints2d,
        hits: Mapping[str, Hits],
    ) -> dict[str, Floats2d]:
        scores: dict[str, Floats2d] = {}
        start = 0
        for tier, own in hits.items():
            end = start + own.rows.shape[1]
            before, after = rows[:, :start], rows[:, end:]
            if tier == MEMORY:
                scores[tier] = self._same_concept(own.rows, rows)
            elif tier == "exact":
                # The exact tier wins over other columns with the same name: no need to fill them.
                scores[tier] = filled(own.scores, (start, rows.shape[1] - end))
            else:
                parts = [self._score(tier, texts, vectors, part) for part in (before, after)]
                scores[tier] = np.hstack([parts[0], filled(own.scores), parts[1]])
            start = end
        if "exact" in scores and "dense" in scores:
            # One string in any case counts as one vector: the machine that encoded the names may
            # have computed in another precision, and the index may round.
            identical = scores["exact"] >= np.float32(IN_CAPITALS)
            scores["dense"] = np.where(identical, np.float32(1), scores["dense"])
        return scores

    def _score(
        self, tier: str, texts: Sequence[str], vectors: Floats2d | None, rows: Ints2d
    ) -> Floats2d:
        index: Any = self.ngram if tier == "ngram" else self.dense
        queries = texts if tier == "ngram" else vectors
        if self.added is not None:
            return self.added.score(index, queries, rows)
        scores: Floats2d = index.score(queries, rows)
        return scores

    def _same_concept(self, remembered: Ints2d, rows: Ints2d) -> Floats2d:
        if not remembered.size or not (remembered >= 0).any():
            return np.zeros(rows.shape, dtype=np.float32)
        concept = np.where(remembered >= 0, self.name_concept[np.maximum(remembered, 0)], -1)
        same: NDArray[np.bool_] = (self.name_concept[np.maximum(rows, 0)] == concept) & (rows >= 0)
        return same.astype(np.float32)

    def _a_name(self, concept: int, mask: "Mask | None") -> int:
        """Get the first name of a concept that the mask allows, -1 where there is none."""
        ascending = (
            self.name_concept if self.added is None else self.name_concept[: self.added.built]
        )
        # A number of another type would make numpy copy all rows.
        wanted = ascending.dtype.type(concept)
        first = int(np.searchsorted(ascending, wanted))
        if mask is None:
            return first
        end = int(np.searchsorted(ascending, wanted, side="right"))
        rows: Ints1d = np.arange(first, end)
        passing = rows[mask.passes(rows)]
        return int(passing[0]) if len(passing) else -1


def filled(scores: Floats2d, columns: tuple[int, int] = (0, 0)) -> Floats2d:
    """Replace minus infinity of the padding by 0, and add columns of 0 before and after."""
    known = np.where(np.isfinite(scores), scores, np.float32(0))
    return np.pad(known, ((0, 0), columns))
