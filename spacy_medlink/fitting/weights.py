"""Chooses the fusion of the tiers' scores, on annotated text or on the knowledge base itself.

Without annotated text, examples made of names replace mentions (`name_examples`): a name that must
be found through another name of its concept or in another language, a name written in another way,
and a name whose concept is missing, so that the concept above it is best.

If mentions of the same file became names, these are hidden from mentions with the same key. So the
file that they come from can be used too, as if each of its mentions were new.

The choice with the best mean reciprocal rank wins. Those within one standard error of the best
count as equal: of these the one nearest to the default is taken, if it is no worse than the best
tier by itself. So on the text that was used, fusion is never worse than a single tier; with names,
a single tier is never chosen. Every choice has the exact tier: without it, a name that equals the
mention would score no more than a similar name.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation.gold_set import GoldSet
from ..evaluation.intervals import reciprocal
from ..kb import KnowledgeBase
from ..linking import TIERS, Linker
from ..linking.linear import Floats
from ..retrieval.fusion import FUSIONS, RECIPROCAL_RANK, WEIGHTED
from ..types import FROM_MENTIONS, Floats2d, Fusion, Ints2d
from .name_examples import MUTATED, SPECIFIC, SYNONYM, TRANSLATED, VERBATIM
from .retrieved import RetrievedExamples

DEFAULT_WEIGHTS = {"exact": 0.1, "ngram": 0.3, "dense": 1.0}
DEFAULT_NGRAM = DEFAULT_WEIGHTS["ngram"]
_NGRAM_CHOICES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
_BY_RANK = (0.3, 1.0)

# One in so many examples of a kind is used. N-grams find nearly all mutated names (98 to 100 %),
# and in text they are rarer than names that the terminology lacks.
_EVERY = {SYNONYM: 1, TRANSLATED: 1, MUTATED: 4, SPECIFIC: 1}
_TOO_FEW = 50
_DIGITS = 4


@dataclass(frozen=True)
class Choice:
    """A fusion with its name in the manifest.

    ngram (Optional[float]): weight of the n-gram tier beside a dense tier of weight 1, for such a
        weighted sum. alone (bool): whether a single tier ranks.
    """

    name: str
    function: str
    weights: Mapping[str, float] = field(hash=False, compare=False)
    ngram: float | None = None
    alone: bool = False

    @property
    def fusion(self) -> Fusion:
        """The function with its weights."""
        return FUSIONS[self.function](self.weights)


Quality = dict[Choice, Floats]
"""Reciprocal rank of each query by each choice, (n_queries,)."""


def choose_weights(
    engine: Linker,
    kb: KnowledgeBase,
    dev: GoldSet | None = None,
    kept: dict[str, Any] | None = None,
    names: Callable[[], RetrievedExamples] | None = None,
) -> dict[str, Any]:
    """Choose the fusion of the tiers.

    engine (Linker): with its tiers; its weights are not changed.
    dev (Optional[GoldSet]): mentions to choose on. kept (Optional[Dict]): the earlier choice,
        kept if there are fewer than 50 mentions; without it names of the knowledge base choose.
    names (Optional[Callable]): makes examples of these names with the engine, if they are needed.
    RETURNS (Dict[str, Any]): `function` and `weights` (they sum to 1, so that a perfect match
        scores 1.0) and `chosen_on`: the source, its size, and the mean reciprocal rank of each
        choice and of each single tier.
    """
    tiers = [tier for tier in TIERS if getattr(engine.parts, tier) is not None]
    default = {tier: DEFAULT_WEIGHTS[tier] for tier in tiers}
    quality, facts = _on_gold(engine, kb, dev, tiers) if dev is not None else ({}, {})
    if not quality and kept is not None:
        return kept
    on_names = not quality and "dense" in tiers and "ngram" in tiers
    if on_names:
        made = names() if names is not None else RetrievedExamples.of(engine, kb)
        quality, facts = _on_names(engine, made, tiers)
    if not quality:
        return {"weights": normalised(default), "chosen_on": None}
    # Names resemble each other more than mentions do: on names, a needed tier could be left out.
    best = best_choice({c: q for c, q in quality.items() if not (on_names and c.alone)})
    means = {choice: round(float(ranks.mean()), _DIGITS) for choice, ranks in quality.items()}
    by_ngram = {
        str(choice.ngram): mean for choice, mean in means.items() if choice.ngram is not None
    }
    others = {choice.name: mean for choice, mean in means.items() if choice.ngram is None}
    facts |= {
        "mrr_by_ngram_weight": by_ngram,
        "mrr_by_other": others,
        "choice": best.name,
        "mrr": means[best],
        "mrr_alone": {tier: others[f"{tier} alone"] for tier in tiers if f"{tier} alone" in others},
    }
    weights = {tier: best.weights.get(tier, 0.0) for tier in tiers}
    return {"function": best.function, "weights": normalised(weights), "chosen_on": facts}


def _on_names(
    engine: Linker, names: RetrievedExamples, tiers: Sequence[str]
) -> tuple[Quality, dict[str, Any]]:
    drawn = len(names.of_kinds([VERBATIM]))
    examples = [one for kind, step in _EVERY.items() for one in names.of_kinds([kind])[::step]]
    if drawn < _TOO_FEW or not examples:
        return {}, {}
    found = names.found(examples)
    rows, scores = found.rows, {tier: found.scores[tier] for tier in tiers}
    counts = Counter(one.kind for one in examples)
    facts = {"names": drawn, "examples": {kind: counts[kind] for kind in _EVERY if counts[kind]}}
    right = [one.right for one in examples]
    return _try(engine, rows, scores, rows >= 0, right), facts


def _on_gold(
    engine: Linker, kb: KnowledgeBase, dev: GoldSet, tiers: Sequence[str]
) -> tuple[Quality, dict[str, Any]]:
    cases = [case for case in dev.cases() if case.right]
    queries: dict[tuple[str, frozenset[int]], None] = {}
    for case in cases:  # each mention once, so that frequent ones do not outvote rare ones
        text = case.mention.long_form or case.mention.text
        if text.strip():
            queries[text, case.right] = None
    if len(queries) < _TOO_FEW:
        return {}, {}
    found = engine.retrieval.search([text for text, _ in queries])
    rows, scores = found.rows, found.scores
    usable = rows >= 0
    if "exact" in scores and dev.sha256 in _taught(kb):
        for index in range(len(queries)):
            same = np.unique(rows[index][usable[index] & (scores["exact"][index] > 0)])
            said = [row for row in same.tolist() if kb.name_at(row).source == FROM_MENTIONS]
            usable[index] &= ~np.isin(rows[index], said)
    scores = {tier: values for tier, values in scores.items() if tier in tiers}
    gold = [right for _, right in queries]
    facts = {"file": dev.path.name, "sha256": dev.sha256, "mentions": len(queries)}
    return _try(engine, rows, scores, usable, gold), facts


def _taught(kb: KnowledgeBase) -> set[str]:
    """List the files whose mentions became names, by their SHA-256."""
    return {one["sha256"] for one in kb.manifest.get("mention_names", {}).get("sources", ())}


def _try(
    engine: Linker,
    rows: Ints2d,
    scores: Mapping[str, Floats2d],
    usable: NDArray[np.bool_],
    gold: Sequence[Collection[int]],
) -> Quality:
    quality: Quality = {}
    for choice in choices(list(scores)):
        fused = choice.fusion(scores)
        # A tier without a name scores it 0. Equal zeros would all come first.
        fused = np.where(usable & (fused > 0), fused, np.float32(-np.inf))
        quality[choice] = reciprocal_ranks(rows, fused, engine.name_concept, gold)
    return quality


def best_choice(quality: Quality) -> Choice:
    """Select the choice nearest to the default among those that are as good as the best."""
    mean = {choice: float(ranks.mean()) for choice, ranks in quality.items()}
    best = max(mean, key=lambda choice: mean[choice])
    floor = max((mean[choice] for choice in quality if choice.alone), default=0.0)
    equal = []
    for choice, ranks in quality.items():
        loss = quality[best] - ranks
        if mean[choice] >= floor and loss.mean() <= loss.std() / np.sqrt(len(loss)):
            equal.append(choice)
    return min(equal or [best], key=_distance)


def _distance(choice: Choice) -> tuple[bool, float]:
    """Order choices: weighted sums by their distance from the default, then all others."""
    return (choice.ngram is None, abs((choice.ngram or 0.0) - DEFAULT_NGRAM))


def reciprocal_ranks(
    rows: Ints2d,
    fused: Floats2d,
    name_concept: NDArray[np.int32],
    gold: Sequence[Collection[int]],
) -> Floats:
    """Compute the reciprocal rank of the best right concept of each query.

    gold (Sequence[Collection[int]]): concept rows that are right for each.
    """
    concepts = np.where(np.isfinite(fused), name_concept[np.maximum(rows, 0)], -1)
    ranks = np.zeros(len(gold), np.int64)
    for index, (own, values, wanted) in enumerate(zip(concepts, fused, gold, strict=True)):
        right = np.isin(own, list(wanted))
        if right.any():
            better = own[values > values[right].max()]
            ranks[index] = 1 + len(np.unique(better[better >= 0]))
    return reciprocal(ranks)


def choices(tiers: Sequence[str]) -> list[Choice]:
    """List the fusions of some tiers; each contains the exact tier, where there is one."""
    exact = {"exact": DEFAULT_WEIGHTS["exact"]} if "exact" in tiers else {}
    found = [Choice(f"{tier} alone", WEIGHTED, {**exact, tier: 1.0}, alone=True) for tier in tiers]
    both = "ngram" in tiers and "dense" in tiers
    for ngram in _NGRAM_CHOICES if both else (DEFAULT_NGRAM,):
        weights = _weights(tiers, ngram)
        found.append(Choice(f"ngram {ngram}", WEIGHTED, weights, ngram=ngram))
    for ngram in _BY_RANK if both else ():
        name = f"reciprocal rank, ngram {ngram}"
        found.append(Choice(name, RECIPROCAL_RANK, _weights(tiers, ngram)))
    return found


def learned_fusion(sparse_weight: float | None) -> dict[str, Any] | None:
    """Get the fusion of an encoder that was trained with one.

    sparse_weight (Optional[float]): of the spelling score beside the cosine.
    """
    if sparse_weight is None:
        return None
    weights = {**DEFAULT_WEIGHTS, "ngram": sparse_weight}
    return {"weights": normalised(weights), "chosen_on": None}


def normalised(weights: Mapping[str, float]) -> dict[str, float]:
    """Scale weights to sum to 1."""
    total = sum(weights.values())
    return {tier: weight / total for tier, weight in weights.items()}


def _weights(tiers: Iterable[str], ngram: float) -> dict[str, float]:
    return {tier: ngram if tier == "ngram" else DEFAULT_WEIGHTS[tier] for tier in tiers}
