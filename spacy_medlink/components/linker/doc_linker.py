"""DocLinker: links the mentions of Docs, as the settings of the component say."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from copy import copy
from itertools import chain

from spacy.tokens import Doc, Span

from ...errors import Warnings
from ...linking import Linker
from ...linking.cued import read_without_cues
from ...linking.decision import FILTERED
from ...linking.prepare import Document, Place, bare_mention, prepare
from ...retrieval.filters import Filter, Only, Selection, select
from ...text.context import shipped_cues
from ...types import Candidate, Mention
from ...util.telling import tell
from ..extensions import READ_AT, READING, read_characters
from .annotation import Link
from .opened import LinkerParts
from .settings import FILTERS, keys_of, make_filter
from .writing import SpanWriter

_NO_TYPES = "It has no types at all: build it with a source that has them (of the UMLS, MRSTY.RRF)."
_MENTIONS_TOGETHER = 16_384  # limits memory for long documents; most Docs stay below
_DOCS_BEFORE_WARNING = 20
_Runs = list[tuple[int, int]]
"""The characters that are read of spans: the first of each, and the one behind it."""


class DocLinker:
    """The part of a component that reads mentions of Docs and decides on them.

    opened (LinkerParts): assets, lexicon and settings.
    """

    def __init__(self, opened: LinkerParts) -> None:
        self.opened, self.settings = opened, opened.settings
        self._selected: tuple[object, Selection] | None = None
        self._docs_without_spans = 0  # so far; -1 after the first span or the warning

    @property
    def span_writer(self) -> SpanWriter:
        """The finder of the spans to link and writer of their links, with the current settings."""
        settings = self.settings
        discard = frozenset(settings.labels_discard or ())
        return SpanWriter(keys_of(settings.spans_key), settings.prefix, discard, settings.merge)

    def mentions(
        self, doc: Doc, spans: Sequence[Span] | None = None, writer: SpanWriter | None = None
    ) -> list[Mention]:
        """Make mentions of spans of a Doc; by default, of those that are to be linked.

        writer (Optional[SpanWriter]): with the current settings.
        RAISES (MedlinkError): E227 when another transformer than the shared one has read the Doc.
        """
        return self._mentions(doc, spans, writer or self.span_writer)[0]

    def _mentions(
        self, doc: Doc, spans: Sequence[Span] | None, writer: SpanWriter
    ) -> tuple[list[Mention], _Runs]:
        opened = self.opened
        beside = writer.every(doc) if writer.discard or spans is not None else ()
        mentions, runs = self.read(doc, writer.spans(doc) if spans is None else spans, beside)
        if not mentions or self.settings.model is None or not opened.is_shared:
            return mentions, runs
        read = [doc.char_span(*run, alignment_mode="expand") for run in runs]
        vectors = opened.in_context(doc, [span for span in read if span is not None])
        return [
            mention._replace(vector=vector)
            for mention, vector in zip(mentions, vectors, strict=True)
        ], runs

    def read(
        self, doc: Doc, spans: Sequence[Span], beside: Iterable[Span] = ()
    ) -> tuple[list[Mention], _Runs]:
        """Make a mention of each span of a Doc, as `linking.prepare` does, without vectors.

        With `resolve_abbreviations`, that is also by `doc._.abbreviations` and `span._.long_form`,
        where a component has written them.
        beside (Iterable[Span]): further mentions of the document.
        RETURNS: the mentions, and the characters that were read of their spans.
        """
        if not spans:
            return [], []
        text, resolves = doc.text, self.settings.resolve_abbreviations
        characters = self._characters(doc, text, [*spans, *beside])
        has_definitions = resolves and Doc.has_extension("abbreviations")
        definitions = _definitions(doc) if has_definitions else {}
        has_meaning = bool(doc.user_data) and Span.has_extension(READING)  # kept in the user data
        has_long_form = resolves and Span.has_extension("long_form")
        places = []
        for span, (start, end) in zip((*spans, *beside), characters, strict=True):
            meaning = str(span._.get(READING) or "") if has_meaning else ""
            long_form = _long_form(span) if has_long_form else ""
            # `span.text` would join the tokens anew.
            places.append(Place(text[start:end], start, end, span.label_, meaning, long_form))
        mentions, others, warn = places[: len(spans)], places[len(spans) :], self.opened.tell_once
        document = Document(text, mentions, others, definitions, warn)
        mentions_read = prepare(document, self.opened.abbreviations, resolves)
        return mentions_read, characters[: len(spans)]

    def write_read(self, doc: Doc, spans: Sequence[Span], runs: _Runs | None = None) -> None:
        """Write what is read of spans with cues inside: `_.reading`, and where it stands.

        runs (Optional[List[Tuple[int, int]]]): the characters, where they are known.
        """
        runs = self._characters(doc, doc.text, spans) if runs is None else runs
        for span, (start, end) in zip(spans, runs, strict=True):
            if (start, end) != read_characters(span):
                span._.set(READ_AT, [start, end])
                span._.set(READING, doc.text[start:end])

    def _characters(self, doc: Doc, text: str, spans: Sequence[Span]) -> _Runs:
        """Find the characters that are read of spans; one with a reading was read already."""
        cues, read = shipped_cues(self.opened.lang), _Runs()
        for span in spans:
            start, end = span.start_char, span.end_char
            if text[start:end].isalpha():  # a word alone
                read.append((start, end))
                continue
            start, end = read_characters(span)
            if not (doc.user_data and span._.get(READING)):
                start, end = read_without_cues(text, (start, end), cues, self._candidates)
            read.append((start, end))
        return read

    def _candidates(self, texts: list[str]) -> list[list[Candidate]]:
        return self.opened.linker.retrieve(list(map(self.bare, texts)), 1, force=True).rankings

    def batch(self, docs: Sequence[Doc], writer: SpanWriter) -> tuple[list[Mention], list[_Runs]]:
        """Make the mentions of Docs. RETURNS: all mentions, and the characters of those of each.

        Warns once when the first documents have no mentions at all.
        """
        flat, by_doc = list[Mention](), list[_Runs]()
        for doc in docs:
            mentions, runs = self._mentions(doc, None, writer)
            flat.extend(mentions)
            by_doc.append(runs)
        if flat or self._docs_without_spans < 0:
            self._docs_without_spans = -1
            return flat, by_doc
        self._docs_without_spans += len(docs)
        if self._docs_without_spans >= _DOCS_BEFORE_WARNING:
            count, self._docs_without_spans = self._docs_without_spans, -1
            tell(Warnings.no_entities.format(name=self.opened.name, docs=count))
        return flat, by_doc

    def bare(self, text: str, label: str = "") -> Mention:
        """Make a mention without a document."""
        return bare_mention(text, label, self.opened.abbreviations)

    def links(
        self, mentions: Sequence[Mention], only: Only = None, force: bool | None = None
    ) -> Iterator[Link]:
        """Decide on mentions; a link is made when it is asked for, since it is large.

        only (Only): a filter of this call, beside those of the settings. force (Optional[bool]):
            link within the filters even if a concept outside fits better; None as the settings say.
        """
        if len(mentions) > _MENTIONS_TOGETHER:
            # A full candidate takes more memory than the part of it that a link keeps.
            starts = range(0, len(mentions), _MENTIONS_TOGETHER)
            parts = (mentions[start : start + _MENTIONS_TOGETHER] for start in starts)
            return chain.from_iterable(self.links(part, only, force) for part in parts)
        linker = self.opened.linker  # assets that do not exist are an error at the first text
        if not mentions:
            return iter(())
        assert linker.parts.kb is not None
        # Of one build, whatever is loaded in the meantime.
        writer = self.opened.writer_of(linker.parts.kb)
        decisions = linker.decide(mentions, only, force)
        filtered = {
            mention.label
            for mention, decision in zip(mentions, decisions, strict=True)
            if decision.reason == FILTERED
        }
        if filtered:
            self._warn_filtered_out(linker, filtered, only)
        return map(writer.link, decisions)

    def selection(self, label: str = "", but: Collection[str] = ()) -> Selection:
        """Get the current filters of the settings; see MedicalLinker.selection."""
        if self.settings.force_within_filter:
            return ()
        filters = {
            name: copy(values)
            for name in FILTERS
            if (values := getattr(self.settings, name)) and name not in but
        }
        types = () if "types" in but else tuple((self.settings.labels or {}).get(label, ()))
        # To make filters of 100,000 ids is slow, to compare them with the last ones is fast.
        asked = (filters, types)
        if self._selected is None or self._selected[0] != asked:
            self._selected = (asked, select(make_filter(filters), Filter.of(types=types)))
        return self._selected[1]

    def _warn_filtered_out(self, linker: Linker, labels: Collection[str], only: Only) -> None:
        """Warn that the filters leave no name for mentions of these labels."""
        for label in labels:
            given = " and ".join(map(str, linker.scope(label, only).selection))
            typeless = "types" in given and not self.opened.assets.facets.types
            remedy = _NO_TYPES if typeless else "Correct the filter."
            message = Warnings.filtered_out.format(
                name=self.opened.name, filter=given, remedy=remedy
            )
            self.opened.tell_once(message, given)


def _definitions(doc: Doc) -> dict[str, str]:
    """Read the abbreviations that another component has found."""
    pairs = map(_pair, doc._.abbreviations or ())
    return {short: long for short, long in pairs if short and long}


def _pair(entry: object) -> tuple[str, str]:
    """Read an entry of `doc._.abbreviations`: a span, or its serialized form."""
    if isinstance(entry, dict):
        return str(entry.get("short_text", "")), str(entry.get("long_text", ""))
    if isinstance(entry, Span):
        return entry.text, _long_form(entry)
    return "", ""


def _long_form(span: Span) -> str:
    """Read `span._.long_form`: a span or a text."""
    if not Span.has_extension("long_form"):
        return ""
    long = span._.long_form
    return long.text if isinstance(long, Span) else str(long or "")
