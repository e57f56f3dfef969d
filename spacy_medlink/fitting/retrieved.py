"""RetrievedExamples: examples that are searched once, and ranked any number of times.

Encoding and searching take most of the time. To rank without a name or a concept, the same results
are used, without the names that an example hides.
"""

from collections.abc import Collection, Sequence
from copy import copy
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..linking import Linker
from ..linking.tiers import Found
from ..retrieval.concepts import MEMORY
from ..types import Candidate, Hits, Mention, Progress
from ..util.progress import no_progress
from .name_examples import SAMPLE, NameExample, name_examples

WIDTH = 128  # names of each tier: twice a linker's, since some will be hidden
_BATCH = 512
Number = TypeVar("Number", np.int64, np.float32)


class RetrievedExamples:
    """Examples made of names, and the results of a linker's tiers for them.

    engine (Linker): asked without filters. examples (Sequence[NameExample]): equal texts are
        searched once.
    """

    def __init__(
        self, engine: Linker, examples: Sequence[NameExample], progress: Progress = no_progress
    ) -> None:
        self.engine, self.examples = engine, list(examples)
        distinct = list(dict.fromkeys(one.text for one in examples))
        self._place = {text: place for place, text in enumerate(distinct)}
        starts = range(0, len(distinct), _BATCH)
        self._parts = [
            engine.retrieval.search(distinct[start : start + _BATCH], WIDTH)
            for start in progress(starts, len(starts), "looking examples up")
        ]

    @classmethod
    def of(
        cls,
        engine: Linker,
        kb: KnowledgeBase,
        progress: Progress = no_progress,
        sample: int = SAMPLE,
    ) -> "RetrievedExamples":
        """Make the examples of a knowledge base. sample (int): concepts that give a name."""
        return cls(engine, name_examples(kb, sample), progress)

    def of_tiers(self, tiers: Collection[str]) -> "RetrievedExamples":
        """Make a copy without the results of other tiers, as if they had not been asked."""
        other = copy(self)
        other._parts = [_of_tiers(own, {MEMORY, *tiers}) for own in self._parts]
        return other

    def asking(self, engine: Linker) -> "RetrievedExamples":
        """Make a copy that another linker ranks: over the same tiers, with another fusion."""
        other = copy(self)
        other.engine = engine
        return other

    def of_kinds(self, kinds: Collection[str]) -> list[NameExample]:
        """List the examples of some kinds."""
        return [one for one in self.examples if one.kind in kinds]

    def found(self, examples: Sequence[NameExample]) -> Found:
        """Get the results for examples, without the names that they hide."""
        return _stacked([self._found(one) for one in examples])

    def rank(self, examples: Sequence[NameExample], k: int) -> list[list[Candidate]]:
        """Rank concepts for examples, each as if the knowledge base lacked its hidden names."""
        rankings: list[list[Candidate]] = []
        for start in range(0, len(examples), _BATCH):
            own = examples[start : start + _BATCH]
            texts, linker = [example.text for example in own], self.engine
            retrieved = linker.retrieval.ranked(
                texts, self.found(own), linker.scope(""), linker.width(k)
            )
            rankings += linker.rank(list(map(Mention, texts)), k, retrieved=retrieved)
        return rankings

    def _found(self, example: NameExample) -> Found:
        """Get the results for one example: arrays of one row."""
        part, place = divmod(self._place[example.text], _BATCH)
        own = self._parts[part]
        found = Found(
            own.rows[place : place + 1],
            {tier: values[place : place + 1] for tier, values in own.scores.items()},
            {tier: _row_of(hits, place) for tier, hits in own.hits.items()},
        )
        hidden = np.asarray(sorted(example.hidden), dtype=np.int64)
        return _without(found, hidden) if len(hidden) else found


def _stacked(found: Sequence[Found]) -> Found:
    """Join the results for several texts, padded to the same width."""
    return Found(
        _padded([one.rows for one in found], -1),
        {tier: _padded([one.scores[tier] for one in found], 0) for tier in found[0].scores},
        {
            tier: Hits(
                _padded([one.hits[tier].rows for one in found], -1),
                _padded([one.hits[tier].scores for one in found], -np.inf),
            )
            for tier in found[0].hits
        },
    )


def _padded(arrays: Sequence[NDArray[Number]], filler: float) -> NDArray[Number]:
    width = max(one.shape[1] for one in arrays)
    whole = np.full((sum(map(len, arrays)), width), filler, dtype=arrays[0].dtype)
    start = 0
    for one in arrays:
        whole[start : start + len(one), : one.shape[1]] = one
        start += len(one)
    return whole


def _of_tiers(found: Found, tiers: Collection[str]) -> Found:
    """Leave out the names of other tiers, and the scores of these tiers for them."""
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
