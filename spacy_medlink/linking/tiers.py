"""Tiers: the names that the tiers propose for a text, scored by all tiers on equal terms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..retrieval.concepts import MEMORY
from ..retrieval.exact import IN_CAPITALS
from ..retrieval.tier import EXACT, Tier
from ..types import Floats2d, Hits, Ints1d, Ints2d, Mention

if TYPE_CHECKING:  # the tiers are imported only if they are used
    from ..retrieval.added import AddedNames
    from ..retrieval.exact import ExactIndex
    from ..retrieval.mask import Mask
    from ..retrieval.memory import MentionMemory


class ScoredNames(NamedTuple):
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


class _Asking(NamedTuple):
    """A tier, the queries that it is asked, and what it has prepared of them."""

    tier: Tier
    queries: Any
    weighed: Any


@dataclass(frozen=True)
class Tiers:
    """The tiers to ask.

    exact (Optional[ExactIndex]): asked first, since its answers help the others.
    others (Mapping[str, Tier]): by name, in the order in which they are asked.
    name_concept (NDArray[int32]): concept row of every name row, ascending except for added names.
    memory: corrections. added (Optional[AddedNames]): names added after the tiers were built.
    """

    name_concept: NDArray[np.int32]
    exact: "ExactIndex | None" = None
    others: Mapping[str, Tier] = field(default_factory=dict)
    memory: "MentionMemory | None" = None
    added: "AddedNames | None" = None

    def search(
        self,
        texts: Sequence[str],
        vectors: Floats2d | None,
        width: int,
        mask: "Mask | None" = None,
        label: str = "",
    ) -> ScoredNames:
        """Search all tiers, then let each tier score the names of the others.

        vectors (Optional[Floats2d]): of the texts, (n, dim), for tiers that ask vectors; None
            leaves these out.
        width (int): names that each tier proposes. label (str): of the mentions, for the memory.
        """
        added, hits = self.added, dict[str, Hits]()
        asked, first = width, mask
        if added is not None:
            asked, first = added.width(width), added.built_mask(mask)
        if self.memory is not None:
            hits[MEMORY] = self._remembered(self.memory.find(texts, label).tolist(), mask)
        if self.exact is not None:
            hits[EXACT] = self.exact.search(texts, asked, first)
            if added is not None:
                hits[EXACT] = added.with_exact(hits[EXACT], texts, width, mask)
        same = self._same(hits[EXACT]) if EXACT in hits else None
        asking = self._asking(texts, vectors)
        for name, (tier, queries, weighed) in asking.items():
            hits[name] = tier.search(queries, asked, first, same, weighed)
            if added is not None:
                hits[name] = added.without_dropped(hits[name], width)
        none = np.empty((len(texts), 0), dtype=np.int64)
        rows = np.hstack([none, *(proposed.rows for proposed in hits.values())])
        return ScoredNames(rows, self._scores(asking, rows, hits), hits)

    def _asking(self, texts: Sequence[str], vectors: Floats2d | None) -> dict[str, _Asking]:
        """Prepare the queries of each tier that can be asked."""
        asking = {}
        for name, tier in self.others.items():
            queries = vectors if tier.asks_vectors else texts
            if queries is not None:
                asking[name] = _Asking(tier, queries, tier.weigh(queries))
        return asking

    def denied(self, mentions: Sequence[Mention]) -> list[bool]:
        """Tell for each mention whether corrections say that it is no concept."""
        if self.memory is None or not self.memory.has_nil:
            return [False] * len(mentions)
        denied_texts: dict[tuple[str, str], bool] = {}
        texts = [(mention.label, mention.long_form or mention.text) for mention in mentions]
        for label in dict.fromkeys(label for label, _ in texts):
            asked = list(dict.fromkeys(text for other, text in texts if other == label))
            denied = self.memory.denies(asked, label).tolist()
            denied_texts.update(zip(((label, text) for text in asked), denied, strict=True))
        return [denied_texts[text] for text in texts]

    def has_name(self, concept: int, mask: "Mask | None") -> bool:
        """Tell whether a concept has a name that the mask allows."""
        return self._a_name(concept, mask) >= 0

    def _remembered(self, concepts: Sequence[int], mask: "Mask | None") -> Hits:
        """Make an allowed name of each concept, -1 for none, the answer of corrections: (n, 1)."""
        names = [-1 if concept < 0 else self._a_name(concept, mask) for concept in concepts]
        rows = np.array(names, dtype=np.int64).reshape(-1, 1)
        return Hits(rows, np.where(rows >= 0, np.float32(1), np.float32(-np.inf)))

    def _same(self, exact: Hits) -> Ints1d:
        """Get the row of the first built name with the key of each text, -1 where there is none."""
        built = len(self.name_concept) if self.added is None else self.added.built
        first: Ints1d = exact.rows[:, :1].max(axis=1, initial=-1)
        return np.where(first < built, first, -1)

    def _scores(
        self, asking: Mapping[str, _Asking], rows: Ints2d, hits: Mapping[str, Hits]
    ) -> dict[str, Floats2d]:
        """Score all names by each tier: its own as it found them, those of the others once."""
        scores: dict[str, Floats2d] = {}
        start = 0
        for tier, proposed in hits.items():
            end = start + proposed.rows.shape[1]
            if tier == MEMORY:
                scores[tier] = self._same_concept(proposed.rows, rows)
            elif tier == EXACT:
                # The exact tier wins over other columns with the same name: no need to fill them.
                scores[tier] = filled(proposed.scores, (start, rows.shape[1] - end))
            else:
                others = np.hstack([rows[:, :start], rows[:, end:]])
                others_scores = self._score(asking[tier], others)
                scores[tier] = np.hstack(
                    [others_scores[:, :start], filled(proposed.scores), others_scores[:, start:]]
                )
            start = end
        if EXACT in scores:
            # One string in any case counts as one vector: the machine that encoded the names may
            # have computed in another precision, and the index may round.
            identical = scores[EXACT] >= np.float32(IN_CAPITALS)
            for name in asking:
                if self.others[name].asks_vectors:
                    scores[name] = np.where(identical, np.float32(1), scores[name])
        return scores

    def _score(self, asking: _Asking, rows: Ints2d) -> Floats2d:
        asked = rows if self.added is None else self.added.built_rows(rows)
        scores = asking.tier.score(asking.queries, asked, asking.weighed)
        return scores if self.added is None else self.added.scored(scores, rows)

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
    finite = np.where(np.isfinite(scores), scores, np.float32(0))
    return np.pad(finite, ((0, 0), columns))


def of_texts(tiers: Mapping[str, Tier]) -> dict[str, Tier]:
    """Leave out the tiers that ask vectors."""
    return {name: tier for name, tier in tiers.items() if not tier.asks_vectors}
