"""Where a wrong answer stands in the hierarchy, seen from the gold concept."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from ..evaluation import Outcome, distance
from ..kb import KnowledgeBase
from ..types import Candidate
from .gold_set import Case


def with_rollup(
    kb: KnowledgeBase,
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    candidates: Sequence[Sequence[Candidate]],
) -> list[Outcome]:
    """Add to outcomes how many steps lie between the gold concept and the first answer.

    RETURNS (List[Outcome]): the same where the knowledge base has no hierarchy.
    """
    parents = _reader(kb)
    if not any(parents(row) for case in cases for row in case.right):
        return list(outcomes)
    return [
        outcome._replace(
            rollup=distance(own[0].row, case.right, parents) if own and case.right else None
        )
        for case, outcome, own in zip(cases, outcomes, candidates, strict=True)
    ]


def _reader(kb: KnowledgeBase) -> Callable[[int], tuple[int, ...]]:
    @lru_cache(maxsize=1 << 20)
    def row_of(id: str) -> int:
        return kb[id].row if id in kb else -1

    @lru_cache(maxsize=1 << 20)
    def parents(row: int) -> tuple[int, ...]:
        above = (row_of(parent) for parent in kb.concept_at(row, names=False).parents)
        return tuple(row for row in above if row >= 0)

    return parents
