"""Retrieval: from keys to candidates that the tiers propose, fused and by concept.

Every form of a mention (the text, and the long form where there is one) is looked up in the memory
of corrections and the exact tier, and searched in the n-gram and dense tiers. All tiers then score
the union of the names found; the scores are fused, and concepts are ranked by them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..retrieval.concepts import MEMORY, rank_concepts, set_ranks
from ..retrieval.tier import EXACT
from ..types import Candidate, Floats1d, Floats2d
from ..util.locks import Lru
from .forms import Asked, Effort, Lookup, has_letters
from .gate import is_settled
from .parts import Parts
from .scopes import Scope
from .tiers import ScoredNames, Tiers

Rankings = list[list[Candidate]]
Vectors = dict[str, Floats1d]
"""Vectors of texts that one call has encoded already."""
_Answers = dict[Scope, dict[Asked, list[Candidate]]]
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

    parts (Parts): tiers, encoder and fusion. names_per_tier (int): names that each tier proposes;
        more where they belong to too few concepts. cache_size (int): rankings to remember.
    """

    def __init__(self, parts: Parts, names_per_tier: int, cache_size: int) -> None:
        self.tiers, self._cheap, self.fusion = parts.tiers, parts.cheap_tiers, parts.fusion
        fusion = parts.fusion
        self._exact = replace(self.tiers, others={})
        # The score of a name that equals the mention.
        self.perfect = np.float32(sum((fusion.weights or {}).values()))
        weights = dict(fusion.weights or {})
        self._of_vectors = self.tiers.others.keys() - self._cheap.others.keys()
        others = {tier: weight for tier, weight in weights.items() if tier not in self._of_vectors}
        for tier in self._cheap.others:
            # A weight of 0 would leave the candidates behind the first one without an order.
            others[tier] = others.get(tier) or others.get(EXACT) or 1.0
        total = sum(others.values())
        self._fusion_without_dense = fusion.with_weights(
            {tier: weight * float(self.perfect) / total for tier, weight in others.items()}
            if total
            else others
        )
        self._encoder = parts.encoder if self._of_vectors else None
        self._names_per_tier = names_per_tier
        self._cache: Lru[Lookup, list[Candidate]] = Lru(cache_size)

    def find(
        self, lookups: Sequence[Lookup], vectors: Vectors | None = None, remember: bool = True
    ) -> Rankings:
        """Find the candidates for each lookup; those of the same effort are searched together.

        vectors (Optional[Dict[str, Floats1d]]): the known vectors; new ones are added.
        remember (bool): take rankings from the cache, and keep new ones in it.
        """
        rankings: dict[Lookup, list[Candidate]] = {}
        missing: dict[Effort, dict[Lookup, None]] = {}
        cached = self._cache.get_all(lookups) if remember else [None] * len(lookups)
        for lookup, ranking in zip(lookups, cached, strict=True):
            if ranking is None:
                missing.setdefault(lookup.effort, {})[lookup] = None
            else:
                rankings[lookup] = ranking
        for effort, new in missing.items():
            answers = self._begin(new, effort)
            waiting = {scope: _unanswered(by_form) for scope, by_form in answers.items()}
            # All texts without a vector are encoded together, whatever their scope.
            alone = (form for asked in waiting.values() for form, vector in asked if not vector)
            encoded = self.encode(alone, vectors)
            for scope, asked in waiting.items():
                if asked:
                    ranked = self._search(self.tiers, asked, encoded, scope, effort)
                    answers[scope].update(zip(asked, ranked, strict=True))
            merged = {lookup: lookup.best(answers[lookup.scope]) for lookup in new}
            rankings.update(merged)
            if remember:
                self._cache.put_all(merged)
        return list(map(rankings.__getitem__, lookups))

    def clear(self) -> None:
        """Empty the cache."""
        self._cache.clear()

    def search(self, texts: Sequence[str], width: int = 0) -> ScoredNames:
        """Search all tiers without a filter: (n_texts, m).

        width (int): names of each tier; 0 for as many as the settings say.
        """
        vectors = None if self._encoder is None else self._encoder.encode(texts)
        return self.tiers.search(texts, vectors, width or self._names_per_tier)

    def encode(self, texts: Iterable[str], encoded: Vectors | None = None) -> Vectors:
        """Encode texts whose vectors are not known; without a dense tier, encode none."""
        vectors: Vectors = {} if encoded is None else encoded
        if self._encoder is None:
            return vectors
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        if new:
            vectors.update(zip(new, self._encoder.encode(new), strict=True))
        return vectors

    def ranked(self, texts: Sequence[str], scored: ScoredNames, scope: Scope, k: int) -> Rankings:
        """Rank concepts for texts by the names found for them."""
        return self._ranked(texts, scored, self.fused(scored), scope, k)

    def fused(self, scored: ScoredNames) -> Floats2d:
        """Fuse the scores of names, (n_texts, m); remembered corrections come first."""
        if self._of_vectors <= scored.scores.keys():
            return self._remembered_first(scored, self.fusion(scored.scores))
        # The dense tier would give the same score to a name that equals the text.
        exact = scored.scores[EXACT] * self.perfect
        fused = np.maximum(self._fusion_without_dense(scored.scores), exact)
        return self._remembered_first(scored, fused)

    def rank_exact(self, forms: Sequence[str], scope: Scope, k: int) -> dict[str, list[Candidate]]:
        """Rank the answers of memory and exact tier for forms; [] where they have none."""
        scored = self._exact.search(forms, None, self._names_per_tier, scope.mask, scope.label)
        # An identical string is identical for the other tiers too. The score equals the fused
        # score, so that thresholds keep their meaning.
        fused = self._remembered_first(scored, scored.scores[EXACT] * self.perfect)
        return dict(zip(forms, self._ranked(forms, scored, fused, scope, k), strict=True))

    def _begin(self, lookups: Iterable[Lookup], effort: Effort) -> _Answers:
        """Group the forms of lookups by scope, with the answers that need no dense tier."""
        answers: _Answers = {}
        for lookup in lookups:
            by_form = answers.setdefault(lookup.scope, {})
            for asked in lookup.asked:
                by_form[asked] = []
        for scope, by_form in answers.items():
            first = [asked for asked in by_form if not (effort.all_tiers and has_letters(asked[0]))]
            if first and self.tiers.exact is not None:
                exact = self.rank_exact([form for form, _ in first], scope, effort.width)
                by_form.update((asked, exact[asked[0]]) for asked in first)
        if effort.gated:
            self._pass_gate(answers, effort)
        return answers

    def _pass_gate(self, answers: _Answers, effort: Effort) -> None:
        """Rank the forms whose answer is settled by all tiers except the dense one.

        A form with a vector never passes: it has a context, which may change the link.
        """
        for scope, by_form in answers.items():
            forms = [form for form, vector in _unanswered(by_form) if not vector]
            exact = self.rank_exact(forms, scope, _SEEN) if forms else {}
            passing = [(form, b"") for form, answer in exact.items() if is_settled(answer)]
            ranked = self._search(self._cheap, passing, None, scope, effort)
            by_form.update(zip(passing, ranked, strict=True))

    def _search(
        self,
        tiers: Tiers,
        asked: Sequence[Asked],
        vectors: Vectors | None,
        scope: Scope,
        effort: Effort,
    ) -> Rankings:
        """Rank concepts for texts, asking for more names where they belong to too few concepts.

        vectors (Optional[Vectors]): of the texts; None leaves the dense tier out.
        effort (Effort): how many concepts are enough, and how many are kept.
        """
        width = self._names_per_tier
        stacked = None if vectors is None else self._stacked(asked, vectors)
        rankings: Rankings = [[] for _ in asked]
        waiting = np.arange(len(asked))
        while len(waiting):
            queries = None if stacked is None else stacked[waiting]
            places = waiting.tolist()
            texts = [asked[position][0] for position in places]
            scored = tiers.search(texts, queries, width, scope.mask, scope.label)
            ranked = self.ranked(texts, scored, scope, effort.width)
            for position, ranking in zip(places, ranked, strict=True):
                rankings[position] = ranking
            short = [len(ranking) < effort.enough for ranking in ranked]
            if width >= len(tiers.name_concept) or not any(short):
                break
            waiting = waiting[np.asarray(short) & ~scored.complete(width)]
            width *= _WIDER
        return rankings

    def _ranked(
        self, texts: Sequence[str], scored: ScoredNames, fused: Floats2d, scope: Scope, k: int
    ) -> Rankings:
        concepts = self.tiers.name_concept
        rankings = rank_concepts(scored.rows, fused, scored.scores, concepts, k, scope.rule)
        set_ranks(rankings, scored.hits, concepts)
        for text, ranking in zip(texts, rankings, strict=True):
            for candidate in ranking:
                candidate.form = text
        return rankings

    def _remembered_first(self, scored: ScoredNames, fused: Floats2d) -> Floats2d:
        """Give the best name of a remembered concept the score of a perfect match."""
        remembered = scored.scores.get(MEMORY)
        if remembered is None or not remembered.any():
            return fused
        among = np.where(remembered > 0, fused, np.float32(-np.inf))
        best = among.argmax(axis=1)
        rows: NDArray[np.intp] = np.flatnonzero(remembered.any(axis=1))
        fused = fused.copy()
        # No other name may come before it, not even by rounding.
        fused[rows, best[rows]] = np.maximum(fused[rows].max(axis=1), self.perfect)
        return fused

    def _stacked(self, asked: Sequence[Asked], vectors: Vectors) -> Floats2d | None:
        """Stack the vectors of forms, (n_forms, dim); None without a dense tier."""
        if self._encoder is None or not asked:
            return None
        return np.stack(
            [np.frombuffer(vector, "f") if vector else vectors[text] for text, vector in asked]
        )


def _unanswered(by_form: dict[Asked, list[Candidate]]) -> list[Asked]:
    return [asked for asked, ranking in by_form.items() if not ranking and has_letters(asked[0])]
