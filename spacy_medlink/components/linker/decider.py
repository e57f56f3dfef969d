"""Decider: from the mentions of Docs to links, as the settings say."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import Warnings
from ...types import Candidate, Mention
from .annotation import Link
from .opened import OpenedLinker
from .settings import FILTERS, make_filter, own_filter

if TYPE_CHECKING:  # opened lazily: spaCy imports this module with every `spacy.blank`
    from ...linking.decision import Decision
    from ...linking.explain import Explanation
    from ...ranking.backoff import Backoff
    from ...retrieval.filters import Only, Selection

_MENTIONS_TOGETHER = 16_384  # of long documents; those of ordinary ones are linked at once
_NEAR_TIES = 25  # candidates among which near ties are looked for


class Within(NamedTuple):
    """What may be an answer in one call.

    only (Only): the filters of the settings and of the call. force (bool): whether a mention that
        is better said by a concept outside is linked within all the same.
    """

    only: "Only"
    force: bool


class Decider:
    """Decides what mentions are linked to.

    opened (OpenedLinker): engine, knowledge base and settings.
    """

    def __init__(self, opened: OpenedLinker) -> None:
        self.opened, self.settings = opened, opened.settings
        self._selected: tuple[Any, Selection] | None = None

    def within(
        self, call: Mapping[str, Sequence[str] | None] = {}, force: bool | None = None
    ) -> Within:
        """Say what may be an answer; the filters of the settings may change at any time.

        RAISES (MedlinkError): E302 for a filter that there is not.
        """
        only = own_filter(self.settings, call)
        return Within(only, self.settings.force_within_filter if force is None else force)

    def links(self, mentions: Sequence[Mention], within: Within) -> Iterator[Link]:
        """Decide on mentions; a link is made when it is asked for, since it is large."""
        if len(mentions) <= _MENTIONS_TOGETHER:
            return self._links_together(mentions, within)
        # What is known of a candidate takes more memory than what is kept of it.
        starts = range(0, len(mentions), _MENTIONS_TOGETHER)
        parts = (mentions[start : start + _MENTIONS_TOGETHER] for start in starts)
        return chain.from_iterable(self._links_together(part, within) for part in parts)

    def explain(self, mention: Mention, within: Within) -> "Explanation":
        """Say why a mention is linked as it is."""
        from ...linking.explain import explain

        opened, settings = self.opened, self.settings

        def explained() -> "Explanation":
            (decision,) = self._decide([mention], within)
            parts = self._parts([mention], [decision], within).get(0, ())
            top_k, only = settings.top_k, within.only
            return explain(opened.engine, opened.kb, mention, decision, parts, top_k, only)

        return opened.in_one_build(explained)

    def selection(self, label: str = "", but: Collection[str] = ()) -> "Selection":
        """Get the filters of the settings as they are now; see MedicalLinker.selection."""
        from ...retrieval.filters import Filter, select

        if self.settings.force_within_filter:
            return ()
        own = {name: getattr(self.settings, name) or [] for name in FILTERS if name not in but}
        own = {name: [*values] for name, values in own.items()}
        types = () if "types" in but else tuple((self.settings.labels or {}).get(label, ()))
        # To make filters of 100,000 ids takes long, to see that they are the same ones does not.
        asked = (own, types)
        if self._selected is None or self._selected[0] != asked:
            self._selected = (asked, select(make_filter(own), Filter.of(types=types)))
        return self._selected[1]

    def _links_together(self, mentions: Sequence[Mention], within: Within) -> Iterator[Link]:
        writer, decisions, parts = self.opened.in_one_build(lambda: self._decided(mentions, within))
        return map(writer.link, decisions, map(parts.get, range(len(decisions)), repeat(())))

    def _decided(self, mentions: Sequence[Mention], within: Within) -> Any:
        """Decide on mentions. RETURNS: the writer, the decisions, and the parts of composites."""
        writer, decisions = self.opened.writer, self._decide(mentions, within)
        return writer, decisions, self._parts(mentions, decisions, within)

    def _decide(self, mentions: Sequence[Mention], within: Within) -> "list[Decision]":
        """The one place where candidates become links: rank, estimate, back off, compare."""
        from ...linking.decision import decide

        engine = self.opened.engine
        rankings, outside = engine.rank_within_filter(mentions, self._depth, *within)
        decisions = decide(
            rankings,
            self.settings.threshold,
            calibrator=engine.calibrator,
            backoff=self._backoff(within.only),
            denied=engine.denied(mentions),
            outside=outside,
        )
        return [
            self._kept(mention, decision, within.only)
            for mention, decision in zip(mentions, decisions, strict=True)
        ]

    def _kept(self, mention: Mention, decision: "Decision", only: "Only") -> "Decision":
        if not decision.ranking:
            return decision._replace(reason=self._reason(mention, decision, only))
        if len(decision.ranking) <= self.settings.top_k:
            return decision
        return decision._replace(ranking=decision.ranking[: self.settings.top_k])

    @property
    def _depth(self) -> int:
        # Near ties must be seen to be told, and a runner-up to be compared with, whatever number
        # of candidates is kept.
        from ...ranking.features import DEPTH

        return max(self.settings.top_k, _NEAR_TIES if self.settings.backoff else DEPTH)

    def _reason(self, mention: Mention, decision: "Decision", only: "Only") -> str:
        from ...linking.decision import FILTERED, NOT_A_CONCEPT

        scope = self.opened.engine.scopes.of(mention.label, only)
        if scope.mask is None or scope.mask.count or decision.reason == NOT_A_CONCEPT:
            return decision.reason
        given = " and ".join(map(str, scope.selection))
        message = Warnings.filtered_out.format(name=self.opened.name, filter=given)
        self.opened.tell_once(message, given)
        return FILTERED

    def _parts(
        self, mentions: Sequence[Mention], decisions: "Sequence[Decision]", within: Within
    ) -> Mapping[int, Any]:
        if not self.settings.composite:
            return {}
        from ...linking.composite import link_parts

        rankings: list[list[Candidate]] = [decision.ranking for decision in decisions]
        top_k, threshold = self.settings.top_k, self.settings.threshold
        return link_parts(self.opened.engine, mentions, rankings, top_k, threshold, *within)

    def _backoff(self, only: "Only") -> "Backoff | None":
        if not self.settings.backoff:
            return None
        from ...ranking.backoff import Backoff

        mask = self.opened.engine.scopes.of("", only).mask
        return Backoff(self.opened.kb, self.settings.backoff_margin, mask)
