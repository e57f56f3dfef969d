"""Preparer: makes the mentions of Docs that are to be linked."""

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from spacy.tokens import Doc, Span
from spacy.training import Example

from ...errors import Warnings
from ...types import Mention
from ...util.telling import tell
from .lesson import gold_spans
from .mentions import mentions_of
from .opened import OpenedLinker
from .settings import keys_of
from .trainer import Gold
from .writing import SpanWriter

_DOCS_BEFORE_WARNING = 20


class Preparer:
    """The part of a linker that makes mentions of the spans of Docs.

    opened (OpenedLinker): lexicon, knowledge base and settings.
    """

    def __init__(self, opened: OpenedLinker) -> None:
        self.opened, self.settings = opened, opened.settings
        self._writer: tuple[tuple[Any, ...], SpanWriter] | None = None
        self._docs_without_spans = 0  # so far; -1 after the first span or the warning

    @property
    def span_writer(self) -> SpanWriter:
        """The finder of the spans to link and writer of their links, with the current settings."""
        own = self.settings
        made = (own.spans_key, own.prefix, own.labels_discard, own.merge)
        if self._writer is None or self._writer[0] != made:
            discard = frozenset(own.labels_discard or ())
            writer = SpanWriter(keys_of(own.spans_key), own.prefix, discard, own.merge)
            self._writer = copy.deepcopy(made), writer
        return self._writer[1]

    def spans(self, doc: Doc) -> list[Span]:
        """List the spans of a Doc that are to be linked, in the order of their links."""
        return self.span_writer.spans(doc)

    def mentions(self, doc: Doc) -> list[Mention]:
        """Make the mentions of a Doc that are to be linked."""
        writer = self.span_writer
        return self._of(doc, writer.spans(doc), writer.every(doc) if writer.discard else ())

    def batch(self, docs: Sequence[Doc]) -> tuple[list[Mention], list[int]]:
        """Make the mentions of Docs. RETURNS: all mentions, and their number for each Doc."""
        flat, counts = list[Mention](), list[int]()
        for doc in docs:
            mentions = self.mentions(doc)
            flat.extend(mentions)
            counts.append(len(mentions))
        self.note(len(docs), len(flat))
        return flat, counts

    def mentions_of(self, doc: Doc, spans: Sequence[Span]) -> list[Mention]:
        """Make mentions of any spans of a Doc."""
        return self._of(doc, spans, self.span_writer.every(doc))

    def bare(self, text: str, label: str = "") -> Mention:
        """Make a mention without a document."""
        from ...linking.prepare import bare_mention

        return bare_mention(text, label, self.opened.abbreviations)

    def gold(self, examples: Iterable[Example]) -> list[Gold]:
        """Collect the gold mentions of Examples with the rows of their concepts."""
        found, rows = list[Gold](), self.opened.ids.rows
        for example in examples:
            spans, predicted = gold_spans(self.spans(example.reference)), example.predicted
            mentions = self._alone(example.reference, spans, ())
            for one, span in zip(mentions, spans, strict=True):
                place = predicted.char_span(span.start_char, span.end_char, alignment_mode="expand")
                found.append(Gold(one, rows(span.kb_id_), place))
        return found

    def note(self, docs: int, mentions: int) -> None:
        """Warn once when the first documents have no mentions at all."""
        if mentions or self._docs_without_spans < 0:
            self._docs_without_spans = -1
            return
        self._docs_without_spans += docs
        if self._docs_without_spans >= _DOCS_BEFORE_WARNING:
            count, self._docs_without_spans = self._docs_without_spans, -1
            tell(Warnings.no_entities.format(name=self.opened.name, docs=count))

    def _of(self, doc: Doc, spans: Sequence[Span], beside: Iterable[Span]) -> list[Mention]:
        mentions = self._alone(doc, spans, beside)
        if not (mentions and self.opened.shared.is_used):
            return mentions
        vectors = self.opened.in_context(doc, spans)
        return [one._replace(vector=own) for one, own in zip(mentions, vectors, strict=True)]

    def _alone(self, doc: Doc, spans: Sequence[Span], beside: Iterable[Span]) -> list[Mention]:
        """Make mentions whose texts are encoded without context."""
        own, opened = self.settings, self.opened
        return mentions_of(
            doc,
            spans,
            own.resolve_abbreviations,
            opened.abbreviations,
            beside,
            opened.tell_once,
        )
