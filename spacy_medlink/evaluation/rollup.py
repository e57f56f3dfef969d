"""Roll-up: wrong answers that are above or below the gold concept in the hierarchy.

"Diabetes" for "type 2 diabetes" is a smaller mistake than "asthma". The measure is the number of
steps between the answer and the gold concept.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from itertools import chain

from ..kb import KnowledgeBase
from ..kb.related import levels
from ..types import Candidate
from .gold_set import Case
from .intervals import fraction
from .outcome import Metrics, Outcome

Parents = Callable[[int], Iterable[int]]
_NEAR = (1, 2)


def distance(answer: int, gold: Collection[int], parents: Parents) -> int | None:
    """Compute the number of steps from a gold concept to the answer.

    answer (int): concept row. gold (Collection[int]): rows of the right concepts; the nearest
        counts. parents (Parents): gets the rows above a concept row.
    RETURNS (Optional[int]): steps up (the answer is an ancestor), negative for steps down (a
        descendant), 0 for a right answer; None where neither is above the other.
    """
    if answer in gold:
        return 0
    above = _ancestors(answer, parents)
    steps_up = [-above[row] for row in gold if row in above]
    steps_up += [ways[answer] for row in gold if answer in (ways := _ancestors(row, parents))]
    return min(steps_up, key=lambda steps: (abs(steps), -steps), default=None)


def rollup_metrics(outcomes: Sequence[Outcome]) -> Metrics:
    """Compute how many first answers are right, or above or below the gold concept.

    RETURNS (Metrics): counts "ancestor" and "descendant" of wrong answers, "by_distance"
        (steps up, negative down), and the accuracies "acc@1_within_1", "_within_2" and "_any".
    """
    counts = Counter(outcome.rollup for outcome in outcomes if outcome.rollup is not None)
    n = len(outcomes)
    near = {
        f"acc@1_within_{steps}": fraction(
            sum(count for distance, count in counts.items() if abs(distance) <= steps), n
        )
        for steps in _NEAR
    }
    return {
        "ancestor": sum(count for steps, count in counts.items() if steps > 0),
        "descendant": sum(count for steps, count in counts.items() if steps < 0),
        "by_distance": {str(steps): counts[steps] for steps in sorted(counts)},
        **near,
        "acc@1_any": fraction(sum(counts.values()), n),
    }


def _ancestors(row: int, parents: Parents) -> dict[int, int]:
    return levels(row, lambda level: chain.from_iterable(map(parents, level)))


def steps_to_gold(
    kb: KnowledgeBase, cases: Sequence[Case], candidates: Sequence[Sequence[Candidate]]
) -> list[int | None]:
    """Count the steps from gold concept to first answer; all None without a hierarchy."""
    parents = lru_cache(maxsize=1 << 20)(kb.parents_at)
    if not any(parents(row) for case in cases for row in case.right):
        return [None] * len(cases)
    return [
        distance(ranked[0].row, case.right, parents) if ranked and case.right else None
        for case, ranked in zip(cases, candidates, strict=True)
    ]
