"""Lookups: texts that are searched once, and ranked as often as is wanted with some names hidden.

Encoding and searching are what costs. What a linker would say if it lacked a name or a concept is
read from the same answers, without the names that it would lack.
"""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from ..linking import LinkingEngine
from ..linking.tiers import Found
from ..types import Candidate, Hits, Mention

WIDTH = 128  # names that each tier proposes: twice a linker's, since some will be hidden
_BATCH = 512


class Lookups:
    """The answers of an engine for some texts.

    engine (LinkingEngine): its fusion and its rescorer may be changed between rankings.
    texts (Sequence[str]): equal ones are searched once.
    """

    def __init__(self, engine: LinkingEngine, texts: Sequence[str]) -> None:
        self.engine = engine
        distinct = list(dict.fromkeys(texts))
        self._place = {text: place for place, text in enumerate(distinct)}
        self._parts = [
            engine.look_up(distinct[start : start + _BATCH], WIDTH)
            for start in range(0, len(distinct), _BATCH)
        ]

    def found(self, text: str, hidden: Collection[int] = ()) -> Found:
        """Get what was found for a text, without hidden name rows: arrays of one row."""
        part, place = divmod(self._place[text], _BATCH)
        own = self._parts[part]
        found = Found(
            own.rows[place : place + 1],
            {tier: values[place : place + 1] for tier, values in own.scores.items()},
            {tier: _row_of(hits, place) for tier, hits in own.hits.items()},
        )
        return _without(found, np.asarray(sorted(hidden), dtype=np.int64)) if hidden else found

    def rank(self, text: str, k: int, hidden: Collection[int] = ()) -> list[Candidate]:
        """Rank concepts for a text as if the knowledge base had no hidden names."""
        return self.engine.rank_found(Mention(text), self.found(text, hidden), k)


def _row_of(hits: Hits, place: int) -> Hits:
    return Hits(hits.rows[place : place + 1], hits.scores[place : place + 1])


def _without(found: Found, hidden: NDArray[np.int64]) -> Found:
    gone = np.isin(found.rows, hidden)
    scores = {tier: np.where(gone, np.float32(0), own) for tier, own in found.scores.items()}
    hits = {tier: _hits_without(own, hidden) for tier, own in found.hits.items()}
    return Found(np.where(gone, -1, found.rows), scores, hits)


def _hits_without(hits: Hits, hidden: NDArray[np.int64]) -> Hits:
    gone = np.isin(hits.rows, hidden)
    return Hits(
        np.where(gone, -1, hits.rows), np.where(gone, np.float32(-np.inf), hits.scores)
    )
