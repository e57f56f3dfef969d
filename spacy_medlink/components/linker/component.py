"""MedicalLinker: links the entities of Docs."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example, validate_examples
from spacy.util import SimpleFrozenList
from spacy.vocab import Vocab
from thinc.api import Optimizer

from ...errors import Errors
from ...types import Data, Mention
from ...util.extras import missing
from ...util.files import OwnedDirectory
from ...util.setting_types import setting_property
from ..extensions import register_extensions, register_reading
from ..names import LINKER
from ..pipe import PicklablePipe, batches
from .annotation import Link
from .scoring import score_examples
from .settings import DEFAULT_CONFIG, LinkerSettings, keys_of, make_filter

if TYPE_CHECKING:  # opened lazily: spaCy imports this module with every `spacy.blank`
    from ...linking.explanation import Explanation
    from ...retrieval.filters import Selection
    from .doc_linker import DocLinker
    from .opened import LinkerParts
    from .store import Store
    from .trainer import Trainer

Part = TypeVar("Part")
_PARTS = ("opened", "docs", "trainer", "store")


def _part(get: Callable[["MedicalLinker"], Part]) -> Part:
    """Make a property that is an attribute of a part."""
    return cast(Part, property(get))  # as an attribute, it has the type of its value


class MedicalLinker(PicklablePipe):
    """Links the entities of a Doc to concepts of a knowledge base.

    Each entity gets `kb_id_` and the attributes of `extensions.SPAN_ATTRIBUTES`. The assets are
    opened when first needed, so that a saved pipeline loads after its sources have moved.

    The parts: `opened` has assets and engine, `docs` makes mentions of Docs and links of mentions,
    `store` saves and loads, `trainer` trains. Every setting of `settings` is an attribute, too
    (`labels` as `label_types`); those of the engine, such as `tiers`, are read when it is made.

    settings: of LinkerSettings, which says what they mean.
    RAISES (MedlinkError): E302 for settings out of range; at the first link, E214 for a
        calibrator that was fitted for something else.
    """

    settings: LinkerSettings
    opened: "LinkerParts"
    docs: "DocLinker"
    trainer: "Trainer"
    store: "Store"
    model = _part(lambda linker: linker.settings.model)  # to train; None where it cannot be trained
    assets = _part(lambda linker: linker.opened.assets)
    kb = _part(lambda linker: linker.opened.kb)
    engine = _part(lambda linker: linker.opened.engine)
    linker = _part(lambda linker: linker.opened.linker)
    abbreviations = _part(lambda linker: linker.opened.abbreviations)
    device = _part(lambda linker: linker.opened.device)
    span_writer = _part(lambda linker: linker.docs.span_writer)

    def __init__(self, vocab: Vocab, name: str = LINKER, **settings: object) -> None:
        if unknown := set(settings) - set(DEFAULT_CONFIG):
            raise TypeError(f"unknown settings: {', '.join(sorted(unknown))}")
        self.vocab = vocab
        self.name = name
        self.settings = LinkerSettings.of(settings)
        self.max_bytes_size = 1 << 30
        self._set_up()

    def _shown(self) -> Mapping[str, object]:
        assets = self.opened.opened
        if assets is None:
            return {"assets": self.opened.source or "starter", "state": "not opened"}
        tiers, concepts = self.settings.tiers or assets.used_tiers, f"{len(assets.kb):,}"
        return {"assets": assets.path, "tiers": ", ".join(tiers), "concepts": concepts}

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in _PARTS]

    # Linking

    def __call__(self, doc: Doc, **filters: Sequence[str] | None) -> Doc:
        """Link the entities of one Doc, in place. filters: of this call, as for `predict`."""
        for _ in self._linked([doc], filters):
            pass
        return doc

    def pipe(
        self,
        stream: Iterable[Doc],
        *,
        batch_size: int | None = None,
        **filters: Sequence[str] | None,
    ) -> Iterator[Doc]:
        """Link a stream of Docs; the mentions of a batch are encoded together.

        A batch ends with the Doc that brings it to 2,048 mentions, or after a second, so that a
        slow stream does not wait.

        batch_size (Optional[int]): documents a batch, at most; a larger setting of the component
            replaces spaCy's value, since one call of the encoder for many short notes is faster.
        filters: of this call, as for `predict`.
        RETURNS (Iterator[Doc]): the Docs in order. As in spaCy's own components, Docs that fail are
            left out; the error handler gets them one by one.
        """
        size = max(batch_size or 0, self.settings.batch_size)
        every = self.span_writer.every
        for docs in batches(stream, size, lambda doc: len(every(doc))):
            yield from self._linked(docs, filters)

    def _linked(
        self, docs: list[Doc], filters: Mapping[str, Sequence[str] | None]
    ) -> Iterator[Doc]:
        """Link a batch, and pass on each Doc once its links are written, which takes it out.

        Links are made late: a link holds about 40 containers, a decision shares cached candidates.
        """
        try:
            self.rebuild_index()
            writer = self.span_writer
            mentions, by_doc = self.docs.batch(docs, writer)
            self._check_order(self.settings.spans_key, not mentions)
            links = self.docs.links(mentions, make_filter(filters) if filters else None)
            for runs in by_doc:
                self.docs.write_read(docs[0], writer.spans(docs[0]), runs)
                writer.write(docs[0], list(islice(links, len(runs))))
                # Release each Doc at once: else the garbage collector would go through all Docs
                # of the batch again and again.
                yield docs.pop(0)
        except Exception as error:
            if len(docs) == 1:
                self.get_error_handler()(self.name, self, docs, error)
                return
        for doc in docs:  # one by one, so that only the bad Docs are lost
            yield from self._linked([doc], filters)

    def predict(
        self,
        docs: Sequence[Doc],
        *,
        force_within_filter: bool | None = None,
        **filters: Sequence[str] | None,
    ) -> list[list[Link]]:
        """Link the mentions of Docs without changing them.

        force_within_filter (Optional[bool]): of this call; None for the value of the settings.
        filters: `types`, `sources`, `languages`, `allow`, `deny`, `within` of this call, beside the
            settings.
        RETURNS (List[List[Link]]): for each Doc, a link for each of its spans, in their order.
        RAISES (MedlinkError): E213 for a filter with a value that the knowledge base does not
            have, E106, E224 for an expression.
        """
        self.rebuild_index()
        mentions, by_doc = self.docs.batch(docs, self.span_writer)
        links = self.docs.links(mentions, make_filter(filters), force_within_filter)
        return [list(islice(links, len(runs))) for runs in by_doc]

    def set_annotations(self, docs: Sequence[Doc], links: Sequence[Sequence[Link]]) -> None:
        """Write links on the spans of Docs."""
        writer = self.span_writer
        for doc, links_of_doc in zip(docs, links, strict=True):
            self.docs.write_read(doc, writer.spans(doc))
            writer.write(doc, links_of_doc)

    def link_texts(
        self,
        texts: Sequence[str],
        label: str = "",
        *,
        force_within_filter: bool | None = None,
        **filters: Sequence[str] | None,
    ) -> list[Link]:
        """Link mentions without a document.

        label (str): entity label of all mentions. force_within_filter, filters: of this call, as
            for `predict`. RAISES (MedlinkError): as `predict`.
        """
        self.rebuild_index()
        mentions = [self.docs.bare(text, label) for text in texts]
        return list(self.docs.links(mentions, make_filter(filters), force_within_filter))

    def link_spans(self, doc: Doc, spans: Sequence[Span]) -> list[Link]:
        """Link any spans of a Doc without changing it."""
        if not spans:
            return []
        self.rebuild_index()
        return list(self.docs.links(self.docs.mentions(doc, spans)))

    def explain(
        self,
        span: Span | str,
        *,
        force_within_filter: bool | None = None,
        **filters: Sequence[str] | None,
    ) -> "Explanation":
        """Explain the link of a span.

        span (Span): any span of a Doc; or a mention's text, without context.
        force_within_filter, filters: of this call, as for `predict`.
        RETURNS (Explanation): with `str()` as text to read, with `as_dict()` as plain data.
        RAISES (MedlinkError): as `predict`.
        """
        self.rebuild_index()
        if isinstance(span, str):
            mention = self.docs.bare(span)
        else:
            (mention,) = self.docs.mentions(span.doc, [span])
        return self.linker.explain(mention, make_filter(filters), force_within_filter)

    @property
    def displacy_options(self) -> Data:
        """Options of `displacy.render` by which each id leads to the page of its concept."""
        from ...kb.code_systems import ConceptPages

        pages = ConceptPages(self._codes_of)
        keys = keys_of(self.settings.spans_key)
        return {"kb_url_template": pages, **({"spans_key": keys[0]} if keys else {})}

    def _codes_of(self, id: str) -> Mapping[str, Sequence[str]]:
        return self.kb[id].codes if id in self.kb else {}

    def mentions(self, doc: Doc, spans: Sequence[Span] | None = None) -> list[Mention]:
        """Make mentions of spans of a Doc; by default, of those that are to be linked."""
        return self.docs.mentions(doc, spans)

    def selection(self, label: str, but: Collection[str] = ()) -> "Selection":
        """Select the names that mentions of a label may have, as `DocLinker.selection`."""
        return self.docs.selection(label, but)

    def use_device(self, device: str) -> None:
        """Run networks elsewhere than spaCy does: "cpu", "cuda:1", "auto" ...

        RAISES (MedlinkError): E508 when this machine does not have the device.
        """
        self.opened.use_device(device)

    def reload(self) -> None:
        """Open the assets again from their place. RAISES (MedlinkError): E201-E204; see there."""
        self.opened.reload()

    def configure(self, **settings: object) -> None:
        """Change settings of a linker that has not linked yet.

        RAISES (MedlinkError): E302 for settings out of range.
        """
        self.settings.change(settings)

    def check_prefix(self, nlp: Language) -> None:
        """Check that no other linker of a pipeline writes the same attributes.

        RAISES (MedlinkError): E308.
        """
        for other, pipe in nlp.components:
            if not isinstance(pipe, MedicalLinker) or pipe is self:
                continue
            if pipe.settings.prefix == (prefix := self.settings.prefix):
                raise Errors.prefix_taken(name=self.name, prefix=prefix, other=other)

    # Training

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        assets: str | Path | None = None,
    ) -> None:
        """Open the assets, so that errors in them show before any work.

        assets (Optional[str]): other assets, named in `[initialize.components.medical_linker]`.
            Name a directory there if it is needed only now: a saved pipeline has its own copy.
        RAISES (MedlinkError): E308 for a prefix that another linker of the pipeline has.
        """
        if nlp is not None:
            self.check_prefix(nlp)
            self.set_home(nlp)  # may differ, where the linker comes from another pipeline
        if assets is not None:
            if str(assets) != self.opened.source:
                self._say_own_assets()
            self.opened.source = str(assets)
            self.opened.reset()
        if self.is_trainable:
            self.trainer.start()
        _ = self.engine

    @property
    def is_trainable(self) -> bool:
        """Whether there is something to train."""
        return self.model is not None

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from the gold mentions of Examples: spans of `reference` with a `kb_id`.

        drop (float): dropout rate of the networks.
        losses (Optional[Dict[str, float]]): the loss is added under the component's name.
        RAISES (MedlinkError): E405 when the assets have no dense tier to train for, E614 where
            torch is not installed.
        """
        losses = {} if losses is None else losses
        if not self.is_trainable:
            return losses
        examples = list(examples)
        validate_examples(examples, "MedicalLinker.update")
        losses.setdefault(self.name, 0.0)
        docs = [example.predicted for example in examples]
        try:
            losses[self.name] += self.trainer.update(self.trainer.gold(examples), docs, drop)
        except ImportError as error:
            raise missing(error, "training a linker") from error
        if sgd is not None:
            self.finish_update(sgd)
        return losses

    def finish_update(self, sgd: Optimizer) -> None:
        """Let the optimiser change the networks; `rebuild_index` updates the index later."""
        self.trainer.finish_update(sgd)

    def rebuild_index(self) -> bool:
        """Rebuild the assets if training has changed the networks, and read a changed overlay.

        All methods that link, score or save call this first, and no others.
        RETURNS (bool): whether it was necessary.
        """
        self.opened.follow()
        return self.opened.is_stale and self.trainer.rebuild()

    def ids_of(self, id: str) -> frozenset[str]:
        """Find the ids in use that an id of annotated text stands for: by id, history or code."""
        return frozenset(self.kb.brief_at(row)[0] for row in self.opened.ids.rows(id))

    def score(self, examples: Iterable[Example], **settings: object) -> Data:
        """Measure on Examples: `acc@1`, `acc@5`, and the links' `nel_micro_p`, `_r` and `_f`.

        The gold mentions are linked, whatever the pipeline found; see `scoring.score_examples`.
        """
        return score_examples(self, list(examples))

    @property
    def scorer(self) -> Callable[..., Data]:
        """The scorer; `spacy find-threshold` takes only components with this attribute."""
        return self.score

    # Saving

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()) -> None:
        """Save into a directory: the assets, or a reference to them, and the lexicon; see Store."""
        self.rebuild_index()
        self.store.to_disk(Path(path), exclude)

    def from_disk(
        self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> "MedicalLinker":
        """Load from a directory; the assets, in it or referred to, are used where they are."""
        self.store.from_disk(Path(path), exclude)
        if "assets" not in exclude and self.store.has_own_assets:
            self._say_own_assets()
        return self

    def to_bytes(self, *, exclude: Iterable[str] = SimpleFrozenList()) -> bytes:
        """Save as bytes. RAISES (MedlinkError): E303 for more than `max_bytes_size`."""
        self.rebuild_index()
        self.store.check_size(exclude, self.max_bytes_size)
        return super().to_bytes(exclude=exclude)

    def _keep(self, owner: OwnedDirectory) -> None:
        self.store.keep(owner)

    def __getstate__(self) -> Data:
        self.rebuild_index()
        state = {name: value for name, value in self.__dict__.items() if name not in _PARTS}
        stored = self.store.state()
        if self.store.is_unpacked:  # assets that came as bytes have no path
            stored["bytes"] = self.to_bytes()
        return {**state, "store": stored}

    def __setstate__(self, state: Data) -> None:
        stored = state.pop("store")
        self.__dict__.update(state)
        self._set_up()
        self.store.set_state(stored)
        self.from_bytes(stored.get("bytes", b""))
        self.opened.is_saved = stored["is_saved"]

    # Helpers

    def _set_up(self) -> None:
        """Make the parts; they share the settings, which may change."""
        from .doc_linker import DocLinker
        from .opened import LinkerParts
        from .store import Store
        from .trainer import Trainer

        register_extensions(self.settings.prefix, self.settings.cui_scheme)
        register_reading()
        self.opened = LinkerParts(self.name, self.vocab.lang or "", self.settings, self.home)
        self.docs = DocLinker(self.opened)
        self.trainer = Trainer(self.docs)
        self.store = Store(self.opened)


for _name in LinkerSettings.model_fields:
    if _name not in ("assets", "model"):  # which are those that are open
        # spaCy has another use for `labels`.
        _attribute = "label_types" if _name == "labels" else _name
        setattr(MedicalLinker, _attribute, setting_property(_name))
