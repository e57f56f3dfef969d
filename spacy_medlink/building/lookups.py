"""Lookups: texts that are searched once, and ranked as often as is wanted with some names hidden.

Encoding and searching are what costs. What a linker would say if it lacked a name or a concept is
read from the same answers, without the names that it would lack.
"""

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..linking import LinkingEngine
from ..linking.tiers import Found
from ..progress import no_progress
from ..retrieval.concepts import MEMORY
from ..types import Candidate, Floats2d, Hits, Ints2d, Mention, Progress
from .name_examples import NameExample, name_examples

WIDTH = 128  # names that each tier proposes: twice a linker's, since some will be hidden
_BATCH = 512


class Lookups:
    """The answers of an engine for some texts.

    engine (LinkingEngine): its fusion and its rescorer may be changed between rankings.
    texts (Sequence[str]): equal ones are searched once.
    """

    def __init__(
        self, engine: LinkingEngine, texts: Sequence[str], progress: Progress = no_progress
    ) -> None:
        self.engine = engine
        distinct = list(dict.fromkeys(texts))
        self._place = {text: place for place, text in enumerate(distinct)}
        starts = range(0, len(distinct), _BATCH)
        self._parts = [
            engine.look_up(distinct[start : start + _BATCH], WIDTH)
            for start in progress(starts, len(starts), "looking examples up")
        ]

    def of_tiers(self, tiers: Collection[str]) -> "Lookups":
        """Leave out what other tiers found, as if they had not been asked."""
        other = copy(self)
        other._parts = [_of_tiers(own, {MEMORY, *tiers}) for own in self._parts]
        return other

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


class NameLookups(NamedTuple):
    """Examples made of names, and what is found for them."""

    examples: list[NameExample]
    lookups: Lookups

    @classmethod
    def of(
        cls, engine: LinkingEngine, kb: KnowledgeBase, progress: Progress = no_progress
    ) -> "NameLookups":
        """Look the examples of a knowledge base up."""
        examples = name_examples(kb)
        return cls(examples, Lookups(engine, [one.text for one in examples], progress))

    def of_tiers(self, tiers: Collection[str]) -> "NameLookups":
        """Leave out what other tiers found."""
        return self._replace(lookups=self.lookups.of_tiers(tiers))

    def of_kinds(self, kinds: Collection[str]) -> list[NameExample]:
        """List the examples of some kinds."""
        return [one for one in self.examples if one.kind in kinds]

    def scores(self, examples: Sequence[NameExample]) -> tuple[Ints2d, Mapping[str, Floats2d]]:
        """Get the names found for examples and what each tier says of them.

        RETURNS: rows (n, m), -1 where there is none or it is hidden; scores by tier (n, m).
        """
        found = [self.lookups.found(one.text, one.hidden) for one in examples]
        width = max((one.rows.shape[1] for one in found), default=0)
        rows = np.full((len(found), width), -1, dtype=np.int64)
        tiers = found[0].scores if found else {}
        scores: dict[str, Floats2d] = {
            tier: np.zeros(rows.shape, dtype=np.float32) for tier in tiers
        }
        for place, one in enumerate(found):
            end = one.rows.shape[1]
            rows[place, :end] = one.rows[0]
            for tier, values in one.scores.items():
                scores[tier][place, :end] = values[0]
        return rows, scores


def _of_tiers(found: Found, tiers: Collection[str]) -> Found:
    """Leave out the columns that other tiers proposed, and what these tiers said of the rest."""
    owners = np.repeat(list(found.hits), [own.rows.shape[1] for own in found.hits.values()])
    kept = np.isin(owners, list(tiers))
    return Found(
        found.rows[:, kept],
        {tier: own[:, kept] for tier, own in found.scores.items() if tier in tiers},
        {tier: own for tier, own in found.hits.items() if tier in tiers},
    )


def _row_of(hits: Hits, place: int) -> Hits:
    return Hits(hits.rows[place : place + 1], hits.scores[place : place + 1])


def _without(found: Found, hidden: NDArray[np.int64]) -> Found:
    gone = np.isin(found.rows, hidden)
    scores = {tier: np.where(gone, np.float32(0), own) for tier, own in found.scores.items()}
    hits = {tier: _hits_without(own, hidden) for tier, own in found.hits.items()}
    return Found(np.where(gone, -1, found.rows), scores, hits)


def _hits_without(hits: Hits, hidden: NDArray[np.int64]) -> Hits:
    gone = np.isin(hits.rows, hidden)
    return Hits(np.where(gone, -1, hits.rows), np.where(gone, np.float32(-np.inf), hits.scores))
