"""Blending: combines the retrieval score of candidates with the score of another model.

score = (1 - weight) x retrieval + weight x reading, both 0..1. Candidates that were not read have a
reading of 0, so that none of them comes before a candidate that was read.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ..retrieval.concepts import MEMORY, RESOLUTION
from ..types import Candidate, Floats1d


def blend(
    ranking: Sequence[Candidate], head: int, readings: Floats1d, weight: float, name: str
) -> list[Candidate]:
    """Order candidates anew; the first `head` of them stay where they are.

    readings (Floats1d): of the candidates after the head, 0..1; later ones were not read.
    name (str): the key of the readings among scores and ranks.
    RETURNS (List[Candidate]): copies.
    """
    places = np.argsort(np.argsort(-readings, kind="stable"), kind="stable")
    read = [
        replace(
            candidate,
            score=(1 - weight) * candidate.score + weight * float(reading),
            scores={**candidate.scores, name: float(reading)},
            ranks={**candidate.ranks, name: int(rank) + 1},
        )
        for candidate, reading, rank in zip(ranking[head:], readings, places, strict=False)
    ]
    # A stable sort: equal steps leave the order as it was.
    read.sort(key=lambda candidate: -_step(candidate, weight))
    rest = [
        replace(candidate, score=(1 - weight) * candidate.score)
        for candidate in ranking[head + len(read) :]
    ]
    return _ties_that_stay([*ranking[:head], *read, *rest], weight)


def _step(candidate: Candidate, weight: float) -> float:
    """Round a score, so that retrieval decides between nearly equal ones.

    At weight 1 nothing is rounded: the other model alone orders, as a cross-encoder's paper has it.
    """
    return candidate.score if weight == 1 else round(candidate.score / RESOLUTION)


def remembered(ranking: Sequence[Candidate]) -> int:
    """Count the candidates that corrections put first."""
    for count, candidate in enumerate(ranking):
        if not candidate.scores.get(MEMORY, 0.0) > 0:
            return count
    return len(ranking)


def _ties_that_stay(ranking: list[Candidate], weight: float) -> list[Candidate]:
    """Update the ties of candidates: readings may have separated them."""
    tied = {row for candidate in ranking for row in candidate.tied}
    steps = [_step(candidate, weight) for candidate in ranking]
    same = tuple(
        candidate.row for candidate, step in zip(ranking, steps, strict=True)
        if step == steps[0] and candidate.row in tied
    )  # fmt: skip
    still = len(same) > 1 and ranking[0].row == same[0]
    equal = [*(candidate == next_ for candidate, next_ in pairwise(steps)), False]
    return [
        replace(
            candidate,
            decided=candidate.decided if is_equal else "",
            tied=same if still and rank == 0 else (),
        )
        for rank, (candidate, is_equal) in enumerate(zip(ranking, equal, strict=False))
    ]
