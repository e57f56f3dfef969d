"""Ranking gold mentions with an engine, and judging the rankings by either protocol."""

import time
from collections.abc import Collection, Hashable, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..evaluation import Outcome, first_right, paper_key
from ..kb import KnowledgeBase
from ..linking import LinkingEngine
from ..progress import no_progress
from ..types import Progress
from .gold_set import Case

PROTOCOLS = ("concepts", "names")
_BATCH = 512
# A tier must propose enough names for k distinct answers. Up to half of the engine's default
# nothing changes, so that acc@1 does not depend on which other depths are asked for.
_NAMES_PER_TIER = 64


class Judged(NamedTuple):
    """Outcomes of cases in their order, and the seconds that ranking took."""

    outcomes: list[Outcome]
    seconds: float


class _Ranked(NamedTuple):
    """Answers for a mention, best first, and the score of the best."""

    answers: Sequence[Hashable]
    score: float


def names_per_tier(depth: int) -> int:
    """Tell how many names each tier must propose so that rankings reach a depth."""
    return max(_NAMES_PER_TIER, 2 * depth)


def judge(
    engine: LinkingEngine,
    kb: KnowledgeBase,
    cases: Sequence[Case],
    *,
    depth: int,
    protocol: str = "concepts",
    threshold: float = 0.0,
    progress: Progress = no_progress,
    what: str = "ranking",
) -> Judged:
    """Rank mentions and judge the rankings.

    depth (int): answers wanted of each ranking.
    protocol (str): "concepts" counts concepts. "names" counts distinct names, as the papers do: a
        name is right if any concept that has it is gold; of an abbreviation, only the long form is
        searched.
    threshold (float): a best answer that scores less is no link (NIL).
    RETURNS (Judged): the outcomes; the seconds are those of ranking alone.
    """
    by_names = protocol == "names"
    names = _Names(kb)
    outcomes: list[Outcome] = []
    seconds = 0.0
    starts = range(0, len(cases), _BATCH)
    for start in progress(starts, len(starts), what):
        batch = cases[start : start + _BATCH]
        began = time.perf_counter()
        ranked = _rank_names(engine, names, batch) if by_names else _rank(engine, batch, depth)
        seconds += time.perf_counter() - began
        for case, (answers, score) in zip(batch, ranked, strict=True):
            right: Collection[Hashable] = names.keys_of(case.right) if by_names else case.right
            rank = first_right(answers, right)
            abstained = not answers or score < threshold
            outcomes.append(_outcome(case, rank if rank <= depth else 0, abstained))
    return Judged(outcomes, seconds)


def _rank(engine: LinkingEngine, cases: Sequence[Case], depth: int) -> list[_Ranked]:
    rankings = engine.rank([case.mention for case in cases], depth)
    return [
        _Ranked([candidate.row for candidate in ranking], ranking[0].score if ranking else 0.0)
        for ranking in rankings
    ]


def _rank_names(engine: LinkingEngine, names: "_Names", cases: Sequence[Case]) -> list[_Ranked]:
    texts = [case.mention.long_form or case.mention.text for case in cases]
    # All names that were found: many spell one name, and only distinct ones count.
    rankings = engine.rank_names(texts, len(engine.name_concept))
    return [
        _Ranked([names.key_at(row) for row, _ in ranking], ranking[0][1] if ranking else 0.0)
        for ranking in rankings
    ]


class _Names:
    """Reads names as the papers compare them, each once."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self.key_at = lru_cache(maxsize=1 << 18)(self._key_at)
        self._keys_of_concept = lru_cache(maxsize=1 << 16)(self._read_concept)

    def keys_of(self, rows: Collection[int]) -> frozenset[str]:
        """Make the keys of all names of some concepts."""
        return frozenset(key for row in rows for key in self._keys_of_concept(row))

    def _key_at(self, row: int) -> str:
        return paper_key(self._kb.name_at(row).text)

    def _read_concept(self, row: int) -> tuple[str, ...]:
        return tuple(paper_key(name.text) for name in self._kb.concept_at(row).names)


def _outcome(case: Case, rank: int, abstained: bool) -> Outcome:
    return Outcome(
        rank=rank,
        is_nil=not case.gold.ids,
        abstained=abstained,
        in_kb=bool(case.right),
        doc=case.doc,
        lang=case.lang,
        type=case.gold.type,
    )
