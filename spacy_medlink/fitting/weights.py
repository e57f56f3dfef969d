"""Chooses the fusion of the tiers' scores, on annotated text or on the knowledge base itself.

Without annotated text, examples made of names replace mentions (`name_examples`): a name that must
be found through another name of its concept or in another language, a name written in another way,
with a slip of the pen or with a word before it, and a name whose concept is missing, so that the
concept above it is best. How often text has each kind is not known, so that each counts the same.

If mentions of the same file became names, these are hidden from mentions with the same key. So the
file that they come from can be used too, as if each of its mentions were new.

The choice with the best mean reciprocal rank wins. Those within one standard error of the best
count as equal: of these the one nearest to the default is taken, if it is no worse than the best
tier by itself. On names, an encoder must show that it helps: where spelling alone is within two
standard errors of the best, or half a point, it gets no weight. Every choice has the exact tier:
without it, a name that equals the mention would score no more than a similar name.

Then a language chooses for itself, if the common choice loses as much to its best one.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation.gold_set import GoldSet
from ..evaluation.intervals import reciprocal
from ..kb import KnowledgeBase
from ..linking import Linker
from ..linking.language_weights import language_of
from ..linking.linear import Floats
from ..linking.tiers import ScoredNames
from ..retrieval.fusion import FUSIONS, RECIPROCAL_RANK, WEIGHTED
from ..retrieval.tier import tier_of_names
from ..types import FROM_MENTIONS, Data, Floats2d, Fusion, Ints1d, Ints2d
from .name_examples import MUTATED, NARROWER, SLIP, SPECIFIC, SYNONYM, TRANSLATED, VERBATIM
from .retrieved import RetrievedExamples

DEFAULT_WEIGHTS = {"exact": 0.1, "ngram": 0.3, "dense": 1.0}
DEFAULT_NGRAM = DEFAULT_WEIGHTS["ngram"]
_NGRAM_CHOICES = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 4.0)
_BY_RANK = (0.3, 1.0)
_KINDS = (SYNONYM, TRANSLATED, MUTATED, SLIP, NARROWER, SPECIFIC)
_TOO_FEW = 50
_DIGITS = 4
_SPELLING = "ngram alone"
# What must be gained to ask an encoder, or to treat a language otherwise: standard errors, and half
# a point.
_PROOF, _GAIN = 2.0, 0.005


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


class Tried(NamedTuple):
    """The queries that choose.

    quality (Quality): of each choice. shares (Floats): of the queries in a mean, (n_queries,),
    positive. languages (Ints1d): number of each query's language, (n_queries,), -1 for none.
    """

    quality: Quality
    shares: Floats
    languages: Ints1d

    def part(self, chosen: NDArray[np.bool_], function: str) -> "Tried":
        """Select some queries, and the choices of one function."""
        quality = {
            choice: ranks[chosen]
            for choice, ranks in self.quality.items() if choice.alone or choice.function == function
        }  # fmt: skip
        return Tried(quality, self.shares[chosen], self.languages[chosen])

    def mean(self, choice: Choice) -> float:
        """Compute the mean reciprocal rank of a choice."""
        return float(np.average(self.quality[choice], weights=self.shares))

    def is_equal(
        self, choice: Choice, best: Choice, errors: float = 1.0, least: float = 0.0
    ) -> bool:
        """Tell whether a choice loses at most some standard errors, or `least`, to the best one."""
        loss, shares = self.quality[best] - self.quality[choice], self.shares / self.shares.sum()
        mean = float(shares @ loss)
        return mean <= max(least, errors * float(np.sqrt(shares**2 @ (loss - mean) ** 2)))


def choose_weights(
    engine: Linker,
    kb: KnowledgeBase,
    dev: GoldSet | None = None,
    kept: Data | None = None,
    names: Callable[[], RetrievedExamples] | None = None,
) -> Data:
    """Choose the fusion of the tiers.

    engine (Linker): with its tiers; its weights are not changed.
    dev (Optional[GoldSet]): mentions to choose on. kept (Optional[Dict]): the earlier choice,
        kept if there are fewer than 50 mentions; without it names of the knowledge base choose.
    names (Optional[Callable]): makes examples of these names with the engine, if they are needed.
    RETURNS (Dict[str, Any]): `function` and `weights` (they sum to 1, so that a perfect match
        scores 1.0), `languages` with the weights of those that choose otherwise, and `chosen_on`:
        the source, its size, and the mean reciprocal rank of each choice and each single tier.
    """
    tiers = engine.parts.tier_names
    tried, details = _on_gold(engine, kb, dev, tiers) if dev is not None else (None, {})
    if tried is None and kept is not None:
        return kept
    on_names = tried is None and "dense" in tiers and "ngram" in tiers
    if on_names:
        made = names() if names is not None else RetrievedExamples.of(engine, kb)
        tried, details = _on_names(engine, made, tiers)
    if tried is None:
        default = {tier: default_weight(tier) for tier in tiers}
        return {"weights": normalised(default), "chosen_on": None}
    choose = best_on_names if on_names else best_choice
    best = choose(tried)
    languages, by_language = _by_language(engine, tried, best, choose, tiers)
    details |= _means(tried, best, tiers) | ({"languages": by_language} if languages else {})
    chosen = {"function": best.function, "weights": _of_tiers(best, tiers), "chosen_on": details}
    return chosen | ({"languages": languages} if languages else {})


def _means(tried: Tried, best: Choice, tiers: Sequence[str]) -> Data:
    """List the mean reciprocal rank of each choice, for the manifest."""
    means = {choice: round(tried.mean(choice), _DIGITS) for choice in tried.quality}
    others = {choice.name: mean for choice, mean in means.items() if choice.ngram is None}
    return {
        "mrr_by_ngram_weight": {
            str(choice.ngram): mean for choice, mean in means.items() if choice.ngram is not None
        },
        "mrr_by_other": others,
        "choice": best.name,
        "mrr": means[best],
        "mrr_alone": {tier: others[f"{tier} alone"] for tier in tiers if f"{tier} alone" in others},
    }


def _by_language(
    engine: Linker,
    tried: Tried,
    common: Choice,
    choose: Callable[[Tried], Choice],
    tiers: Sequence[str],
) -> tuple[dict[str, dict[str, float]], Data]:
    """Let each language choose that has enough queries, and to which the common choice does harm.

    RETURNS: the weights of these languages, and how many queries chose, with the mean reciprocal
        rank of the common choice and of their own.
    """
    facets, weights, details = engine.parts.facets, dict[str, dict[str, float]](), Data()
    langs = enumerate(facets.langs) if facets is not None and len(facets.langs) > 1 else ()
    for index, lang in langs:
        part = tried.part(tried.languages == index, common.function)
        if len(part.shares) < _TOO_FEW:
            continue
        if not part.is_equal(common, max(part.quality, key=part.mean), _PROOF, _GAIN):
            best = choose(part)
            weights[lang] = _of_tiers(best, tiers)
            means = [round(part.mean(choice), _DIGITS) for choice in (common, best)]
            details[lang] = {"examples": len(part.shares), "choice": best.name, "mrr": means}
    return weights, details


def _on_names(
    engine: Linker, names: RetrievedExamples, tiers: Sequence[str]
) -> tuple[Tried | None, Data]:
    drawn, examples = len(names.of_kinds([VERBATIM])), names.of_kinds(_KINDS)
    if drawn < _TOO_FEW or not examples:
        return None, {}
    counts = Counter(example.kind for example in examples)
    details = {"names": drawn, "examples": {kind: counts[kind] for kind in _KINDS if counts[kind]}}
    shares = np.array([1 / counts[example.kind] for example in examples])
    scored = names.found(examples)
    right = [example.right for example in examples]
    return _try(engine, scored, scored.rows >= 0, tiers, right, shares), details


def _on_gold(
    engine: Linker, kb: KnowledgeBase, dev: GoldSet, tiers: Sequence[str]
) -> tuple[Tried | None, Data]:
    cases = [case for case in dev.cases() if case.right]
    queries: dict[tuple[str, frozenset[int]], None] = {}
    for case in cases:  # each mention once, so that frequent ones do not outvote rare ones
        text = case.mention.long_form or case.mention.text
        if text.strip():
            queries[text, case.right] = None
    if len(queries) < _TOO_FEW:
        return None, {}
    scored = engine.retrieval.search([text for text, _ in queries])
    rows, scores = scored.rows, scored.scores
    usable = rows >= 0
    if "exact" in scores and dev.sha256 in _taught(kb):
        for index in range(len(queries)):
            same = np.unique(rows[index][usable[index] & (scores["exact"][index] > 0)])
            own_mentions = [row for row in same.tolist() if kb.name_at(row).source == FROM_MENTIONS]
            usable[index] &= ~np.isin(rows[index], own_mentions)
    gold = [right for _, right in queries]
    details = {"file": dev.path.name, "sha256": dev.sha256, "mentions": len(queries)}
    return _try(engine, scored, usable, tiers, gold, np.ones(len(gold))), details


def _taught(kb: KnowledgeBase) -> set[str]:
    """List the files whose mentions became names, by their SHA-256."""
    return {source["sha256"] for source in kb.manifest.get("mention_names", {}).get("sources", ())}


def _try(
    engine: Linker,
    scored: ScoredNames,
    usable: NDArray[np.bool_],
    tiers: Sequence[str],
    gold: Sequence[Collection[int]],
    shares: Floats,
) -> Tried:
    quality: Quality = {}
    scores = {tier: scored.scores[tier] for tier in tiers}
    for choice in choices(tiers):
        fused = choice.fusion(scores)
        # A tier without a name scores it 0. Equal zeros would all come first.
        fused = np.where(usable & (fused > 0), fused, np.float32(-np.inf))
        quality[choice] = reciprocal_ranks(scored.rows, fused, engine.name_concept, gold)
    facets = engine.parts.facets
    unknown = np.full(len(gold), -1)
    return Tried(quality, shares, unknown if facets is None else language_of(scored, facets.lang))


def best_choice(tried: Tried) -> Choice:
    """Select the choice nearest to the default among those that are as good as the best."""
    mean = {choice: tried.mean(choice) for choice in tried.quality}
    best = max(mean, key=lambda choice: mean[choice])
    floor = max((mean[choice] for choice in mean if choice.alone), default=0.0)
    equal = [choice for choice in mean if mean[choice] >= floor and tried.is_equal(choice, best)]
    return min(equal or [best], key=_distance)


def best_on_names(tried: Tried) -> Choice:
    """Select a choice; the encoder gets no weight where spelling alone is as good as the best."""
    best = max(tried.quality, key=tried.mean)
    for choice in tried.quality:
        if choice.name == _SPELLING and tried.is_equal(choice, best, _PROOF, _GAIN):
            return choice
    # Names resemble each other more than mentions do: a needed tier could be left out.
    mixed = {choice: ranks for choice, ranks in tried.quality.items() if not choice.alone}
    return best_choice(tried._replace(quality=mixed))


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
    for index, (ranked, values, wanted) in enumerate(zip(concepts, fused, gold, strict=True)):
        right = np.isin(ranked, list(wanted))
        if right.any():
            better = ranked[values > values[right].max()]
            ranks[index] = 1 + len(np.unique(better[better >= 0]))
    return reciprocal(ranks)


def choices(tiers: Sequence[str]) -> list[Choice]:
    """List the fusions of some tiers; each contains the exact tier, where there is one."""
    return [*_choices(tiers)]


def _choices(tiers: Sequence[str]) -> Iterator[Choice]:
    exact = {"exact": DEFAULT_WEIGHTS["exact"]} if "exact" in tiers else {}
    for tier in tiers:
        yield Choice(f"{tier} alone", WEIGHTED, {**exact, tier: 1.0}, alone=True)
    both = "ngram" in tiers and "dense" in tiers
    for ngram in _NGRAM_CHOICES if both else (DEFAULT_NGRAM,):
        yield Choice(f"ngram {ngram}", WEIGHTED, _weights(tiers, ngram), ngram=ngram)
    for ngram in _BY_RANK if both else ():
        name = f"reciprocal rank, ngram {ngram}"
        yield Choice(name, RECIPROCAL_RANK, _weights(tiers, ngram))


def normalised(weights: Mapping[str, float]) -> dict[str, float]:
    """Scale weights to sum to 1."""
    total = sum(weights.values())
    return {tier: weight / total for tier, weight in weights.items()}


def _of_tiers(choice: Choice, tiers: Sequence[str]) -> dict[str, float]:
    return normalised({tier: choice.weights.get(tier, 0.0) for tier in tiers})


def _weights(tiers: Sequence[str], ngram: float) -> dict[str, float]:
    return {tier: ngram if tier == "ngram" else default_weight(tier) for tier in tiers}


def default_weight(tier: str) -> float:
    """Get the weight of a tier where nothing chooses weights; a tier of a package says its own."""
    weight = DEFAULT_WEIGHTS.get(tier)
    return tier_of_names(tier).weight if weight is None else weight
