"""MedicalLinker: links the entities of Docs."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ...errors import Errors, Warnings
from ...kb.concept_urls import ConceptPages
from ...types import Mention
from ...util.telling import tell
from ..extensions import register_extensions
from .annotation import Link
from .learning import TrainableLinker
from .mentions import mentions_of
from .settings import DEFAULT_CONFIG, FILTERS, attribute, check, keys_of, make_filter
from .writing import SpanWriter

if TYPE_CHECKING:  # opened lazily: spaCy imports this module with every `spacy.blank`
    from ...linking import Linker
    from ...linking.decision import Decision
    from ...linking.explain import Explanation
    from ...retrieval.filters import Only, Selection

_DOCS_BEFORE_WARNING = 20
_MENTIONS_TOGETHER = 16_384  # of long documents; those of ordinary ones are linked at once


class Within(NamedTuple):
    """What may be an answer in one call.

    only (Only): the filters of the call, beside those of the settings. force (bool): whether a
        mention that is better said by a concept outside is linked within all the same.
    """

    only: "Only"
    force: bool


class MedicalLinker(TrainableLinker):
    """Links the entities of a Doc to concepts of a knowledge base.

    Each entity gets `kb_id_` and the attributes of `extensions.SPAN_ATTRIBUTES`. The assets are
    opened when first needed, so that a saved pipeline loads after its sources have moved.

    assets (Optional[str]): directory of assets, saved pipeline, or installed pipeline package;
        None for the built-in starter.
    top_k (int): candidates kept a mention.
    threshold (Optional[float]): links that are less probable, or without a calibrator score less,
        are NIL, 0..1; None for what the assets recommend, which is 0 without a calibrator.
    cui_scheme (Optional[str]): vocabulary whose code `_.cui` holds; None for the KB's own ids.
    spans_key (Union[str, List[str], None]): link `doc.spans[spans_key]` instead of `doc.ents`; of
        several keys, each group.
    tiers (Optional[List[str]]): of "exact", "ngram", "dense"; None for all that the assets have.
    exact_first (bool): where a name equals the mention, do not ask the other tiers: much faster,
        with fewer alternatives among the candidates.
    types, sources, languages, allow, deny (Optional[List[str]]): what may be an answer: types or
        semantic groups of concepts, sources and languages of names, ids. A mention that a concept
        outside says better is NIL, with the reason "filtered".
    force_within_filter (bool): link such a mention to the best concept within the filters all the
        same.
    labels (Optional[Dict[str, List[str]]]): types or groups that mentions of an entity label may
        have; labels that are not named may have all. The attribute is called `label_types`, since
        spaCy has another use for `labels`.
    favour (Optional[Dict[str, List[str]]]): types or groups that win ties, by label, best first;
        None for `linking.scopes.FAVOURED`.
    source_order (Optional[List[str]]): sources whose names win ties, best first.
    memory (bool): let mentions be what corrections say, where the assets have any.
    resolve_abbreviations (bool): look up what the document defines an abbreviation to mean.
    resolve_identifiers (bool): link to the concept whose identifier the document writes beside a
        mention, as in "Fabry disease (OMIM 301500)".
    lexicon (Union[str, List[str], None]): what undefined abbreviations mean: "clinical", the
        lexicon of the package for the language of the pipeline, where it has one; "clinical-de",
        that of another language; a file, which is saved with the component; or a list of these, of
        which the later ones count more.
    composite (bool): link the parts of "breast and ovarian cancer" each by itself.
    backoff (bool): link near ties to the concept above them. backoff_margin (float): how much less
        a near tie scores at most.
    labels_discard (Optional[List[str]]): labels of entities that are left as they are.
    overwrite (bool): link entities that have a `kb_id` already, too; else they are left alone.
    merge (str): the `kb_id` of an entity that another linker has linked before: "replace" it,
        "fill" where there is none or NIL, take the "better" one (the more probable, or where one
        has no probability the higher score; of equals the first), or "leave" it. The attributes
        are written in any case, each linker's under its prefix.
    prefix (str): put before the names of the attributes, for several linkers in one pipeline.
    batch_size (int): documents whose mentions are encoded together in `pipe`.
    cache_size (int): distinct mentions whose candidates are remembered, about 5 KB each.
    n_threads (int): cap on the threads of torch, OpenMP, faiss and BLAS; 0 leaves them
        alone.
    encoder (Optional[Model]): replaces the assets' encoder, and makes the linker trainable. It must
        be the one that made the index, but for `initialize`, which makes the index anew.
    use_gold_ents (bool): score the links of the gold mentions, whatever entities are found.
    index (Optional[Dict[str, int]]): `ef_search` of HNSW, `nprobe` of IVF, `k_factor` of an index
        with refinement.
    fusion (Optional[Fusion]): how the tiers' scores become one, a registered function.
    calibrator (bool): take the calibrator of the assets, where they have one; it must have been
        fitted for these tiers, fusion and encoder.
    ranker (bool): let the ranker of the assets order candidates anew, where they have one.
    reranker (Optional[Model]): takes the place of the assets' reranker; it must have been made for
        their encoder and knowledge base. rerank_top (Optional[int]): candidates that it reads, a
        latency budget; None for as many as it was trained for, 0 leaves it out. A reranker of the
        config is not saved with the component, one of the assets is.
    copy_assets (bool): whether a saved pipeline has the assets within (files are hard-linked where
        that is possible), or refers to the place where they are.
    RAISES (MedlinkError): E301, E302 for settings out of range; at the first link, E214 for a
        calibrator that was fitted for something else.
    """

    def __init__(
        self,
        vocab: Vocab,
        name: str = "medical_linker",
        *,
        assets: str | Path | None = None,
        **settings: Any,
    ) -> None:
        if unknown := set(settings) - set(DEFAULT_CONFIG):
            raise TypeError(f"unknown settings: {', '.join(sorted(unknown))}")
        self.vocab = vocab
        self.name = name
        check({"assets": assets, **settings})
        self.source = None if assets is None else str(assets)
        for key, value in {**DEFAULT_CONFIG, **settings}.items():
            if key != "assets":
                setattr(self, attribute(key), value)
        self.cui_scheme = self.cui_scheme or None
        self.max_bytes_size = 1 << 30
        self._lexicon = None
        register_extensions(self.prefix, self.cui_scheme)
        self._reset()

    # Linking

    def __call__(self, doc: Doc) -> Doc:
        """Link the entities of one Doc, in place."""
        error_handler = self.get_error_handler()
        try:
            self._annotate([doc])(doc)
        except Exception as error:
            error_handler(self.name, self, [doc], error)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int | None = None) -> Iterator[Doc]:
        """Link a stream of Docs; the mentions of a batch are encoded together.

        batch_size (Optional[int]): documents a batch; spaCy's value gives way to a larger setting
            of the component, since one call of the encoder for many short notes is what is fast.
        RETURNS (Iterator[Doc]): in order; as with spaCy's own components without the Docs that
            failed, which the error handler is given one by one.
        """
        size = max(batch_size or 0, self.batch_size)
        return self._in_batches(stream, size, self._annotate)

    def predict(
        self,
        docs: Sequence[Doc],
        *,
        force_within_filter: bool | None = None,
        **filters: Sequence[str] | None,
    ) -> list[list[Link]]:
        """Link the mentions of Docs without changing them.

        force_within_filter (Optional[bool]): of this call; None for what the settings say.
        filters: `types`, `sources`, `languages`, `allow`, `deny` of this call, beside the settings.
        RETURNS (List[List[Link]]): for each Doc, a link for each of its spans, in their order.
        RAISES (MedlinkError): E162, E213 for a filter that names what the knowledge base has not.
        """
        mentions, counts = self._mentions_in(docs)
        links = self._links(mentions, self._within(filters, force_within_filter))
        return [list(islice(links, count)) for count in counts]

    def set_annotations(self, docs: Sequence[Doc], links: Sequence[Sequence[Link]]) -> None:
        """Write links on the spans of Docs."""
        writer = self._span_writer
        for doc, own in zip(docs, links, strict=True):
            writer.write(doc, own)

    def link_texts(
        self,
        texts: Sequence[str],
        label: str = "",
        *,
        force_within_filter: bool | None = None,
        **filters: Sequence[str] | None,
    ) -> list[Link]:
        """Link mentions that stand in no document.

        label (str): entity label of all. force_within_filter, filters: of this call, as for
            `predict`.
        RAISES (MedlinkError): E162, E213 for a filter that names what the knowledge base has not.
        """
        from ...linking.prepare import bare_mention

        mentions = [bare_mention(text, label, self.abbreviations) for text in texts]
        return list(self._links(mentions, self._within(filters, force_within_filter)))

    def link_spans(self, doc: Doc, spans: Sequence[Span]) -> list[Link]:
        """Link any spans of a Doc without changing it."""
        if not spans:
            return []
        mentions = self._mentions_of(doc, spans, self._span_writer.every(doc))
        return list(self._links(mentions, self._within({})))

    def explain(
        self,
        span: Span | str,
        *,
        force_within_filter: bool | None = None,
        **filters: Sequence[str] | None,
    ) -> "Explanation":
        """Say why a span is linked as it is.

        span (Span): any span of a Doc; or a mention's text, without context.
        force_within_filter, filters: of this call, as for `predict`.
        RETURNS (Explanation): `str()` of it is to be read, `as_dict()` is plain data.
        RAISES (MedlinkError): E162, E213 for a filter that names what the knowledge base has not.
        """
        from ...linking.prepare import bare_mention

        if isinstance(span, str):
            mention = bare_mention(span, "", self.abbreviations)
        else:
            every = self._span_writer.every(span.doc)
            mention = self._mentions_of(span.doc, [span], every)[0]
        within = self._within(filters, force_within_filter)
        return self._in_one_build(lambda: self.linker.explain(mention, *within))

    @property
    def displacy_options(self) -> dict[str, Any]:
        """Options of `displacy.render` by which each id leads to the page of its concept."""
        kb = self.kb
        pages = ConceptPages(lambda id: kb[id].codes if id in kb else {})
        keys = keys_of(self.spans_key)
        return {"kb_url_template": pages, **({"spans_key": keys[0]} if keys else {})}

    def mentions(self, doc: Doc) -> list[Mention]:
        """Make the mentions of a Doc that are to be linked."""
        spans = self.spans(doc)
        left = self._span_writer.every(doc) if self.labels_discard else ()
        return self._mentions_of(doc, spans, left)

    def spans(self, doc: Doc) -> list[Span]:
        """List the spans of a Doc that are to be linked, in the order of their links."""
        return self._span_writer.spans(doc)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Any]],
        *,
        nlp: Language | None = None,
        assets: str | Path | None = None,
    ) -> None:
        """Open the assets, so that what is wrong with them is said before any work.

        assets (Optional[str]): take these instead, from `[initialize.components.medical_linker]`:
            the place to name a directory that is needed only now, since a saved pipeline carries
            its own copy.
        RAISES (MedlinkError): E308 for a prefix that another linker of the pipeline has.
        """
        if nlp is not None:
            self.check_prefix(nlp)
        if assets is not None:
            self._use(str(assets))
        if self.is_trainable:
            self._start_training()
        _ = self.engine

    def configure(self, **settings: Any) -> None:
        """Change settings of a linker that has not linked yet.

        RAISES (MedlinkError): E301, E302 for settings out of range.
        """
        check({**self.settings, **settings})
        for key, value in settings.items():
            setattr(self, attribute(key), value)

    def check_prefix(self, nlp: Language) -> None:
        """Check that no other linker of a pipeline writes the same attributes.

        RAISES (MedlinkError): E308.
        """
        for other, pipe in nlp.components:
            if not isinstance(pipe, MedicalLinker) or pipe is self:
                continue
            if pipe.prefix == self.prefix:
                raise Errors.prefix_taken(name=self.name, prefix=self.prefix, other=other)

    # Helpers

    def _use(self, assets: str) -> None:
        """Take the assets of another place than the config names."""
        if assets != self.source:
            self._say_own_assets()
        self.source = assets
        self._reset()

    def _annotate(self, docs: Sequence[Doc]) -> Callable[[Doc], None]:
        """Decide on the mentions of Docs; what is returned writes the links on each, in order."""
        mentions, counts = self._mentions_in(docs)
        links, left = self._links(mentions, self._within({})), iter(counts)
        writer = self._span_writer
        return lambda doc: writer.write(doc, list(islice(links, next(left))))

    def _mentions_in(self, docs: Sequence[Doc]) -> tuple[list[Mention], list[int]]:
        """Make the mentions of Docs. RETURNS: all of them, and how many each Doc has."""
        found = [self.mentions(doc) for doc in docs]
        if any(found):
            self._docs_without_spans = -1
        else:
            self._warn_if_always_empty(len(docs))
        return [mention for own in found for mention in own], [len(own) for own in found]

    def _links(self, mentions: Sequence[Mention], within: Within) -> Iterator[Link]:
        """Decide on mentions, all with one build of the assets; links are made one by one.

        A link holds about 40 containers, a decision shares the cached candidates.
        """
        if not mentions:
            return iter(())
        if len(mentions) > _MENTIONS_TOGETHER:
            # What is known of a candidate takes more memory than what is kept of it.
            starts = range(0, len(mentions), _MENTIONS_TOGETHER)
            parts = (mentions[start : start + _MENTIONS_TOGETHER] for start in starts)
            return chain.from_iterable(self._links(part, within) for part in parts)
        while True:
            assets, writer, linker = self.assets, self.writer, self.linker
            decisions = linker.decide(mentions, *within)
            if self.assets is assets:  # else another build was loaded meanwhile
                break
        self._warn_filtered_out(linker, mentions, decisions, within.only)
        return map(writer.link, decisions)

    def selection(self, label: str = "", but: Collection[str] = ()) -> "Selection":
        """Get the filters of the settings as they are now, for mentions of an entity label.

        but (Collection[str]): settings that are not to be taken, such as "types".
        RETURNS (Selection): () where there are none, or where `force_within_filter` is set.
        """
        from ...retrieval.filters import Filter, select

        if self.force_within_filter:
            return ()
        given = {name: getattr(self, name) or () for name in FILTERS if name not in but}
        own = {name: one if isinstance(one, str) else list(one) for name, one in given.items()}
        types = () if "types" in but else tuple((self.label_types or {}).get(label, ()))
        # To make filters of 100,000 ids takes long, to see that they are the same ones does not.
        asked = (own, types)
        if self._selected is None or self._selected[0] != asked:
            self._selected = (asked, select(make_filter(own), Filter.of(types=types)))
        return self._selected[1]

    def _within(
        self, call: Mapping[str, Sequence[str] | None], force: bool | None = None
    ) -> Within:
        """Make what holds in one call; the settings' own filters are the linker's."""
        force = self.force_within_filter if force is None else force
        return Within(make_filter(call) if call else None, force)

    def _only(self) -> "Only":
        """Make the filter of the settings, which may change at any time."""
        own = {name: getattr(self, name) for name in FILTERS if getattr(self, name)}
        return make_filter(own) if own else None

    @property
    def _span_writer(self) -> SpanWriter:
        discard = frozenset(self.labels_discard or ())
        keys = keys_of(self.spans_key)
        return SpanWriter(keys, self.prefix, discard, self.overwrite, self.merge)

    def _mentions_of(
        self, doc: Doc, spans: Sequence[Span], beside: Iterable[Span]
    ) -> list[Mention]:
        return mentions_of(
            doc,
            spans,
            self.resolve_abbreviations,
            self.abbreviations,
            self.resolve_identifiers,
            beside,
            self._tell_once,
        )

    def _tell_once(self, message: str) -> None:
        if message not in self._told:
            self._told.add(message)
            tell(message)

    def _warn_if_always_empty(self, docs: int) -> None:
        if self._docs_without_spans < 0:
            return
        self._docs_without_spans += docs
        if self._docs_without_spans >= _DOCS_BEFORE_WARNING:
            message = Warnings.no_entities.format(name=self.name, docs=self._docs_without_spans)
            self._docs_without_spans = -1
            tell(message)

    def _warn_filtered_out(
        self,
        linker: "Linker",
        mentions: Sequence[Mention],
        decisions: "Sequence[Decision]",
        only: "Only",
    ) -> None:
        from ...linking.decision import FILTERED

        for label in {
            mention.label
            for mention, decision in zip(mentions, decisions, strict=True)
            if decision.reason == FILTERED
        }:
            given = " and ".join(map(str, linker.scope(label, only).selection))
            if given not in self._told:
                self._told.add(given)
                tell(Warnings.filtered_out.format(name=self.name, filter=given))
