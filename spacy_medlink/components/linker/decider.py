"""Decider: from the mentions of Docs to links, as the settings say."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import Warnings
from ...types import Mention
from .annotation import Link
from .opened import OpenedLinker
from .settings import FILTERS, make_filter

if TYPE_CHECKING:  # opened lazily: spaCy imports this module with every `spacy.blank`
    from ...linking import Linker
    from ...linking.explanation import Explanation
    from ...retrieval.filters import Only, Selection

_NO_TYPES = "It has no types at all: build it with a source that has them (of the UMLS, MRSTY.RRF)."
_MENTIONS_TOGETHER = 16_384  # limits memory for long documents; most Docs stay below


class Within(NamedTuple):
    """The limits of links in one call.

    only (Only): the filters of the call, beside those of the settings. force (bool): whether to
        link within the filters even if a concept outside fits better; None for the value of the
        settings.
    """

    only: "Only" = None
    force: bool | None = None


class Decider:
    """The part of a linker that decides on mentions.

    opened (OpenedLinker): engine, knowledge base and settings.
    """

    def __init__(self, opened: OpenedLinker) -> None:
        self.opened, self.settings = opened, opened.settings
        self._selected: tuple[Any, Selection] | None = None

    def within(self, call: Mapping[str, Sequence[str] | None], force: bool | None) -> Within:
        """Make the limits of one call from its filters.

        RAISES (MedlinkError): E302 for an unknown filter.
        """
        return Within(make_filter(call) if call else None, force)

    def links(self, mentions: Sequence[Mention], within: Within) -> Iterator[Link]:
        """Decide on mentions; a link is made when it is asked for, since it is large."""
        if len(mentions) > _MENTIONS_TOGETHER:
            # A full candidate takes more memory than the part of it that a link keeps.
            starts = range(0, len(mentions), _MENTIONS_TOGETHER)
            parts = (mentions[start : start + _MENTIONS_TOGETHER] for start in starts)
            return chain.from_iterable(self.links(part, within) for part in parts)
        linker = self.opened.linker  # assets that do not exist are an error at the first text
        if not mentions:
            return iter(())
        assert linker.parts.kb is not None
        # Of one build, whatever is loaded in the meantime.
        writer = self.opened.writer_of(linker.parts.kb)
        from ...linking.decision import FILTERED

        decisions = linker.decide(mentions, *within)
        filtered = [
            mention.label
            for mention, decision in zip(mentions, decisions, strict=True)
            if decision.reason == FILTERED
        ]
        if filtered:
            self._warn_filtered_out(linker, set(filtered), within.only)
        return map(writer.link, decisions)

    def explain(self, mention: Mention, within: Within) -> "Explanation":
        """Explain the link of a mention."""
        return self.opened.linker.explain(mention, *within)

    def selection(self, label: str = "", but: Collection[str] = ()) -> "Selection":
        """Get the current filters of the settings; see MedicalLinker.selection."""
        from ...retrieval.filters import Filter, select

        if self.settings.force_within_filter:
            return ()
        given = {name: getattr(self.settings, name) for name in FILTERS if name not in but}
        own = {name: copy(values) for name, values in given.items() if values}
        types = () if "types" in but else tuple((self.settings.labels or {}).get(label, ()))
        # To make filters of 100,000 ids is slow, to compare them with the last ones is fast.
        asked = (own, types)
        if self._selected is None or self._selected[0] != asked:
            self._selected = (asked, select(make_filter(own), Filter.of(types=types)))
        return self._selected[1]

    def _warn_filtered_out(self, linker: "Linker", labels: Collection[str], only: "Only") -> None:
        """Warn that the filters leave no name for mentions of these labels."""
        for label in labels:
            given = " and ".join(map(str, linker.scope(label, only).selection))
            typeless = "types" in given and not self.opened.assets.facets.types
            remedy = _NO_TYPES if typeless else "Correct the filter."
            message = Warnings.filtered_out.format(
                name=self.opened.name, filter=given, remedy=remedy
            )
            self.opened.tell_once(message, given)
