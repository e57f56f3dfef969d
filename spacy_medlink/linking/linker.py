"""Linker: mentions in, decisions out; the only linker there is. Knows no spaCy.

Five verbs: `prepare` reads the mentions of a document, `retrieve` lets the tiers propose
candidates, `rank` orders them, `decide` makes links or NIL of them, `explain` says why.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..retrieval.filters import select
from ..types import Calibrator, Candidate, Floats2d, Ints2d, Mention
from .composite import link_parts
from .decision import FILTERED, NOT_A_CONCEPT, Decision, decide, kept
from .forms import Forms, LookupKey, Way
from .identified import DEPTH, identified_first
from .narrower import link_heads
from .outside import is_better, is_named_within
from .parts import Parts
from .prepare import Document, prepare
from .retrieval import Rankings, Retrieval, Retrieved, Vectors
from .scopes import Scope, Scopes
from .settings import LinkSettings
from .tiers import Found, Tiers

if TYPE_CHECKING:  # the tiers are imported only if they are used
    from ..retrieval.filters import Only
    from ..retrieval.mask import Mask
    from .explanation import Explanation

_OF_RETRIEVAL = ("scope", "names_per_tier", "cache_size")


@dataclass(frozen=True, eq=False)
class Linker:
    """Links mentions to concepts; immutable, safe to call from threads.

    parts (Parts): models, tiers and knowledge base. settings (LinkSettings): how to link.
    `Linker.of` makes it of parts, `open_linker` of assets; `using`, `with_parts` change a copy.
    """

    parts: Parts
    settings: LinkSettings
    retrieval: Retrieval
    scopes: Scopes

    @classmethod
    def of(cls, parts: Parts, settings: LinkSettings | None = None) -> "Linker":
        """Make a linker of parts.

        RAISES (MedlinkError): E213 for filters with names that the knowledge base lacks.
        """
        settings = settings or LinkSettings()
        retrieval = Retrieval(
            parts.tiers, parts.cheap_tiers, parts.encoder, parts.fusion, settings.names_per_tier,
            settings.cache_size,
        )  # fmt: skip
        return cls(parts, settings, retrieval, parts.scopes(settings.scope))

    def using(self, **settings: Any) -> "Linker":
        """Make a linker of the same parts with other settings; both share the caches.

        Settings that choose parts (`tiers`, `memory`, `ranker`, `rerank_top`, `calibrator`) belong
        to `open_linker`.
        """
        new = replace(self.settings, **settings)
        if new == self.settings:
            return self
        if any(getattr(new, name) != getattr(self.settings, name) for name in _OF_RETRIEVAL):
            return Linker.of(self.parts, new)
        return replace(self, settings=new)

    def with_parts(self, **parts: Any) -> "Linker":
        """Make a linker with other parts and the same settings; its caches are empty."""
        return Linker.of(replace(self.parts, **parts), self.settings)

    # The five verbs

    def prepare(self, document: Document) -> list[Mention]:
        """Make the mentions of a document, with their context and the forms to look up."""
        settings = self.settings
        return prepare(
            document,
            self.parts.lexicon,
            settings.resolve_abbreviations,
            settings.resolve_identifiers,
        )

    def retrieve(
        self,
        mentions: Sequence[Mention],
        k: int,
        only: "Only" = None,
        force: bool = False,
        keep: int = 0,
    ) -> Retrieved:
        """Let the tiers propose candidates, and test whether one outside the filters is better.

        Texts are encoded once for both searches. There is no search outside without a filter, and
        none for a mention that is a name of a concept within the filters.

        k (int): concepts wanted of each. keep (int): concepts kept, where that is more.
        only (Only): a filter of this call, beside the settings.
        force (bool): do not search outside.
        RAISES (MedlinkError): E213 for a filter with names that the knowledge base lacks.
        """
        scopes = self._scopes(mentions, only)
        keys = self._keys(mentions, scopes, k, keep)
        outside: list[Candidate | None] = [None] * len(mentions)
        if force or all(scope.mask is None for scope in scopes.values()):
            return Retrieved(self.retrieval.find(keys), outside)
        vectors: Vectors = {}
        found = self.retrieval.find(keys, vectors)
        asked = [
            place
            for place, (key, own) in enumerate(zip(keys, found, strict=True))
            if key.scope.mask is not None and not is_named_within(own, key.forms.all)
        ]
        free = {label: self.scopes.unfiltered(label) for label in scopes}
        wider = [keys[place].best_in(free[mentions[place].label]) for place in asked]
        for place, own in zip(asked, self.retrieval.find(wider, vectors), strict=True):
            outside[place] = self._better(own, found[place], keys[place].scope.mask)
        return Retrieved(found, outside)

    def rank(
        self,
        mentions: Sequence[Mention],
        k: int,
        only: "Only" = None,
        retrieved: Rankings | None = None,
    ) -> Rankings:
        """Order the candidates of mentions: ranker, reranker, then what the document identifies.

        k (int): at most so many concepts each. only (Only): as for `retrieve`.
        retrieved (Optional[List[List[Candidate]]]): the candidates of `retrieve`; None retrieves
            them, without a search outside the filters.
        RETURNS (List[List[Candidate]]): best first; [] where no tier finds anything. The lists
            are shared with the cache: do not change them.
        """
        if retrieved is None:
            retrieved = self.retrieve(mentions, k, only, force=True).rankings
        return self._ordered(mentions, retrieved, k)

    def decide(
        self,
        mentions: Sequence[Mention],
        only: "Only" = None,
        force: bool | None = None,
        keep: int = 0,
    ) -> list[Decision]:
        """Link mentions: retrieve, rank, then choose a concept or NIL for each.

        only (Only): filters of this call, beside the settings. force (Optional[bool]): link a
            mention even if a concept outside the filters matches better; None as the settings say.
        keep (int): candidates to keep for an evaluation, where that is more than the settings
            want; it does not change the link.
        RAISES (MedlinkError): E213 for a filter with names that the knowledge base lacks.
        """
        settings = self.settings
        force = settings.force_within_filter if force is None else force
        depth = settings.depth
        found = self.retrieve(mentions, depth, only, force, keep)
        ranked = self.rank(mentions, max(depth, keep), only, found.rankings)
        decisions = decide(
            [own[:depth] if len(own) > depth else own for own in ranked],
            settings.threshold,
            calibrator=self.parts.calibrator,
            denied=self.denied(mentions),
            outside=found.outside,
        )
        most = max(settings.top_k, keep)
        decided = [
            # Most decisions already have the wanted number of candidates, and are not copied.
            one
            if own and len(own) <= most and len(own) == len(one.ranking)
            else self._finished(mention, one, own, most, only)
            for mention, one, own in zip(mentions, decisions, ranked, strict=True)
        ]
        if settings.composite:
            most, firsts = settings.top_k, [one.ranking[: settings.top_k] for one in decided]
            parts = link_parts(self, mentions, firsts, most, settings.threshold, only, force)
            for place, own in parts.items():
                decided[place] = decided[place]._replace(parts=own)
        for place, narrower in link_heads(self, mentions, decided, only, force).items():
            decided[place] = narrower
        return decided

    def explain(
        self, mention: Mention, only: "Only" = None, force: bool | None = None
    ) -> "Explanation":
        """Explain the link of a mention, with all tiers; the arguments are those of `decide`."""
        from .explain import explain, is_reranked

        assert self.parts.kb is not None
        linker, (decision,) = self, self.decide([mention], only, force)
        reranked, rescorer = None, self.parts.rescorer
        if rescorer is not None and rescorer.reads_context:
            (ranked,) = self.rank([mention], self._width(self.settings.depth), only)
            reranked = is_reranked(ranked)
        is_gated = self.parts.gate is not None or reranked is False
        if self.settings.exact_first is None and is_gated:
            every = self.using(exact_first=False)
            (full,) = every.decide([mention], only, force)
            if (full.link and full.link.row) == (decision.link and decision.link.row):
                linker, decision = every, full
        k = self.settings.top_k
        return explain(linker, self.parts.kb, mention, decision, k, only, reranked)

    # Steps of the verbs, for code that fits or measures one of them

    def denied(self, mentions: Sequence[Mention]) -> list[bool]:
        """Tell for each mention whether corrections say that it is no concept.

        For an abbreviation that the document defines, the long form is looked up.
        """
        return self.tiers.denied(mentions)

    def rank_unfiltered(self, mentions: Sequence[Mention], k: int) -> Rankings:
        """Retrieve without any filter, to show what filters removed."""
        free = {one.label: self.scopes.unfiltered(one.label) for one in mentions}
        keys = [LookupKey(Forms.of(one), free[one.label], self._way(k, k)) for one in mentions]
        return self.retrieval.find(keys, remember=False)

    def rank_within(self, mentions: Sequence[Mention], k: int, mask: "Mask") -> Rankings:
        """Rank as if the knowledge base had no other names than those of a mask.

        It shows the link that would result if names were missing; nothing is remembered.
        """
        scopes = {label: self.scopes.within(label, mask) for label in {o.label for o in mentions}}
        found = self.retrieval.find(self._keys(mentions, scopes, k), remember=False)
        return self._ordered(mentions, found, k)

    def look_up(self, texts: Sequence[str], width: int) -> Found:
        """Search all tiers without a filter for `width` names each: (n_texts, m)."""
        return self.retrieval.search(texts, width, self.scopes.of("").label)

    def rank_found(self, mentions: Sequence[Mention], found: Found, k: int) -> Rankings:
        """Rank concepts for mentions by the names that `look_up` found for their texts."""
        rankings = self.retrieval.ranked(found, self.scopes.of(""), self._width(k))
        for mention, ranking in zip(mentions, rankings, strict=True):
            for candidate in ranking:
                candidate.form = mention.text
        return self._ordered(mentions, rankings, k)

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
        """Search all tiers without a filter, then let each tier score the names of the others.

        RETURNS: rows (n, m), -1 where there is none; fused scores (n, m); scores by tier (n, m).
        """
        found = self.look_up(texts, self.settings.names_per_tier)
        return found.rows, self.retrieval.fused(found), found.scores

    def scope(self, label: str, only: "Only" = None) -> Scope:
        """Get the scope of an entity label, under the settings and the filter of a call."""
        own = self.settings.only
        return self.scopes.of(label, only if own is None else select(own, only))

    # The parts

    @property
    def name_concept(self) -> NDArray[np.int32]:
        """Concept row of every name row, (n_names,)."""
        return self.parts.name_concept

    @property
    def tiers(self) -> Tiers:
        """The tiers that are asked."""
        return self.retrieval.tiers

    @property
    def calibrator(self) -> Calibrator | None:
        """The model that gives probabilities."""
        return self.parts.calibrator

    # Helpers

    def _scopes(self, mentions: Sequence[Mention], only: "Only") -> dict[str, Scope]:
        return {label: self.scope(label, only) for label in {one.label for one in mentions}}

    def _width(self, k: int) -> int:
        """Get the number of candidates to retrieve; rescorers may need more than are wanted."""
        return k if self.parts.rescorer is None else max(k, self.parts.rescorer.top)

    def _keys(
        self, mentions: Sequence[Mention], scopes: Mapping[str, Scope], k: int, keep: int = 0
    ) -> list[LookupKey]:
        width, heeded = self._width(k), self.parts.identifiers_of is not None
        deep = max(width, DEPTH)
        usual = self._way(width, max(width, keep))
        thorough = Way(True, deep, max(deep, keep))
        return [
            LookupKey(
                Forms.of(one), scopes[one.label], thorough if heeded and one.identifiers else usual
            )
            for one in mentions
        ]

    def _way(self, enough: int, width: int) -> Way:
        """Choose how to look up mentions: by all tiers, or by memory and exact tier first."""
        first = self.settings.exact_first
        return Way(not first, enough, width, self.parts.gate if first is None else None)

    def _better(
        self, free: Sequence[Candidate], within: Sequence[Candidate], mask: "Mask | None"
    ) -> Candidate | None:
        """Get the best concept of the search without filters, if it is outside and better."""
        best = free[0] if free else None
        if best is None or self.tiers.has_name(best.row, mask):
            return None
        return best if is_better(best, within[0] if within else None) else None

    def _ordered(self, mentions: Sequence[Mention], rankings: Rankings, k: int) -> Rankings:
        """Order candidates anew, and keep the first k."""
        if self.parts.rescorer is not None:
            rankings = self.parts.rescorer.rescore(
                mentions, rankings, self.settings.exact_first is False
            )
        identifiers_of = self.parts.identifiers_of
        if identifiers_of is not None:
            perfect = float(self.retrieval.perfect)
            rankings = [
                identified_first(one, own, identifiers_of, perfect) if one.identifiers else own
                for one, own in zip(mentions, rankings, strict=True)
            ]
        return [own[:k] if len(own) > k else own for own in rankings]

    def _finished(
        self,
        mention: Mention,
        decision: Decision,
        ranked: Sequence[Candidate],
        most: int,
        only: "Only",
    ) -> Decision:
        """Keep the first k candidates; if there are none, say whether filters leave no name."""
        if decision.ranking or decision.reason == NOT_A_CONCEPT:
            return kept(decision, ranked, most)
        mask = self.scope(mention.label, only).mask
        return decision if mask is None or mask.count else decision._replace(reason=FILTERED)
