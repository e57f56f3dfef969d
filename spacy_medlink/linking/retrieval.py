"""Retrieval: from keys to candidates that the tiers propose, fused and by concept.

Every form of a mention (the text, and the long form where there is one) is looked up in the memory
of corrections and the exact tier, and searched in the n-gram and dense tiers. All tiers then score
the union of the names found; the scores are fused, and concepts are ranked by them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..retrieval.concepts import MEMORY, rank_concepts, set_ranks
from ..types import Candidate, Encoder, Floats1d, Floats2d, Fusion
from ..util.locks import Lru
from .forms import Asked, LookupKey, Way, has_letters
from .scopes import Scope
from .tiers import Found, Tiers

if TYPE_CHECKING:
    from .gate import Gate

Rankings = list[list[Candidate]]
Vectors = dict[str, Floats1d]
"""Vectors of texts that one call has encoded already."""
_SEEN = 2
_WIDER = 4  # factor for the names asked for when too few concepts were found


class Retrieved(NamedTuple):
    """The candidates of n mentions.

    rankings (List[List[Candidate]]): best first, shared with the cache: do not change them.
    outside (List[Optional[Candidate]]): the best concept outside the filters, if it matches the
        mention better than those within.
    """

    rankings: Rankings
    outside: list[Candidate | None]


class Retrieval:
    """Retrieves and remembers candidates; safe to call from threads.

    tiers (Tiers): to ask. cheap (Tiers): to ask about mentions that pass the gate.
    encoder (Optional[Encoder]): for the dense tier.
    fusion (Fusion): with its weights. names_per_tier (int): names that each tier proposes; more
        where they belong to too few concepts. cache_size (int): rankings to remember.
    """

    def __init__(
        self,
        tiers: Tiers,
        cheap: Tiers,
        encoder: Encoder | None,
        fusion: Fusion,
        names_per_tier: int,
        cache_size: int,
    ) -> None:
        self.tiers, self._cheap, self.fusion = tiers, cheap, fusion
        weights = dict(fusion.weights or {})
        others = {tier: weight for tier, weight in weights.items() if tier != "dense"}
        if cheap.ngram is not None and not others.get("ngram"):
            # A weight of 0 would leave the candidates behind the first one without an order.
            others["ngram"] = others.get("exact") or 1.0
        total = sum(others.values())
        self._fusion_without_dense = fusion.with_weights(
            {tier: weight * float(self.perfect) / total for tier, weight in others.items()}
            if total
            else others
        )
        self._encoder = encoder if tiers.dense is not None else None
        self._names_per_tier = names_per_tier
        self._cache: Lru[LookupKey, list[Candidate]] = Lru(cache_size)

    @property
    def perfect(self) -> np.float32:
        """The score of a name that equals the mention."""
        perfect: np.float32 = np.float32(sum((self.fusion.weights or {}).values()))
        return perfect

    def find(
        self, keys: Sequence[LookupKey], vectors: Vectors | None = None, remember: bool = True
    ) -> Rankings:
        """Find the candidates for each key; keys of the same scope and way are searched together.

        vectors (Optional[Dict[str, Floats1d]]): the known vectors; new ones are added.
        remember (bool): take rankings from the cache, and keep new ones in it.
        """
        distinct = dict.fromkeys(keys)
        found = {key: self._cache.get(key) if remember else None for key in distinct}
        missing = [key for key, ranking in found.items() if ranking is None]
        for way in dict.fromkeys(key.way for key in missing):
            own = [key for key in missing if key.way == way]
            by_scope = self._begin(own, way)
            if way.gate is not None:
                self._pass_gate(by_scope, way, way.gate)
            waiting = {scope: _unanswered(by_form) for scope, by_form in by_scope.items()}
            # All texts without a vector are encoded together, whatever their scope.
            alone = {form: None for forms in waiting.values() for form, known in forms if not known}
            encoded = self.encode(alone, vectors)
            for scope, forms in waiting.items():
                if forms:
                    ranked = self._search_forms(forms, encoded, scope, way)
                    by_scope[scope].update(zip(forms, ranked, strict=True))
            for by_form in by_scope.values():
                _note_forms(by_form)
            for key in own:
                answers = {asked[0]: by_scope[key.scope][asked] for asked in key.forms.asked}
                ranking = found[key] = key.forms.best(answers, way.width)
                if remember:
                    self._cache.put(key, ranking)
        return [found[key] or [] for key in keys]

    def clear(self) -> None:
        """Empty the cache."""
        self._cache.clear()

    def search(self, texts: Sequence[str], width: int, label: str) -> Found:
        """Search all tiers without a filter for `width` names each: (n_texts, m)."""
        vectors = None if self._encoder is None else self._encoder.encode(texts)
        return self.tiers.search(texts, vectors, width, None, label)

    def encode(
        self, texts: Sequence[str] | dict[str, None], known: Vectors | None = None
    ) -> Vectors:
        """Encode texts whose vectors are not known; without a dense tier, encode none."""
        vectors: Vectors = {} if known is None else known
        if self._encoder is None:
            return vectors
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        if new:
            vectors.update(zip(new, self._encoder.encode(new), strict=True))
        return vectors

    def ranked(self, found: Found, scope: Scope, k: int) -> Rankings:
        """Rank concepts for texts by the names found."""
        return self._ranked(found, self.fused(found), scope, k)

    def fused(self, found: Found) -> Floats2d:
        """Fuse the scores of names, (n_texts, m); remembered corrections come first."""
        if self.tiers.dense is None or "dense" in found.scores:
            return self._remembered_first(found, self.fusion(found.scores))
        # The dense tier would give the same score to a name that equals the text.
        exact = found.scores["exact"] * self.perfect
        fused = np.maximum(self._fusion_without_dense(found.scores), exact)
        return self._remembered_first(found, fused)

    def _begin(
        self, keys: Sequence[LookupKey], way: Way
    ) -> dict[Scope, dict[Asked, list[Candidate]]]:
        """Group forms by scope, with the answers of forms that the exact tier answers alone."""
        by_scope: dict[Scope, dict[Asked, list[Candidate]]] = {}
        for key in keys:
            by_scope.setdefault(key.scope, {}).update((asked, []) for asked in key.forms.asked)
        for scope, by_form in by_scope.items():
            first = [asked for asked in by_form if not (way.all_tiers and has_letters(asked[0]))]
            if self.tiers.exact is None or not first:
                continue
            found = self.rank_exact([form for form, _ in first], scope, way.width)
            by_form.update((asked, found[asked[0]]) for asked in first if found[asked[0]])
        return by_scope

    def _pass_gate(
        self, by_scope: dict[Scope, dict[Asked, list[Candidate]]], way: Way, gate: "Gate"
    ) -> None:
        """Rank the forms that pass the gate by all tiers except the dense one.

        A form with a vector never passes: it has a context, which may change the link.
        """
        for scope, by_form in by_scope.items():
            forms = [form for form, known in _unanswered(by_form) if not known]
            found = self.rank_exact(forms, scope, _SEEN) if forms else {}
            passing = [(form, b"") for form, own in found.items() if own and gate.lets(own)]
            ranked = self._search_forms(passing, None, scope, way, self._cheap)
            by_form.update(zip(passing, ranked, strict=True))

    def rank_exact(self, forms: Sequence[str], scope: Scope, k: int) -> dict[str, list[Candidate]]:
        """Rank the answers of memory and exact tier for forms; [] where they have none."""
        found = self.tiers.search_exact(forms, self._names_per_tier, scope.mask, scope.label)
        # An identical string is identical for the other tiers too. The score equals the fused
        # score, so that thresholds keep their meaning.
        fused = self._remembered_first(found, found.scores["exact"] * self.perfect)
        ranked = self._ranked(found, fused, scope, k)
        return dict(zip(forms, ranked, strict=True))

    def _search_forms(
        self,
        forms: Sequence[Asked],
        vectors: Vectors | None,
        scope: Scope,
        way: Way,
        tiers: Tiers | None = None,
    ) -> Rankings:
        """Rank concepts for texts, asking for more names where they belong to too few concepts.

        vectors (Optional[Vectors]): of the texts; None leaves the dense tier out.
        way (Way): how many concepts are enough, and how many are kept.
        tiers (Optional[Tiers]): to ask; default: all.
        """
        tiers = tiers or self.tiers
        width = self._names_per_tier
        stacked = None if vectors is None else self._stacked(forms, vectors)
        rankings: Rankings = [[] for _ in forms]
        waiting = np.arange(len(forms))
        while len(waiting):
            own = None if stacked is None else stacked[waiting]
            texts = [forms[place][0] for place in waiting.tolist()]
            found = tiers.search(texts, own, width, scope.mask, scope.label)
            ranked = self.ranked(found, scope, way.width)
            for place, ranking in zip(waiting.tolist(), ranked, strict=True):
                rankings[place] = ranking
            if width >= len(self.tiers.name_concept):
                break
            short = np.fromiter((len(ranking) < way.enough for ranking in ranked), np.bool_)
            waiting = waiting[short & ~found.complete(width)]
            width *= _WIDER
        return rankings

    def _ranked(self, found: Found, fused: Floats2d, scope: Scope, k: int) -> Rankings:
        concepts = self.tiers.name_concept
        rankings = rank_concepts(found.rows, fused, found.scores, concepts, k, scope.rule)
        set_ranks(rankings, found.hits, concepts)
        return rankings

    def _remembered_first(self, found: Found, fused: Floats2d) -> Floats2d:
        """Give the best name of a remembered concept the score of a perfect match."""
        remembered = found.scores.get(MEMORY)
        if remembered is None or not remembered.any():
            return fused
        among = np.where(remembered > 0, fused, np.float32(-np.inf))
        best = among.argmax(axis=1)
        own: NDArray[np.intp] = np.flatnonzero(remembered.any(axis=1))
        fused = fused.copy()
        # No other name may come before it, not even by rounding.
        fused[own, best[own]] = np.maximum(fused[own].max(axis=1), self.perfect)
        return fused

    def _stacked(self, forms: Sequence[Asked], vectors: Vectors) -> Floats2d | None:
        """Stack the vectors of forms, (n_forms, dim); None without a dense tier."""
        if self._encoder is None or not forms:
            return None
        return np.stack([np.frombuffer(own, "f") if own else vectors[text] for text, own in forms])


def _unanswered(by_form: dict[Asked, list[Candidate]]) -> list[Asked]:
    return [asked for asked, ranking in by_form.items() if not ranking and has_letters(asked[0])]


def _note_forms(by_form: dict[Asked, list[Candidate]]) -> None:
    """Write into each candidate the form that found it."""
    for (form, _), ranking in by_form.items():
        for candidate in ranking:
            candidate.form = form
