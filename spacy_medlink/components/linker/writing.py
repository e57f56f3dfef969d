"""SpanWriter: writes links on the spans of a Doc, beside or over links of other components."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import cast

from spacy.tokens import Doc, Span

from ...text.identifiers.spelling import is_identified
from ..extensions import READING, SPAN_ATTRIBUTES, are_stored, registered_prefixes
from .annotation import NIL, Link


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

    def count(self, doc: Doc) -> int:
        """Count the spans that `every` lists."""
        return len(self.every(doc))

    def write(self, doc: Doc, links: Sequence[Link]) -> None:
        """Write links on the spans of a Doc.

        links (Sequence[Link]): one for each of `spans(doc)`. An entity with the place and the label
            of a span of a linked group gets its link; other entities are another component's.
        """
        spans = self.spans(doc)
        if self.keys is None:
            for ent, link in zip(spans, links, strict=True):
                self._write_ent(ent, link)
            return
        linked = [(span.start, span.end, span.label) for span in spans]
        by_run = dict(zip(linked, links, strict=True))
        for ent in doc.ents:
            run = ent.start, ent.end, ent.label
            if run in by_run and ent.label_ not in self.discard:
                self._write_ent(ent, by_run[run])
        waiting = iter(links)
        for key in self.keys:
            if key in doc.spans:
                self._write_group(doc, key, waiting)

    def _write_ent(self, ent: Span, link: Link) -> None:
        # Values set on a span of `doc.ents` are lost, since the tokens hold them.
        chosen = self._choose(ent, link)
        for token in ent:
            token.ent_kb_id_ = chosen
        self._set_attributes(ent, link)

    def _write_group(self, doc: Doc, key: str, links: Iterator[Link]) -> None:
        # Spans of a group cannot be changed in place: the group is made anew.
        group, spans = doc.spans[key], []
        for span in group:
            link = None if span.label_ in self.discard else next(links)
            if link is not None:
                chosen = self._choose(span, link)
                label, id = span.label, span.id
                span = Span(doc, span.start, span.end, label=label, kb_id=chosen, span_id=id)
                self._set_attributes(span, link)
            spans.append(span)
        doc.spans[key] = type(group)(doc, name=group.name, attrs=group.attrs, spans=spans)

    def _set_attributes(self, span: Span, link: Link) -> None:
        values = zip(self._names, link[1:], strict=True)
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
    best = link.candidates[0] if link.candidates else None
    others = [
        candidate
        for prefix in registered_prefixes()
        for candidate in (span._.get(prefix + "candidates") or ())[:1]
        if candidate["id"] == span.kb_id_
    ]
    if best is None or not others:
        return False
    if is_identified(best["scores"]):  # an id in the document itself is certain
        return True
    if any(is_identified(other["scores"]) for other in others):
        return False
    by = "score" if any(item["prob"] is None for item in (best, *others)) else "prob"
    return bool(best[by] > max(other[by] for other in others))
