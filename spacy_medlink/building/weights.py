"""Fusion weights learned from the knowledge base itself, when there is no annotated text.

A sample of names plays the mentions: each is looked for with itself (and what has the same key)
taken out of its concept, so that it must be found through another name. The weight of the n-gram
tier is the one with the best mean reciprocal rank; choices that are within one standard error of
the best count as equal, and of these the one nearest to the default is taken. 0 is among the
choices, so that fusing does not lose to the dense tier where n-grams mislead.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..linking import LinkingEngine
from ..retrieval.fusion import fuse
from ..text import key
from ..types import Floats2d, Ints2d

DEFAULT_WEIGHTS = {"exact": 0.1, "ngram": 0.3, "dense": 1.0}
_NGRAM_CHOICES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
_SAMPLE = 1000
_TOO_FEW = 50
_SEED = 0


def choose_weights(engine: LinkingEngine, kb: KnowledgeBase) -> dict[str, Any]:
    """Choose the weight of the n-gram tier beside the dense one.

    engine (LinkingEngine): with its tiers; its weights are not changed.
    RETURNS (Dict[str, Any]): `weights` (they sum to 1, so that a perfect match scores 1.0) and
        `chosen_on`: how many names, and the mean reciprocal rank of each choice.
    """
    tiers = [tier for tier in ("exact", "ngram", "dense") if getattr(engine, tier) is not None]
    weights = {tier: DEFAULT_WEIGHTS[tier] for tier in tiers}
    if "dense" not in tiers or "ngram" not in tiers:
        return {"weights": _normalised(weights), "chosen_on": None}
    queries = _sample(kb)
    if len(queries) < _TOO_FEW:
        return {"weights": _normalised(weights), "chosen_on": None}
    quality = _try_choices(engine, kb, queries)
    weights["ngram"] = _best_choice(quality)
    by_choice = {str(choice): round(float(ranks.mean()), 4) for choice, ranks in quality.items()}
    return {
        "weights": _normalised(weights),
        "chosen_on": {"names": len(queries), "mrr_by_ngram_weight": by_choice},
    }


def _sample(kb: KnowledgeBase) -> list[tuple[int, str]]:
    """Draw (concept row, name): one name each of concepts that have another with another key."""
    rows = np.random.default_rng(_SEED).permutation(len(kb))
    drawn: list[tuple[int, str]] = []
    for row in rows[: 20 * _SAMPLE].tolist():
        names = kb.concept_at(row).names
        if len({key(name.text) for name in names}) > 1:
            drawn.append((row, names[-1].text))
        if len(drawn) == _SAMPLE:
            break
    return drawn


def _try_choices(
    engine: LinkingEngine, kb: KnowledgeBase, queries: list[tuple[int, str]]
) -> dict[float, NDArray[np.float64]]:
    rows, _, scores = engine.search([text for _, text in queries])
    gold = np.array([row for row, _ in queries])
    usable = rows >= 0
    for index, (concept, text) in enumerate(queries):
        own = key(text)
        twins = [
            row for row in rows[index].tolist()
            if row >= 0 and engine.name_concept[row] == concept and key(kb.name_at(row).text) == own
        ]  # fmt: skip
        usable[index] &= ~np.isin(rows[index], twins)
    scores = {tier: values for tier, values in scores.items() if tier != "exact"}
    quality = {}
    for choice in _NGRAM_CHOICES:
        fused = fuse(scores, {"ngram": choice, "dense": DEFAULT_WEIGHTS["dense"]})
        fused = np.where(usable, fused, np.float32(-np.inf))
        quality[choice] = _reciprocal_ranks(rows, fused, engine.name_concept, gold)
    return quality


def _best_choice(quality: dict[float, NDArray[np.float64]]) -> float:
    best = max(quality, key=lambda choice: float(quality[choice].mean()))
    equal = []
    for choice, ranks in quality.items():
        loss = quality[best] - ranks
        if loss.mean() <= loss.std() / np.sqrt(len(loss)):
            equal.append(choice)
    return min(equal, key=lambda choice: abs(choice - DEFAULT_WEIGHTS["ngram"]))


def _reciprocal_ranks(
    rows: Ints2d, fused: Floats2d, name_concept: NDArray[np.int32], gold: NDArray[np.int64]
) -> NDArray[np.float64]:
    concepts = np.where(np.isfinite(fused), name_concept[np.maximum(rows, 0)], -1)
    ranks = np.zeros(len(gold))
    for index, (own, values, wanted) in enumerate(zip(concepts, fused, gold, strict=True)):
        right = own == wanted
        if right.any():
            better = own[values > values[right].max()]
            ranks[index] = 1 / (1 + len(np.unique(better[better >= 0])))
    return ranks


def _normalised(weights: dict[str, float]) -> dict[str, float]:
    total = sum(weights.values())
    return {tier: weight / total for tier, weight in weights.items()}
