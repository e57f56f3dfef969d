"""Linker: mentions in, decisions out; the only linker there is. Knows no spaCy.

Five verbs: `prepare` reads the mentions of a document, `retrieve` lets the tiers propose
candidates, `rank` orders them, `decide` makes links or NIL of them, `explain` says why.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..retrieval.filters import select
from ..retrieval.mask import Mask
from ..retrieval.slips import without_slips
from ..types import Candidate, Mention
from .composite import choose_parts, composites, parts_of
from .decision import (
    FILTERED,
    NOT_A_CONCEPT,
    Decision,
    decide,
    is_better,
    is_named_within,
    kept,
    with_probabilities,
)
from .features import DEPTH
from .forms import Effort, Lookup
from .identified import DEPTH as _IDENTIFIED
from .identified import identified_first
from .narrower import heads_of, linked_by_head, said_narrower
from .parts import Parts
from .prepare import Document, prepare
from .retrieval import Rankings, Retrieval, Retrieved, Vectors
from .scopes import Scope, Scopes
from .settings import LinkSettings

if TYPE_CHECKING:
    from ..retrieval.filters import Only
    from .explanation import Explanation

_OF_RETRIEVAL = ("labels", "names_per_tier", "cache_size")


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
        retrieval = Retrieval(parts, settings.names_per_tier, settings.cache_size)
        has_memory = parts.memory is not None
        built = parts.name_concept[: None if parts.added is None else parts.added.built]
        scopes = Scopes(parts.filters, parts.facets, settings.labels, has_memory, built)
        return cls(parts, settings, retrieval, scopes)

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
        only: "Only | Mask" = None,
        force: bool = False,
        keep: int = 0,
    ) -> Retrieved:
        """Let the tiers propose candidates, and test whether one outside the filters is better.

        Texts are encoded once for both searches. There is no search outside without a filter, and
        none for a mention that is a name of a concept within the filters.

        k (int): concepts wanted of each. keep (int): concepts kept, where that is more.
        only (Only): a filter of this call, beside the settings; or a mask, for as if the knowledge
            base had no other names than those of the mask, and then nothing is remembered.
        force (bool): do not search outside.
        RAISES (MedlinkError): E213 for a filter with names that the knowledge base lacks.
        """
        lookups, vectors = self._lookups(self._spelt(mentions), k, only, keep), Vectors()
        rankings = self.retrieval.find(lookups, vectors, not isinstance(only, Mask))
        outside: list[Candidate | None] = [None] * len(mentions)
        filtered: list[int] = []
        for position, (lookup, ranking) in enumerate(zip(lookups, rankings, strict=True)):
            is_free = force or lookup.scope.mask is None
            if not is_free and not is_named_within(ranking, lookup.forms):
                filtered.append(position)
        if filtered:
            wider = [
                lookups[position].best_in(self.scopes.unfiltered(mentions[position].label))
                for position in filtered
            ]
            for position, free in zip(filtered, self.retrieval.find(wider, vectors), strict=True):
                outside[position] = self._better(
                    free, rankings[position], lookups[position].scope.mask
                )
        return Retrieved(rankings, outside)

    def rank(
        self,
        mentions: Sequence[Mention],
        k: int,
        only: "Only | Mask" = None,
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
        rescorer, identifiers_of = self.parts.rescorer, self.parts.identifiers_of
        if rescorer is not None:
            retrieved = rescorer.rescore(mentions, retrieved, self.settings.exact_first is False)
        rankings = []
        for mention, ranking in zip(mentions, retrieved, strict=True):
            if mention.identifiers and identifiers_of is not None:
                perfect = float(self.retrieval.perfect)
                ranking = identified_first(mention, ranking, identifiers_of, perfect)
            rankings.append(ranking if len(ranking) <= k else ranking[:k])
        return rankings

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
        depth, most = max(settings.top_k, DEPTH), max(settings.top_k, keep)
        retrieved = self.retrieve(mentions, depth, only, force, keep)
        rankings = self.rank(mentions, max(depth, keep), only, retrieved.rankings)
        decisions = decide(
            [ranking[:depth] for ranking in rankings] if keep > depth else rankings,
            settings.threshold,
            calibrator=self.parts.calibrator,
            denied=self.retrieval.tiers.denied(mentions),
            outside=retrieved.outside,
        )
        for position, (mention, ranking) in enumerate(zip(mentions, rankings, strict=True)):
            # Most decisions already have the wanted number of candidates, and are not copied.
            if not ranking or len(ranking) > most or len(ranking) > depth:
                finished = self._finished(mention, decisions[position], ranking, most, only)
                decisions[position] = finished
        if settings.composite:
            self._link_parts(mentions, decisions, only, force)
        self._link_heads(mentions, decisions, only, force)
        return decisions

    def explain(
        self, mention: Mention, only: "Only" = None, force: bool | None = None
    ) -> "Explanation":
        """Explain the link of a mention, with all tiers; the arguments are those of `decide`."""
        from .explain import explain, form_mentions, is_reranked

        assert self.parts.kb is not None
        (spelt,) = self._spelt([mention])
        is_spelt, mention = spelt is not mention, spelt
        linker, (decision,) = self, self.decide([mention], only, force)
        reranked, rescorer, k = None, self.parts.rescorer, self.settings.top_k
        if rescorer is not None and rescorer.reads_context:
            (ranked,) = self.rank([mention], max(k, DEPTH, rescorer.top), only)
            reranked = is_reranked(ranked)
        is_gated = self.parts.is_gated or reranked is False
        if self.settings.exact_first is None and is_gated:
            every = self.using(exact_first=False)
            (full,) = every.decide([mention], only, force)
            if (full.link and full.link.row) == (decision.link and decision.link.row):
                linker, decision = every, full
        by_form = linker.rank(form_mentions(mention), k, only)
        scope, free = linker.scope(mention.label, only), list[Candidate]()
        if scope.mask is not None:
            unfiltered = linker.using(only=None, labels=None)
            (free,) = unfiltered.rank([mention], k)
        return explain(
            self.parts.kb, mention, decision, by_form, scope, free, k, reranked, is_spelt
        )

    # Steps of the verbs, for code that fits or measures one of them

    def denied(self, mentions: Sequence[Mention]) -> list[bool]:
        """Tell for each mention whether corrections say that it is no concept.

        For an abbreviation that the document defines, the long form is looked up.
        """
        return self.retrieval.tiers.denied(mentions)

    def width(self, k: int) -> int:
        """Get the number of candidates to retrieve; rescorers may need more than are wanted."""
        return k if self.parts.rescorer is None else max(k, self.parts.rescorer.top)

    def scope(self, label: str, only: "Only | Mask" = None) -> Scope:
        """Get the scope of an entity label, under the settings and the filter of a call."""
        if isinstance(only, Mask):
            return self.scope(label).within(only)
        of_all = self.settings.only
        return self.scopes.of(label, only if of_all is None else select(of_all, only))

    # The parts

    @property
    def name_concept(self) -> NDArray[np.int32]:
        """Concept row of every name row, (n_names,)."""
        return self.parts.name_concept

    # Helpers

    def _spelt(self, mentions: Sequence[Mention]) -> list[Mention]:
        """Add the name that a misspelt mention means, unless its text itself has an answer."""
        exact, lang, spelt = self.parts.exact, self.parts.lexicon.language, list(mentions)
        if exact is None:
            return spelt
        for position, mention in enumerate(mentions):
            if mention.long_form or mention.expansions or mention.verbatim:
                continue
            words = exact.known_words(lang).of(mention.text.split())
            if not all(map(attrgetter("is_known"), words)):
                name = without_slips(exact, mention.text, lang)
                if name and not any(self._are_names([mention], None)):
                    spelt[position] = mention._replace(expansions=(name,))
        return spelt

    def _lookups(
        self, mentions: Sequence[Mention], k: int, only: "Only | Mask", keep: int
    ) -> list[Lookup]:
        """Make the lookups of mentions: by all tiers, or by memory and exact tier first."""
        first, width = self.settings.exact_first, self.width(k)
        gated = first is None and self.parts.is_gated
        usual = Effort(not first, width, max(width, keep), gated)
        deep = max(width, _IDENTIFIED)
        thorough = Effort(True, deep, max(deep, keep))
        heeded = self.parts.identifiers_of is not None
        scopes: dict[str, Scope] = {}
        lookups = []
        for mention in mentions:
            scope = scopes.get(mention.label)
            if scope is None:
                scope = scopes[mention.label] = self.scope(mention.label, only)
            effort = thorough if heeded and mention.identifiers else usual
            lookups.append(Lookup.of(mention, scope, effort))
        return lookups

    def _better(
        self, free: Sequence[Candidate], within: Sequence[Candidate], mask: Mask | None
    ) -> Candidate | None:
        """Get the best concept of the search without filters, if it is outside and better."""
        best = free[0] if free else None
        if best is None or self.retrieval.tiers.has_name(best.row, mask):
            return None
        return best if is_better(best, within[0] if within else None) else None

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

    def _link_parts(
        self, mentions: Sequence[Mention], decisions: list[Decision], only: "Only", force: bool
    ) -> None:
        """Add their parts to the decisions on composite mentions.

        A part does not count if a concept outside the filters matches it better.
        """
        top_k, calibrator = self.settings.top_k, self.parts.calibrator
        rankings = [decision.ranking for decision in decisions]
        ways = composites(mentions, rankings, self.denied(mentions))
        if not ways:
            return
        parts = parts_of(mentions, ways)
        asked, depth = list(parts.values()), max(top_k, DEPTH)
        within, outside = self.retrieve(asked, depth, only, force)
        ordered = with_probabilities(self.rank(asked, depth, only, within), calibrator)
        ranked = {
            part: [] if is_denied or better is not None else ranking[:top_k]
            for part, ranking, is_denied, better in zip(
                parts, ordered, self.denied(asked), outside, strict=True
            )
        }
        threshold = self.settings.threshold
        for position, chosen in choose_parts(ways, ranked, rankings, threshold).items():
            decisions[position] = decisions[position]._replace(parts=chosen)

    def _link_heads(
        self, mentions: Sequence[Mention], decisions: list[Decision], only: "Only", force: bool
    ) -> None:
        """Link the heads of mentions that are NIL, and say where a link is only that of the head.

        Of several heads, the longest one counts that is a name by the exact tier.
        """
        for position, mention in enumerate(mentions):
            if mention.long_form:
                decisions[position] = said_narrower(mention, decisions[position])
        heads_by_position = heads_of(mentions, decisions, self.parts.lexicon)
        if not heads_by_position or self.retrieval.tiers.exact is None:
            return
        heads = [
            (position, head) for position, heads in heads_by_position.items() for head in heads
        ]
        chosen: dict[int, Mention] = {}
        named = self._are_names([head for _, head in heads], only)
        for (position, head), is_name in zip(heads, named, strict=True):
            if is_name:
                chosen.setdefault(position, head)
        if not chosen:
            return
        linked = self.decide(list(chosen.values()), only, force)
        for (position, head), decision in zip(chosen.items(), linked, strict=True):
            is_whole = bool(head.long_form) and head.text == mentions[position].text
            decisions[position] = linked_by_head(
                decisions[position], decision, self.settings.threshold, is_whole
            )

    def _are_names(self, mentions: Sequence[Mention], only: "Only") -> list[bool]:
        """Tell which mentions are names by memory and exact tier."""
        lookups = [Lookup.of(mention, self.scope(mention.label, only)) for mention in mentions]
        forms: dict[Scope, dict[str, None]] = {}
        for lookup in lookups:
            forms.setdefault(lookup.scope, {}).update(dict.fromkeys(lookup.forms))
        exact = self.retrieval.rank_exact
        by_scope = {scope: exact(list(asked), scope, 1) for scope, asked in forms.items()}
        return [any(by_scope[lookup.scope][form] for form in lookup.forms) for lookup in lookups]
