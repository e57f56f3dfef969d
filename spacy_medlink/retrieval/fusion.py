"""Fusion: the tiers' names for a mention become one ranking of concepts."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..types import Candidate, Floats2d, Ints2d

# Scores that differ by less are equal: the arithmetic of different batches is not bit-identical.
_RESOLUTION = 1e-4


def fuse(scores: Mapping[str, Floats2d], weights: Mapping[str, float]) -> Floats2d:
    """Add the tiers' scores, weighted.

    scores (Mapping[str, Floats2d]): for each tier the scores of the same names, (n, m).
    weights (Mapping[str, float]): weight of each tier; 0 where none is given.
    RETURNS (Floats2d): (n, m).
    """
    total = sum(weights.get(tier, 0.0) * values for tier, values in scores.items())
    return np.asarray(total, dtype=np.float32)


def rank_concepts(
    rows: Ints2d,
    fused: Floats2d,
    scores: Mapping[str, Floats2d],
    name_concept: NDArray[np.int32],
    k: int,
) -> list[list[Candidate]]:
    """Rank concepts, each by its best name.

    Ties are broken by a fixed rule: the tier "exact" (the same string before the same key), the
    preferred name before synonyms, the lower row. Scores within 1e-4 count as equal.

    rows (Ints2d): name rows, (n, m), -1 where there is none; a row may occur twice.
    fused (Floats2d): (n, m). scores: the tiers' own, kept on the candidates.
    name_concept (Ints1d): concept row of every name row. k (int): concepts wanted.
    RETURNS (List[List[Candidate]]): n rankings, best first.
    """
    order = _order(rows, fused, scores, name_concept)
    tiers = list(scores)
    rankings = []
    for index in range(len(rows)):
        picked = _first_of_each(order[index], rows[index], name_concept, k)
        own_rows, own_fused = rows[index, picked].tolist(), fused[index, picked].tolist()
        own_scores = [scores[tier][index, picked].tolist() for tier in tiers]
        concepts = name_concept[own_rows].tolist() if own_rows else []
        rankings.append(
            [
                Candidate(concept, row, score, dict(zip(tiers, parts, strict=True)))
                for concept, row, score, *parts in zip(
                    concepts, own_rows, own_fused, *own_scores, strict=True
                )
            ]
        )
    return rankings


def merge_forms(rankings: Sequence[Sequence[Candidate]], k: int) -> list[Candidate]:
    """Unite the rankings of several forms of one mention, keeping each concept's best."""
    best: dict[int, Candidate] = {}
    for ranking in rankings:
        for candidate in ranking:
            known = best.get(candidate.row)
            if known is None or candidate.score > known.score + _RESOLUTION:
                best[candidate.row] = candidate
    # A stable sort over rounded scores: the first form wins ties.
    ordered = sorted(best.values(), key=lambda item: -round(item.score / _RESOLUTION))
    return ordered[:k]


def _order(
    rows: Ints2d,
    fused: Floats2d,
    scores: Mapping[str, Floats2d],
    name_concept: NDArray[np.int32],
) -> Ints2d:
    safe = np.maximum(rows, 0)
    before = np.maximum(safe - 1, 0)
    preferred = (name_concept[safe] != name_concept[before]) | (safe == 0)
    rounded = np.where(rows >= 0, np.round(fused / _RESOLUTION), -np.inf)
    exact = scores.get("exact", np.zeros_like(fused))
    return np.lexsort((safe, ~preferred, -exact, -rounded), axis=-1)


def _first_of_each(
    order: NDArray[np.int64], rows: NDArray[np.int64], name_concept: NDArray[np.int32], k: int
) -> list[int]:
    ordered = rows[order]
    ordered = ordered[ordered >= 0]  # rows that are padding come last
    _, first = np.unique(name_concept[ordered], return_index=True)
    first.sort()
    return [int(position) for position in order[first[:k]]]
