"""SpanWriter: writes links on the spans of a Doc, beside or over links of other components."""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import cast

from spacy.tokens import Doc, Span

from ...text.identifiers.spelling import is_identified
from ..extensions import (
    KB_ID,
    READING,
    SPAN_ATTRIBUTES,
    are_stored,
    keep_apart,
    registered_prefixes,
)
from .annotation import NIL, Link, plain

_Linked = tuple[Span, Link, str]  # the third is the `kb_id` that the span gets


class SpanWriter:
    """The writer of links on spans.

    keys (Optional[Sequence[str]]): the span groups that are linked; None for `doc.ents`.
    prefix (str): put before the attributes' names.
    discard (FrozenSet[str]): labels of the spans that are not linked.
    merge (Optional[str]): which `kb_id` a span gets that has one already: "replace", "fill",
        "better" or "leave"; None: with a prefix, the one that it has.
    """

    def __init__(
        self, keys: Sequence[str] | None, prefix: str, discard: frozenset[str], merge: str | None
    ) -> None:
        self.keys, self.prefix, self.discard, self.merge = keys, prefix, discard, merge
        self._names = _names(prefix)
        self._are_stored = are_stored(self._names)

    def spans(self, doc: Doc) -> list[Span]:
        """List the spans of a Doc that are to be linked, group by group."""
        spans = self.every(doc)
        return (
            [span for span in spans if span.label_ not in self.discard] if self.discard else spans
        )

    def gold(self, doc: Doc) -> list[Span]:
        """List the spans of a reference Doc that have an id: the gold mentions.

        Corpora annotate entities: these are taken where no span of the linked groups has an id.
        """
        entities = [ent for ent in doc.ents if ent.label_ not in self.discard]
        for spans in (self.spans(doc), entities):
            if gold := [span for span in spans if span.kb_id_ not in ("", NIL)]:
                return gold
        return []

    def every(self, doc: Doc) -> list[Span]:
        """List all spans of the linked groups, also those that are not to be linked.

        Behind them come the entities that `medical_mentions` lengthened to whole phrases.
        """
        if self.keys is None:
            return list(doc.ents)
        group = [span for key in self.keys if key in doc.spans for span in doc.spans[key]]
        return [*group, *_phrases_beside(doc, group)]

    def write(self, doc: Doc, links: Sequence[Link]) -> None:
        """Write links on the spans of a Doc.

        links (Sequence[Link]): one for each of `spans(doc)`. An entity with the place and the label
            of a span of a linked group gets its link; other entities are another component's.
        """
        spans = zip(self.spans(doc), links, strict=True)
        linked = [(span, link, self._choose(span, link)) for span, link in spans]
        by_run = {(span.start, span.end, span.label): link for span, link, _ in linked}
        for ent in doc.ents:
            if link := by_run.get((ent.start, ent.end, ent.label)):
                # A `kb_id` set on a span of `doc.ents` is lost, since the tokens hold it.
                chosen = self._choose(ent, link)
                for token in ent:
                    token.ent_kb_id_ = chosen
        waiting = iter(linked)
        for key in self.keys or ():
            for row, span in enumerate(doc.spans.get(key, ())):
                if span.label_ not in self.discard:
                    run, kb_id = (doc, span.start, span.end, span.label), next(waiting)[2]
                    # A span of a group is a copy, which takes the place of the one in the group.
                    doc.spans[key][row] = Span(*run, kb_id=kb_id, span_id=span.id)
        self._write_attributes(doc, linked)

    def _write_attributes(self, doc: Doc, linked: Sequence[_Linked]) -> None:
        """Write the link of each place, and the links by label if its spans are not all alike."""
        kinds: dict[tuple[int, int], set[tuple[str, str]]] = defaultdict(set)
        for span in chain(doc.ents, *doc.spans.values()):
            kinds[span.start, span.end].add((span.label_, span.kb_id_))
        places: dict[tuple[int, int], dict[str, _Linked]] = defaultdict(dict)
        for span, link, kb_id in linked:
            places[span.start, span.end].setdefault(span.label_, (span, link, kb_id))
        for place, by_label in places.items():
            links = None
            if len(kinds[place] - {("", "")}) > 1:
                links = {
                    label: {**link.plain()._asdict(), KB_ID: kb_id}
                    for label, (_, link, kb_id) in by_label.items()
                }
            span, link, _ = next(iter(by_label.values()))
            keep_apart(span, self.prefix, links)
            self._set_attributes(span, link)

    def _set_attributes(self, span: Span, link: Link) -> None:
        values = zip(self._names, link.plain()[1:], strict=True)
        if self._are_stored:  # as `span._.set` without a user's setter, in a fifth of the time
            data = cast("dict[object, object]", span.doc.user_data)
            start, end = span.start_char, span.end_char
            for name, value in values:
                data["._.", name, start, end] = value
        else:
            attributes = span._  # made anew each time it is asked for
            for name, value in values:
                attributes.set(name, value)

    def _choose(self, span: Span, link: Link) -> str:
        """Choose between the `kb_id` that a span has and that of a link."""
        present: str = span.kb_id_
        merge = self.merge or ("leave" if self.prefix and present else "replace")
        if merge == "replace":
            return link.id
        if merge == "leave":
            return present
        if present in ("", NIL):
            return link.id
        if merge == "better" and link.id != NIL and _is_better(link, span):
            return link.id
        return present


@lru_cache
def _names(prefix: str) -> Sequence[str]:
    """List the attributes that are written, in the order of a Link."""
    return [prefix + name for name in SPAN_ATTRIBUTES]


def _phrases_beside(doc: Doc, group: Sequence[Span]) -> list[Span]:
    """List the entities with a reading of their own that a group lacks."""
    if not doc.user_data or not Span.has_extension(READING):
        return []
    places = {(span.start, span.end) for span in group}
    beside = [ent for ent in doc.ents if (ent.start, ent.end) not in places]
    return [ent for ent in beside if ent._.get(READING)]


def _is_better(link: Link, span: Span) -> bool:
    """Compare a link with the link on a span: by probability if both have one, else by score.

    A `kb_id` that no linker has written has neither, and stays.
    """
    others = [
        candidate
        for prefix in registered_prefixes()
        for candidate in (span._.get(prefix + "candidates") or ())[:1]
        if candidate["id"] == span.kb_id_
    ]
    if not (link.candidates and others):
        return False
    best = plain(link.candidates[0])
    are_certain = [is_identified(item["scores"]) for item in (best, *others)]
    if any(are_certain):  # by an id in the document itself
        return are_certain[0]
    by = "score" if any(item["prob"] is None for item in (best, *others)) else "prob"
    return bool(best[by] > max(other[by] for other in others))
