"""The weight of a reranker beside retrieval; 0 unless its gain is significant."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from spacy_medlink.encoders.cross_encoder import CrossEncoder
from spacy_medlink.evaluation.intervals import rank_figures, reciprocal, standard_error
from spacy_medlink.evaluation.outcome import first_right
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.linking.reranking import Reranker

from .lists import RankedList

# Standard errors that a gain must exceed: the best of eight weights and of some epochs gains by one
# often enough where there is nothing to gain.
_ERRORS = 2
_DEPTHS = (1, 5, 25)

Ranks = NDArray[np.float64]
"""Reciprocal rank of each mention's first right candidate, 0 where none is, (n,)."""


def by_weight(
    encoder: CrossEncoder, kb: KnowledgeBase, lists: Sequence[RankedList], weights: Iterable[float]
) -> dict[float, Ranks]:
    """Rerank lists with each weight; the candidates are read once."""
    reranker = Reranker(encoder.using(top=1 << 30), kb, cache_size=len(lists) + 1)
    mentions = [ranked.mention for ranked in lists]
    rankings = [ranked.candidates for ranked in lists]
    right = [
        {ranked.candidates[place].row for place in np.flatnonzero(ranked.right)} for ranked in lists
    ]
    ranks = {}
    for weight in weights:
        reranker.weight = weight
        orders = reranker.rescore(mentions, rankings)
        rows = [[candidate.row for candidate in order] for order in orders]
        ranks[weight] = reciprocal(list(map(first_right, rows, right)))
    return ranks


def choose(ranks: dict[float, Ranks], lists: Sequence[RankedList]) -> float:
    """Choose the weight by mean reciprocal rank, the smallest that does; 0 for none.

    A weight must gain more than two standard errors of its gain over retrieval, mention by mention,
    and lose no first place over all. Of those that are within one standard error of the best, the
    smallest is taken. Mentions of the same text count as one draw.
    """
    texts = [ranked.mention.text.lower() for ranked in lists]
    plain = ranks[0.0]
    first = {weight: float((of_weight == 1).mean()) for weight, of_weight in ranks.items()}
    earned = [
        weight for weight, of_weight in ranks.items()
        if weight and first[weight] >= first[0.0]
        and (of_weight - plain).mean() > _ERRORS * standard_error(of_weight - plain, texts)
    ]  # fmt: skip
    if not earned:
        return 0.0
    best = ranks[max(earned, key=lambda weight: float(ranks[weight].mean()))]
    return min(
        weight for weight in earned
        if (best - ranks[weight]).mean() <= standard_error(best - ranks[weight], texts)
    )  # fmt: skip


def figures(ranks: Ranks) -> dict[str, float]:
    """Compute the share of mentions with a right concept among the first n, and the mean rank."""
    return rank_figures(ranks, _DEPTHS)
