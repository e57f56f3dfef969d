"""Back-off: where several concepts are about equally likely, links to their common ancestor."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..kb import KnowledgeBase
from ..retrieval.mask import Mask
from ..types import Candidate

MARGIN = 0.02
NEAR_TIES = 25  # candidates to search for near ties
_LEVELS = 2  # levels above each leaf; more would lead to links to "disease"


class Backoff:
    """Finds the concept above near ties.

    kb (KnowledgeBase): with a hierarchy. margin (float): how much lower a near tie may score.
    mask (Optional[Mask]): the names that may be answers.
    parents (Optional[Callable]): lists the rows above a row; default: from the knowledge base.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        margin: float = MARGIN,
        mask: Mask | None = None,
        parents: Callable[[int], tuple[int, ...]] | None = None,
    ) -> None:
        self._kb, self._margin, self._mask = kb, margin, mask
        self._parents = parents or kb.parents_at

    def ancestor_of(self, ranking: Sequence[Candidate]) -> tuple[Candidate, tuple[int, ...]] | None:
        """Find the concept to link to instead of the best candidate.

        RETURNS (Optional[Tuple[Candidate, Tuple[int, ...]]]): the nearest concept at most two
            levels above all near ties (the shortest sum of ways, then the first id), with the
            best candidate's score; and the rows of the near ties. None where there is no near tie,
            no concept above all, or the best candidate itself is above the others.
        """
        best = ranking[0]
        near = [one for one in ranking if self._is_near(one, best)]
        if len(near) < 2:
            return None
        ways = [self._ways_up(one.row) for one in near]
        shared = set(ways[0]).intersection(*ways[1:])
        if not shared:
            return None
        total = {row: sum(way[row] for way in ways) for row in shared}
        shortest = min(total.values())
        nearest = [row for row, way in total.items() if way == shortest]
        row = min(nearest, key=lambda one: self._kb.concept_at(one, names=False).id)
        if row == best.row:
            return None
        name_row = self._a_name(row)
        if name_row is None:
            return None
        known = next((one for one in ranking if one.row == row), None)
        ancestor = (
            Candidate(row, name_row, best.score, {}, best.prob)
            if known is None
            else replace(known, score=best.score, prob=best.prob, tied=())
        )
        return ancestor, tuple(one.row for one in near)

    def _a_name(self, row: int) -> int | None:
        """Get the first name of a concept that the mask allows."""
        concept = self._kb.concept_at(row)
        rows = np.arange(concept.first_name, concept.first_name + len(concept.names))
        passing = rows if self._mask is None else rows[self._mask.passes(rows)]
        return int(passing[0]) if len(passing) else None

    def _is_near(self, one: Candidate, best: Candidate) -> bool:
        # A candidate with the mention as a name is no near tie of one that only resembles it.
        if best.scores.get("exact", 0) > 0 and not one.scores.get("exact", 0) > 0:
            return False
        return best.score - one.score <= self._margin

    def _ways_up(self, row: int) -> dict[int, int]:
        """Map a concept and its ancestors, up to two levels above, to their distance."""
        found = {row: 0}
        level: tuple[int, ...] = (row,)
        for distance in range(1, _LEVELS + 1):
            level = tuple(above for one in level for above in self._parents(one))
            for above in level:
                found.setdefault(above, distance)
        return found
