"""LinkingEngine: mentions in, ranked candidates out.

For each mention every form of it (the text, and the long form where there is one) is looked up in
the memory of corrections and the exact tier, searched in the n-gram and dense tiers, and the union
of the names found is scored by all tiers on equal terms, fused, and ranked by concept. A rescorer,
where there is one, then orders the candidates anew, and what the document identifies goes first.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..retrieval.concepts import MEMORY, rank_concepts, set_ranks
from ..retrieval.fusion import WeightedFusion
from ..types import (
    Calibrator,
    Candidate,
    Encoder,
    Floats1d,
    Floats2d,
    Fusion,
    Ints2d,
    Mention,
    Rescorer,
)
from ..util.lru import Lru
from .forms import Forms, has_letters
from .identified import DEPTH, IdentifiersOf, identified_first
from .outside import is_better, is_named_within
from .scopes import Scope, Scopes, ScopeSettings
from .tiers import Found, Tiers

if TYPE_CHECKING:  # only the tiers that are used should be paid for
    from ..retrieval.dense import DenseIndex
    from ..retrieval.exact import ExactIndex
    from ..retrieval.facets import Facets
    from ..retrieval.filters import NameFilters, Only
    from ..retrieval.mask import Mask
    from ..retrieval.memory import MentionMemory
    from ..retrieval.ngram import NgramIndex

_Key = tuple[Forms, Scope, bool, int]
"""What to look up, scope, whether all tiers are to be asked, candidates."""
_Vectors = dict[str, Floats1d]
"""Vectors of texts that one call has encoded already."""
_KEPT = 16_384  # concepts whose identifiers are remembered
_WIDER = 4  # times as many names are asked for where too few concepts were found


class LinkingEngine:
    """Retrieves, fuses and ranks; safe to call from threads.

    name_concept (NDArray): concept row of every name row, (n_names,).
    exact, ngram, dense: the tiers; None leaves one out. encoder: needed with `dense`.
    memory (Optional[MentionMemory]): what corrections say that mentions are.
    weights (Optional[Mapping[str, float]]): weight of each tier in the fused score.
    fusion (Optional[Fusion]): how scores are fused; default: their weighted sum.
    facets, filters: of the knowledge base; needed for filters and for ties by id.
    scope (Optional[ScopeSettings]): filters, by label too, and the rule for ties.
    names_per_tier (int): names that each tier proposes; more where k concepts need more.
    enough (int): concepts that need no more names, though more are asked for; 0 for as many as are.
    exact_first (bool): take the answer of memory and exact tier, where they have one, without
        asking the others: much faster, but with fewer alternatives.
    rescorer (Optional[Rescorer]): orders the candidates anew, with the mention's context.
    identifiers_of (Optional[IdentifiersOf]): of concepts, for mentions with identifiers; without it
        these are not looked at.
    calibrator (Optional[Calibrator]): for whoever decides: probabilities of first candidates.
    cache_size (int): mentions whose ranking is remembered.
    RAISES (MedlinkError): E162, E213 for filters that name what the knowledge base has not.
    """

    def __init__(
        self,
        name_concept: NDArray[np.int32],
        *,
        weights: Mapping[str, float] | None = None,
        fusion: Fusion | None = None,
        exact: "ExactIndex | None" = None,
        ngram: "NgramIndex | None" = None,
        dense: "DenseIndex | None" = None,
        memory: "MentionMemory | None" = None,
        encoder: Encoder | None = None,
        facets: "Facets | None" = None,
        filters: "NameFilters | None" = None,
        scope: ScopeSettings | None = None,
        names_per_tier: int = 64,
        enough: int = 0,
        exact_first: bool = False,
        rescorer: Rescorer | None = None,
        identifiers_of: IdentifiersOf | None = None,
        calibrator: Calibrator | None = None,
        cache_size: int = 65536,
    ) -> None:
        self.name_concept = name_concept
        self.encoder, self.rescorer, self.calibrator = encoder, rescorer, calibrator
        self.tiers = Tiers(name_concept, exact, ngram, dense, memory)
        fusion = fusion or WeightedFusion()
        self.fusion = fusion if fusion.weights is not None else fusion.with_weights(weights or {})
        self.scopes = Scopes(filters, facets, scope or ScopeSettings(), memory is not None)
        self.names_per_tier, self.enough = names_per_tier, enough
        self.exact_first = exact_first
        self.identifiers_of = None if identifiers_of is None else lru_cache(_KEPT)(identifiers_of)
        self._cache: Lru[_Key, list[Candidate]] = Lru(cache_size)

    exact = property(lambda self: self.tiers.exact)
    ngram = property(lambda self: self.tiers.ngram)
    dense = property(lambda self: self.tiers.dense)
    memory = property(lambda self: self.tiers.memory)

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each tier in the fused score."""
        return dict(self.fusion.weights or {})

    def rank(
        self, mentions: Sequence[Mention], k: int, only: "Only" = None
    ) -> list[list[Candidate]]:
        """Rank the concepts for each mention.

        mentions (Sequence[Mention]): any number, encoded together.
        k (int): at most so many concepts each.
        only (Only): what may be an answer in this call, beside the settings.
        RETURNS (List[List[Candidate]]): best first; [] where no tier finds anything. The lists
            are shared with the cache: do not change them.
        RAISES (MedlinkError): E162, E213 for a filter that names what the knowledge base has not.
        """
        scopes = self._scopes(mentions, only)
        found = self._remembered(self._keys(mentions, scopes, k))
        return self._rescored(mentions, found, k)

    def rank_within_filter(
        self, mentions: Sequence[Mention], k: int, only: "Only" = None, force: bool = False
    ) -> tuple[list[list[Candidate]], list[Candidate | None]]:
        """Rank as `rank` does, and find what says a mention better outside the filters.

        Texts are encoded once for both. Without a filter, and for mentions that are names of a
        concept within, nothing outside is looked for.

        RETURNS (Tuple[List[List[Candidate]], List[Optional[Candidate]]]): the rankings, and for
            each mention the best concept that no filter lets pass, if it says the mention better.
        RAISES (MedlinkError): E162, E213, as for `rank`.
        """
        scopes = self._scopes(mentions, only)
        outside: list[Candidate | None] = [None] * len(mentions)
        if force or all(scope.mask is None for scope in scopes.values()):
            return self.rank(mentions, k, only), outside
        vectors: _Vectors = {}
        keys = self._keys(mentions, scopes, k)
        found = self._remembered(keys, vectors)
        asked = [
            place
            for place, (key, own) in enumerate(zip(keys, found, strict=True))
            if key[1].mask is not None and not is_named_within(own, key[0].all)
        ]
        free = {label: self.scopes.unfiltered(label) for label in scopes}
        wider = [
            (keys[place][0], free[mentions[place].label], keys[place][2], 1) for place in asked
        ]
        for place, own in zip(asked, self._remembered(wider, vectors), strict=True):
            outside[place] = self._better(own, found[place], keys[place][1].mask)
        return self._rescored(mentions, found, k), outside

    def denied(self, mentions: Sequence[Mention]) -> list[bool]:
        """Tell of each mention whether corrections say that it is no concept.

        Of an abbreviation that its document defines, the long form is looked up.
        """
        memory = self.tiers.memory
        if memory is None or not memory.has_nil:
            return [False] * len(mentions)
        said: dict[tuple[str, str], bool] = {}
        texts = [(one.label, one.long_form or one.text) for one in mentions]
        for label in dict.fromkeys(label for label, _ in texts):
            own = list(dict.fromkeys(text for other, text in texts if other == label))
            found = memory.denies(own, label).tolist()
            said.update(zip(((label, text) for text in own), found, strict=True))
        return [said[one] for one in texts]

    def rank_unfiltered(self, mentions: Sequence[Mention], k: int) -> list[list[Candidate]]:
        """Rank as if there were no filter at all, to tell what filters removed."""
        free = {one.label: self.scopes.unfiltered(one.label) for one in mentions}
        return self._rank_new(
            [_key(one, free[one.label], not self.exact_first, k) for one in mentions]
        )

    def rank_within(
        self, mentions: Sequence[Mention], k: int, mask: "Mask"
    ) -> list[list[Candidate]]:
        """Rank as if the knowledge base had no other names than those of a mask.

        For whoever asks what would be linked if something were missing; nothing is remembered.
        """
        scopes = {label: self.scopes.within(label, mask) for label in {o.label for o in mentions}}
        keys = self._keys(mentions, scopes, k)
        return self._rescored(mentions, self._rank_new(keys), k)

    def look_up(self, texts: Sequence[str], width: int) -> Found:
        """Search all tiers without a filter, each for `width` names: (n_texts, m)."""
        return self.tiers.search(texts, self._encode(texts), width, None, self.scopes.of("").label)

    def rank_found(
        self, mentions: Sequence[Mention], found: Found, k: int
    ) -> list[list[Candidate]]:
        """Rank concepts for mentions by what `look_up` found for their texts."""
        wanted = max(k, getattr(self.rescorer, "top", 0))
        rankings = self._ranked(found, self._fused(found), self.scopes.of(""), wanted)
        for mention, ranking in zip(mentions, rankings, strict=True):
            for candidate in ranking:
                candidate.form = mention.text
        return self._rescored(mentions, rankings, k)

    def rank_names(self, texts: Sequence[str], k: int) -> list[list[tuple[int, float]]]:
        """Rank names instead of concepts: (name row, fused score), the papers' protocol.

        texts (Sequence[str]): the forms to search, one a mention.
        """
        rows, fused, _ = self.search(texts)
        rankings = []
        for own_rows, own_scores in zip(rows, fused, strict=True):
            # A name that several tiers propose occurs several times, with its exact score once.
            best: dict[int, float] = {}
            for row, score in zip(own_rows.tolist(), own_scores.tolist(), strict=True):
                best[row] = max(score, best.get(row, score))
            best.pop(-1, None)
            rankings.append(sorted(best.items(), key=lambda item: (-item[1], item[0]))[:k])
        return rankings

    def search(self, texts: Sequence[str]) -> tuple[Ints2d, Floats2d, dict[str, Floats2d]]:
        """Search all tiers without a filter, then let each score what the others found.

        RETURNS: rows (n, m), -1 where there is none; fused scores (n, m); scores by tier (n, m).
        """
        scope = self.scopes.of("")
        found = self.tiers.search(
            texts, self._encode(texts), self.names_per_tier, None, scope.label
        )
        return found.rows, self._fused(found), found.scores

    def clear_cache(self) -> None:
        """Forget remembered rankings, after a change of weights or tiers."""
        self._cache.clear()

    def _scopes(self, mentions: Sequence[Mention], only: "Only") -> dict[str, Scope]:
        return {label: self.scopes.of(label, only) for label in {one.label for one in mentions}}

    def _better(
        self, free: Sequence[Candidate], within: Sequence[Candidate], mask: "Mask | None"
    ) -> Candidate | None:
        """Get the best concept of a search without filters, if it is outside and better."""
        best = free[0] if free else None
        if best is None or self.tiers.has_name(best.row, mask):
            return None
        return best if is_better(best, within[0] if within else None) else None

    def _remembered(
        self, keys: Sequence[_Key], vectors: _Vectors | None = None
    ) -> list[list[Candidate]]:
        """Look up rankings, making those that are not in the cache."""
        found = {key: self._cache.get(key) for key in dict.fromkeys(keys)}
        missing = [key for key, ranking in found.items() if ranking is None]
        for key, ranking in zip(missing, self._rank_new(missing, vectors), strict=True):
            found[key] = ranking
            self._cache.put(key, ranking)
        return [found[key] or [] for key in keys]

    def _keys(self, mentions: Sequence[Mention], scopes: Mapping[str, Scope], k: int) -> list[_Key]:
        """Say what to look up: what orders candidates anew may look at more than are wanted."""
        width, heeded = max(k, getattr(self.rescorer, "top", 0)), self.identifiers_of is not None
        return [
            _key(one, scopes[one.label], True, max(width, DEPTH))
            if heeded and one.identifiers
            else _key(one, scopes[one.label], not self.exact_first, width)
            for one in mentions
        ]

    def _rescored(
        self, mentions: Sequence[Mention], rankings: list[list[Candidate]], k: int
    ) -> list[list[Candidate]]:
        """Order candidates anew, and keep as many as are wanted."""
        if self.rescorer is not None:
            rankings = self.rescorer.rescore(mentions, rankings)
        if self.identifiers_of is not None:
            perfect = float(self._perfect)
            rankings = [
                identified_first(one, own, self.identifiers_of, perfect) if one.identifiers else own
                for one, own in zip(mentions, rankings, strict=True)
            ]
        return [own[:k] if len(own) > k else own for own in rankings]

    def _rank_new(
        self, keys: Sequence[_Key], vectors: _Vectors | None = None
    ) -> list[list[Candidate]]:
        """Look up what is not remembered: together what is looked up in the same way.

        vectors (Optional[Dict[str, Floats1d]]): those that are known, and are then added to.
        """
        found: dict[_Key, list[Candidate]] = {}
        for way in dict.fromkeys(key[-2:] for key in keys):
            own = [key for key in keys if key[-2:] == way]
            found.update(zip(own, self._rank_alike(own, *way, vectors), strict=True))
        return [found[key] for key in keys]

    def _rank_alike(
        self, keys: Sequence[_Key], all_tiers: bool, k: int, known: _Vectors | None
    ) -> list[list[Candidate]]:
        by_scope: dict[Scope, dict[str, list[Candidate]]] = {}
        for key in keys:
            by_scope.setdefault(key[1], {}).update((form, []) for form in key[0].all)
        for scope, by_form in by_scope.items():
            first = [form for form in by_form if not (all_tiers and has_letters(form))]
            if self.exact is not None and first:
                by_form.update(self._rank_exact(first, scope, k))
        waiting = {
            scope: [form for form, ranking in by_form.items() if not ranking and has_letters(form)]
            for scope, by_form in by_scope.items()
        }
        # All that needs a vector is encoded together, whatever its scope.
        texts = list(dict.fromkeys(form for own in waiting.values() for form in own))
        vectors = self._vectors(texts, known) if texts else None
        place = {text: number for number, text in enumerate(texts)}
        for scope, own in waiting.items():
            if own:
                mine = None if vectors is None else vectors[[place[form] for form in own]]
                by_scope[scope].update(zip(own, self._rank_forms(own, mine, scope, k), strict=True))
        for by_form in by_scope.values():
            for form, ranking in by_form.items():
                for candidate in ranking:
                    candidate.form = form
        return [key[0].best(by_scope[key[1]], k) for key in keys]

    def _rank_exact(self, forms: list[str], scope: Scope, k: int) -> dict[str, list[Candidate]]:
        found = self.tiers.search_exact(forms, self.names_per_tier, scope.mask, scope.label)
        # Identical strings are identical to the other tiers too: the score is what the sum would
        # be, so that thresholds mean the same.
        fused = self._remembered_first(found, found.scores["exact"] * self._perfect)
        ranked = self._ranked(found, fused, scope, k)
        return {form: own for form, own in zip(forms, ranked, strict=True) if own}

    def _rank_forms(
        self, forms: Sequence[str], vectors: Floats2d | None, scope: Scope, k: int
    ) -> list[list[Candidate]]:
        """Rank concepts for texts, asking for more names where they belong to too few concepts."""
        width = self.names_per_tier
        wanted = min(k, self.enough or k)
        rankings: list[list[Candidate]] = [[] for _ in forms]
        waiting = np.arange(len(forms))
        while len(waiting):
            own = None if vectors is None else vectors[waiting]
            texts = [forms[place] for place in waiting.tolist()]
            found = self.tiers.search(texts, own, width, scope.mask, scope.label)
            ranked = self._ranked(found, self._fused(found), scope, k)
            for place, ranking in zip(waiting.tolist(), ranked, strict=True):
                rankings[place] = ranking
            if width >= len(self.name_concept):
                break
            short = np.fromiter((len(ranking) < wanted for ranking in ranked), dtype=np.bool_)
            waiting = waiting[short & ~found.complete(width)]
            width *= _WIDER
        return rankings

    def _ranked(self, found: Found, fused: Floats2d, scope: Scope, k: int) -> list[list[Candidate]]:
        rankings = rank_concepts(found.rows, fused, found.scores, self.name_concept, k, scope.rule)
        set_ranks(rankings, found.hits, self.name_concept)
        return rankings

    def _fused(self, found: Found) -> Floats2d:
        return self._remembered_first(found, self.fusion(found.scores))

    def _remembered_first(self, found: Found, fused: Floats2d) -> Floats2d:
        """Give the best name of a remembered concept the score of a perfect match."""
        remembered = found.scores.get(MEMORY)
        if remembered is None or not remembered.any():
            return fused
        among = np.where(remembered > 0, fused, np.float32(-np.inf))
        best = among.argmax(axis=1)
        own = np.flatnonzero(remembered.any(axis=1))
        fused = fused.copy()
        # Nothing may come before it, even by a rounding.
        fused[own, best[own]] = np.maximum(fused[own].max(axis=1), self._perfect)
        return fused

    @property
    def _perfect(self) -> np.float32:
        """What a name that is the mention scores."""
        perfect: np.float32 = np.float32(sum(self.weights.values()))
        return perfect

    def _vectors(self, texts: Sequence[str], known: _Vectors | None) -> Floats2d | None:
        """Encode texts but for those whose vectors are known, and remember the others."""
        if known is None:
            return self._encode(texts)
        new = [text for text in texts if text not in known]
        vectors = self._encode(new) if new else None
        if vectors is not None:
            known.update(zip(new, vectors, strict=True))
        return np.stack([known[text] for text in texts]) if known else None

    def _encode(self, texts: Sequence[str]) -> Floats2d | None:
        return self.encoder.encode(texts) if self.dense is not None and self.encoder else None


def _key(mention: Mention, scope: Scope, all_tiers: bool, k: int) -> _Key:
    """Make of a mention what is looked up and remembered."""
    return Forms.of(mention), scope, all_tiers, k
