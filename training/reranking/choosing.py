"""The weight of a reranker beside retrieval; 0 unless its gain is significant."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacy_medlink.encoders.cross_encoder import CrossEncoder
from spacy_medlink.evaluation.intervals import rank_figures, reciprocal, standard_error
from spacy_medlink.evaluation.outcome import first_right
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.linking.reranking import Reranker

from ..recipe.settings import WEIGHTS
from .lists import RankedList

# Standard errors that a gain must exceed: the best of eight weights and of some epochs gains by one
# often enough where there is nothing to gain.
_ERRORS = 2
_DEPTHS = (1, 5, 25)
_DIGITS = 4

Ranks = NDArray[np.float64]
"""Reciprocal rank of each mention's first right candidate, 0 where none is, (n,)."""


class Choice(NamedTuple):
    """weight (float): 0 leaves the reranker out. figures (Dict): for the manifest."""

    weight: float
    figures: dict[str, Any]


def by_weight(
    encoder: CrossEncoder, kb: KnowledgeBase, lists: Sequence[RankedList]
) -> dict[float, Ranks]:
    """Rerank lists with each weight; the candidates are read once."""
    reranker = Reranker(encoder.using(top=1 << 30), kb, cache_size=len(lists) + 1)
    mentions, rankings = (
        [ranked.mention for ranked in lists],
        [ranked.candidates for ranked in lists],
    )
    right = [
        {
            candidate.row
            for candidate, flag in zip(ranked.candidates, ranked.right, strict=True)
            if flag
        }
        for ranked in lists
    ]
    ranks = {}
    for weight in WEIGHTS:
        reranker.weight = weight
        reranked = reranker.rescore(mentions, rankings)
        ranks[weight] = reciprocal(
            [
                first_right([candidate.row for candidate in ranked], wanted)
                for ranked, wanted in zip(reranked, right, strict=True)
            ]
        )
    return ranks


def choose(
    ranks: dict[float, Ranks], lists: Sequence[RankedList], wanted: float | None = None
) -> Choice:
    """Choose the weight by mean reciprocal rank, the smallest that does.

    A weight must gain more than two standard errors of its gain over retrieval, mention by mention,
    and lose no first place over all. Of those that are within one standard error of the best, the
    smallest is taken. Mentions of the same text count as one draw.

    wanted (Optional[float]): taken in its place, whatever it gains.
    """
    texts = [ranked.mention.text.lower() for ranked in lists]
    plain = ranks[0.0]
    first = {weight: float((of_weight == 1).mean()) for weight, of_weight in ranks.items()}
    earned = [
        weight for weight, of_weight in ranks.items()
        if weight and first[weight] >= first[0.0]
        and (of_weight - plain).mean() > _ERRORS * standard_error(of_weight - plain, texts)
    ]  # fmt: skip
    chosen = wanted or 0.0
    if earned and not wanted:
        best = max(earned, key=lambda weight: float(ranks[weight].mean()))
        chosen = min(
            weight for weight in earned
            if (ranks[best] - ranks[weight]).mean()
            <= standard_error(ranks[best] - ranks[weight], texts)
        )  # fmt: skip
    content = {
        "mentions": len(lists),
        "mrr_by_weight": {
            str(w): round(float(of_weight.mean()), _DIGITS) for w, of_weight in ranks.items()
        },
        "retrieval": figures(plain),
        "reranked": figures(ranks[chosen]),
    }
    return Choice(chosen, content)


def figures(ranks: Ranks) -> dict[str, float]:
    """Compute the share of mentions with a right concept among the first n, and the mean rank."""
    return rank_figures(ranks, _DEPTHS)
