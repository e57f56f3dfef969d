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
from ..linking.tiers import ScoredNames
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
        distinct = list(dict.fromkeys(example.text for example in examples))
        self._place = {text: at for at, text in enumerate(distinct)}
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
        other._parts = [_of_tiers(part, {MEMORY, *tiers}) for part in self._parts]
        return other

    def asking(self, engine: Linker) -> "RetrievedExamples":
        """Make a copy that another linker ranks: over the same tiers, with another fusion."""
        other = copy(self)
        other.engine = engine
        return other

    def of_kinds(self, kinds: Collection[str]) -> list[NameExample]:
        """List the examples of some kinds."""
        return [example for example in self.examples if example.kind in kinds]

    def found(self, examples: Sequence[NameExample]) -> ScoredNames:
        """Get the results for examples, without the names that they hide."""
        return _stacked([self._found(example) for example in examples])

    def rank(self, examples: Sequence[NameExample], k: int) -> list[list[Candidate]]:
        """Rank concepts for examples, each as if the knowledge base lacked its hidden names."""
        rankings: list[list[Candidate]] = []
        for start in range(0, len(examples), _BATCH):
            batch = examples[start : start + _BATCH]
            texts, linker = [example.text for example in batch], self.engine
            retrieved = linker.retrieval.ranked(
                texts, self.found(batch), linker.scope(""), linker.width(k)
            )
            rankings += linker.rank(list(map(Mention, texts)), k, retrieved=retrieved)
        return rankings

    def _found(self, example: NameExample) -> ScoredNames:
        """Get the results for one example: arrays of one row."""
        part, row = divmod(self._place[example.text], _BATCH)
        part_found = self._parts[part]
        result = ScoredNames(
            part_found.rows[row : row + 1],
            {tier: values[row : row + 1] for tier, values in part_found.scores.items()},
            {tier: _row_of(hits, row) for tier, hits in part_found.hits.items()},
        )
        hidden = np.asarray(sorted(example.hidden), dtype=np.int64)
        return _without(result, hidden) if len(hidden) else result


def _stacked(parts: Sequence[ScoredNames]) -> ScoredNames:
    """Join the results for several texts, padded to the same width."""
    return ScoredNames(
        _padded([part.rows for part in parts], -1),
        {tier: _padded([part.scores[tier] for part in parts], 0) for tier in parts[0].scores},
        {
            tier: Hits(
                _padded([part.hits[tier].rows for part in parts], -1),
                _padded([part.hits[tier].scores for part in parts], -np.inf),
            )
            for tier in parts[0].hits
        },
    )


def _padded(arrays: Sequence[NDArray[Number]], filler: float) -> NDArray[Number]:
    width = max(array.shape[1] for array in arrays)
    whole = np.full((sum(map(len, arrays)), width), filler, dtype=arrays[0].dtype)
    start = 0
    for array in arrays:
        whole[start : start + len(array), : array.shape[1]] = array
        start += len(array)
    return whole


def _of_tiers(scored: ScoredNames, tiers: Collection[str]) -> ScoredNames:
    """Leave out the names of other tiers, and the scores of these tiers for them."""
    owners = np.repeat(list(scored.hits), [values.rows.shape[1] for values in scored.hits.values()])
    kept = np.isin(owners, list(tiers))
    return ScoredNames(
        scored.rows[:, kept],
        {tier: values[:, kept] for tier, values in scored.scores.items() if tier in tiers},
        {tier: values for tier, values in scored.hits.items() if tier in tiers},
    )


def _row_of(hits: Hits, row: int) -> Hits:
    return Hits(hits.rows[row : row + 1], hits.scores[row : row + 1])


def _without(scored: ScoredNames, hidden: NDArray[np.int64]) -> ScoredNames:
    gone = np.isin(scored.rows, hidden)
    scores = {tier: np.where(gone, np.float32(0), values) for tier, values in scored.scores.items()}
    hits = {tier: _hits_without(values, hidden) for tier, values in scored.hits.items()}
    return ScoredNames(np.where(gone, -1, scored.rows), scores, hits)


def _hits_without(hits: Hits, hidden: NDArray[np.int64]) -> Hits:
    gone = np.isin(hits.rows, hidden)
    return Hits(np.where(gone, -1, hits.rows), np.where(gone, np.float32(-np.inf), hits.scores))
