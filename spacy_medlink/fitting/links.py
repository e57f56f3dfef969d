"""Links of annotated text at the recommended threshold, as if it had not been annotated."""

from typing import NamedTuple

import numpy as np

from ..evaluation.gold_set import GoldSet
from ..linking.asset_parts import AssetParts
from ..linking.decision import NOT_A_CONCEPT, Decision, decide
from ..linking.linear import Floats
from ..types import Progress
from ..util.progress import no_progress
from .examples import DEPTH, Flags
from .folds import rank_unannotated


class Links(NamedTuple):
    """What became of n mentions.

    first (Flags): whether the first candidate is right, (n,). linked (Flags): (n,).
    scores (Floats): by which the threshold decides: 0 for no candidate, (n,).
    in_kb (Flags): whether the knowledge base has the right concept, (n,).
    """

    first: Flags
    linked: Flags
    scores: Floats
    in_kb: Flags

    @property
    def right(self) -> int:
        """Count the links that are right."""
        return int((self.first & self.linked).sum())

    @property
    def wrong(self) -> int:
        """Count the links that are wrong, those of mentions of no known concept included."""
        return int((~self.first & self.linked).sum())

    @property
    def nil(self) -> int:
        """Count the mentions without a link."""
        return int((~self.linked).sum())

    def right_at(self, precision: float) -> int:
        """Count the right links of the threshold that gives most at a precision."""
        order = np.argsort(-self.scores, kind="stable")
        right = np.cumsum(self.first[order])
        # Mentions of one score are linked together.
        is_end = np.append(np.diff(self.scores[order]) != 0, True)
        enough = is_end & (right >= precision * np.arange(1, len(order) + 1))
        return int(right[enough].max(initial=0))

    def is_better_than(self, other: "Links") -> bool:
        """Tell whether there are at least as many right links at the precision of the other."""
        made = other.right + other.wrong
        return not made or self.right_at(other.right / made) >= other.right

    def facts(self) -> dict[str, int]:
        """Make the counts for a manifest."""
        return {"right": self.right, "wrong": self.wrong, "nil": self.nil}


def links_of(assets: AssetParts, gold: GoldSet, progress: Progress = no_progress) -> Links:
    """Link each fifth of the documents as if it had not been annotated, without a reranker.

    gold (GoldSet): mentions that memory, names and ranker may have learned from; there are no
        links where all of them are NIL.
    """
    if not gold.ids:
        return Links._make([np.zeros(0, dtype=np.bool_)] * len(Links._fields))
    ranked = list(rank_unannotated(assets, gold, DEPTH, progress, rerank_top=0))
    decisions = decide(
        [one.ranking for one in ranked], None,
        calibrator=assets.calibrator, denied=[one.denied for one in ranked],
    )  # fmt: skip
    right = [one.case.right for one in ranked]
    first = [
        bool(it.ranking) and it.ranking[0].row in rows
        for it, rows in zip(decisions, right, strict=True)
    ]
    return Links(
        np.asarray(first, np.bool_),
        np.asarray([it.link is not None for it in decisions], np.bool_),
        np.asarray(list(map(_score, decisions)), np.float64),
        np.asarray(list(map(bool, right)), np.bool_),
    )


def _score(decision: Decision) -> float:
    if not decision.ranking or decision.reason == NOT_A_CONCEPT:
        return 0.0
    best = decision.ranking[0]
    return best.score if best.prob is None else best.prob
