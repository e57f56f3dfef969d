"""MedicalLinker, the `medical_linker` component: glue between Docs and the linking engine."""

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import srsly
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import SimpleFrozenList, minibatch
from spacy.vocab import Vocab

from .abbreviations import find_definitions
from .component import PicklablePipe
from .errors import Errors, Warnings
from .extensions import SPAN_ATTRIBUTES, register_extensions
from .types import Candidate, Mention

if TYPE_CHECKING:  # opened lazily: spaCy imports this module with every `spacy.blank`
    from .assets import Assets
    from .kb import KnowledgeBase
    from .linking import LinkingEngine

NIL = "NIL"
_DOCS_BEFORE_WARNING = 20
_CONTEXT = 64

DEFAULT_CONFIG: dict[str, Any] = {
    "assets": None,
    "top_k": 5,
    "threshold": 0.0,
    "cui_scheme": None,
    "spans_key": None,
    "tiers": None,
    "exact_first": False,
    "resolve_abbreviations": True,
    "overwrite": True,
    "prefix": "",
    "batch_size": 256,
    "n_threads": 0,
    "encoder": None,
}


@Language.factory(
    "medical_linker",
    assigns=["doc.ents", "token.ent_kb_id"] + [f"span._.{name}" for name in SPAN_ATTRIBUTES],
    requires=["doc.ents"],
    default_config=DEFAULT_CONFIG,
)
def make_medical_linker(
    nlp: Language,
    name: str,
    assets: str | None,
    top_k: int,
    threshold: float,
    cui_scheme: str | None,
    spans_key: str | None,
    tiers: list[str] | None,
    exact_first: bool,
    resolve_abbreviations: bool,
    overwrite: bool,
    prefix: str,
    batch_size: int,
    n_threads: int,
    encoder: Any,
) -> "MedicalLinker":
    """Make a `medical_linker`; see MedicalLinker for the settings."""
    return MedicalLinker(
        nlp.vocab,
        name,
        assets=assets,
        top_k=top_k,
        threshold=threshold,
        cui_scheme=cui_scheme,
        spans_key=spans_key,
        tiers=tiers,
        exact_first=exact_first,
        resolve_abbreviations=resolve_abbreviations,
        overwrite=overwrite,
        prefix=prefix,
        batch_size=batch_size,
        n_threads=n_threads,
        encoder=encoder,
    )


class Link(NamedTuple):
    """What is written on a span."""

    id: str
    cui: str | None
    kb_ents: list[list[Any]]
    candidates: list[dict[str, Any]]
    codes: dict[str, list[str]]


class _ConceptFacts(NamedTuple):
    id: str
    cui: str | None
    name: str
    types: tuple[str, ...]
    codes: dict[str, tuple[str, ...]]


class MedicalLinker(PicklablePipe):
    """Links the entities of a Doc to concepts of a knowledge base.

    Each entity gets `kb_id_` and the attributes of `extensions.SPAN_ATTRIBUTES`. The assets are
    opened when first needed, so that a saved pipeline loads after its sources have moved.

    assets (Optional[str]): directory of assets, saved pipeline, or installed pipeline package;
        None for the built-in starter.
    top_k (int): candidates kept a mention. threshold (float): links that score less are NIL, 0..1.
    cui_scheme (Optional[str]): vocabulary whose code `_.cui` holds; None for the KB's own ids.
    spans_key (Optional[str]): link `doc.spans[spans_key]` instead of `doc.ents`.
    tiers (Optional[List[str]]): of "exact", "ngram", "dense"; None for all that the assets have.
    exact_first (bool): where a name equals the mention, do not ask the other tiers: much faster,
        with fewer alternatives among the candidates.
    resolve_abbreviations (bool): look up what the document defines an abbreviation to mean.
    overwrite (bool): replace a `kb_id` that an entity has already.
    prefix (str): put before the names of the attributes, for several linkers in one pipeline.
    batch_size (int): documents whose mentions are encoded together in `pipe`.
    n_threads (int): cap on the threads of torch and faiss; 0 leaves them alone.
    encoder (Optional[Model]): replaces the assets' encoder; must be the one that made the index.
    RAISES (MedlinkError): E301, E302 for settings out of range.
    """

    _assets: "Assets | None"
    _engine: "LinkingEngine | None"

    def __init__(
        self,
        vocab: Vocab,
        name: str = "medical_linker",
        *,
        assets: str | Path | None = None,
        top_k: int = 5,
        threshold: float = 0.0,
        cui_scheme: str | None = None,
        spans_key: str | None = None,
        tiers: list[str] | None = None,
        exact_first: bool = False,
        resolve_abbreviations: bool = True,
        overwrite: bool = True,
        prefix: str = "",
        batch_size: int = 256,
        n_threads: int = 0,
        encoder: Any = None,
    ) -> None:
        self.vocab = vocab
        self.name = name
        self.source = None if assets is None else str(assets)
        self.top_k = top_k
        self.threshold = threshold
        self.cui_scheme = cui_scheme or None
        self.spans_key = spans_key
        self.tiers = tiers
        self.exact_first = exact_first
        self.resolve_abbreviations = resolve_abbreviations
        self.overwrite = overwrite
        self.prefix = prefix
        self.batch_size = batch_size
        self.n_threads = n_threads
        self.encoder = encoder
        self.max_bytes_size = 1 << 30
        self._check_settings()
        register_extensions(prefix)
        self._reset()

    # What the component holds

    @property
    def assets(self) -> "Assets":
        """The assets, opened at the first use.

        RAISES (MedlinkError): E201-E204, E305 when they cannot be.
        """
        if self._assets is None:
            from .sources import open_assets

            with self._lock:
                if self._assets is None:
                    self._take(open_assets(self.source))
        opened: Assets | None = self._assets
        assert opened is not None
        return opened

    @property
    def kb(self) -> "KnowledgeBase":
        """The knowledge base."""
        return self.assets.kb

    @property
    def engine(self) -> "LinkingEngine":
        """The engine that ranks, made at the first use."""
        if self._engine is None:
            with self._lock:
                if self._engine is None:
                    self._engine = self._make_engine()
        engine: LinkingEngine = self._engine
        return engine

    # Linking

    def __call__(self, doc: Doc) -> Doc:
        """Link the entities of one Doc, in place."""
        error_handler = self.get_error_handler()
        try:
            self.set_annotations([doc], self.predict([doc]))
        except Exception as error:
            error_handler(self.name, self, [doc], error)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int | None = None) -> Iterator[Doc]:
        """Link a stream of Docs; the mentions of a batch are encoded together.

        batch_size (Optional[int]): documents a batch; spaCy's value gives way to a larger setting
            of the component, since one call of the encoder for many short notes is what is fast.
        """
        error_handler = self.get_error_handler()
        size = max(batch_size or 0, self.batch_size)
        for docs in minibatch(stream, size=size):  # type: ignore[no-untyped-call]
            try:
                self.set_annotations(docs, self.predict(docs))
            except Exception as error:
                error_handler(self.name, self, docs, error)
            yield from docs

    def predict(self, docs: Sequence[Doc]) -> list[list[Link]]:
        """Link the mentions of Docs without changing them.

        RETURNS (List[List[Link]]): for each Doc, a link for each of its spans, in their order.
        """
        mentions = [self._mentions(doc) for doc in docs]
        flat = [mention for own in mentions for mention in own]
        if not flat:
            self._warn_if_always_empty(len(docs))
            return [[] for _ in docs]
        self._docs_without_spans = -1
        rankings = iter(self.engine.rank(flat, self.top_k))
        return [[self._link(next(rankings)) for _ in own] for own in mentions]

    def set_annotations(self, docs: Sequence[Doc], links: Sequence[Sequence[Link]]) -> None:
        """Write links on the spans of Docs."""
        for doc, own in zip(docs, links, strict=True):
            if self.spans_key is None:
                self._annotate_ents(doc, own)
            elif self.spans_key in doc.spans:
                self._annotate_group(doc, self.spans_key, own)

    # Saving and loading

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
        """
        if assets is not None:
            self.source = str(assets)
            self._reset()
        _ = self.engine

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()) -> None:
        """Save into a directory: a copy of the assets, hard-linked where possible."""
        Path(path).mkdir(parents=True, exist_ok=True)
        if "assets" not in exclude:
            self.assets.copy_to(Path(path) / "assets")

    def from_disk(
        self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> "MedicalLinker":
        """Load from a directory; the assets in it are used where they are.

        RAISES (MedlinkError): E201-E204 when they are not whole.
        """
        if "assets" not in exclude:
            from .assets import Assets

            self._reset()
            self._take(Assets(Path(path) / "assets"))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = SimpleFrozenList()) -> bytes:
        """Save the assets' files as bytes.

        RAISES (MedlinkError): E303 when they are larger than `max_bytes_size`.
        """
        files: dict[str, bytes] = {}
        if "assets" not in exclude:
            size, limit = self.assets.size, self.max_bytes_size
            if size > limit:
                raise Errors.too_big_for_bytes(size=size >> 20, limit=limit >> 20)
            for name in self.assets.files:
                files[name] = (self.assets.path / name).read_bytes()
        data: bytes = srsly.msgpack_dumps(files)
        return data

    def from_bytes(
        self, data: bytes, *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> "MedicalLinker":
        """Load from bytes: the files go to a temporary directory that lives as long as they do."""
        files = srsly.msgpack_loads(data)
        if "assets" not in exclude and files:
            from .assets import Assets
            from .files import OwnedDirectory

            directory = OwnedDirectory("spacy-medlink-")
            for name, content in files.items():
                target = directory.path / name
                if not target.resolve().is_relative_to(directory.path.resolve()):
                    raise Errors.assets_incomplete(path="bytes", problem=f"a file named {name!r}")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            self._reset()
            assets = Assets(directory.path)
            assets.keep_alive = directory
            self._take(assets)
        return self

    def __getstate__(self) -> dict[str, Any]:
        from .starter import is_starter

        state = self.__dict__.copy()
        for name in ("_lock", "_engine", "_facts"):
            del state[name]
        opened = state.pop("_assets")
        if opened is None:
            return state
        if opened.keep_alive is None:
            state["_assets"] = opened
        elif self.source is not None or not is_starter(opened):
            state["_bytes"] = self.to_bytes()  # what came as bytes travels as bytes
        # The starter is made anew where it is unpickled.
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        data, opened = state.pop("_bytes", None), state.pop("_assets", None)
        self.__dict__.update(state)
        register_extensions(self.prefix)
        self._reset()
        if data is not None:
            self.from_bytes(data)
        elif opened is not None:
            self._assets = opened

    # Helpers

    def _check_settings(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise Errors.bad_threshold(threshold=self.threshold)
        for name in ("top_k", "batch_size"):
            value = getattr(self, name)
            if value < 1:
                raise Errors.bad_setting(name=name, value=value, rule="must be at least 1")
        unknown = set(self.tiers or ()) - {"exact", "ngram", "dense"}
        if unknown or self.tiers == []:
            rule = "must name at least one of exact, ngram, dense and nothing else"
            raise Errors.bad_setting(name="tiers", value=self.tiers, rule=rule)

    def _reset(self) -> None:
        self._lock = threading.RLock()
        self._assets = None
        self._engine = None
        self._facts = lru_cache(maxsize=65536)(self._read_facts)
        self._docs_without_spans = 0

    def _take(self, assets: "Assets") -> None:
        from .starter import is_starter

        self._assets = assets
        if is_starter(assets):
            concepts = assets.manifest["kb"]["concepts"]
            warnings.warn(
                Warnings.starter_kb.format(name=self.name, concepts=concepts), stacklevel=4
            )

    def _make_engine(self) -> "LinkingEngine":
        assets = self.assets
        if self.n_threads > 0:
            _cap_threads(self.n_threads)
        if self.cui_scheme and self.cui_scheme not in (schemes := assets.kb.code_schemes()):
            known = ", ".join(schemes) or "none"
            warnings.warn(
                Warnings.no_code.format(scheme=self.cui_scheme, schemes=known), stacklevel=4
            )
        engine = assets.engine(self.tiers, exact_first=self.exact_first)
        if self.encoder is not None and engine.dense is not None:
            from .encoders.architectures import encoder_of

            engine.encoder = encoder_of(self.encoder)
            if engine.encoder.fingerprint() != assets.manifest["encoder"]["fingerprint"]:
                problem = "the encoder of the config is not the one that made the index"
                raise Errors.assets_mismatch(path=assets.path, problem=problem)
        return engine

    def _spans(self, doc: Doc) -> Sequence[Span]:
        if self.spans_key is None:
            return doc.ents
        return list(doc.spans[self.spans_key]) if self.spans_key in doc.spans else ()

    def _mentions(self, doc: Doc) -> list[Mention]:
        spans = self._spans(doc)
        if not spans:
            return []
        text = doc.text
        defined = find_definitions(text) if self.resolve_abbreviations else {}
        return [
            Mention(
                text=span.text,
                long_form=defined.get(span.text, ""),
                label=span.label_,
                left=text[max(0, span.start_char - _CONTEXT) : span.start_char],
                right=text[span.end_char : span.end_char + _CONTEXT],
            )
            for span in spans
        ]

    def _link(self, ranking: Sequence[Candidate]) -> Link:
        facts = [self._facts(candidate.row) for candidate in ranking]
        candidates = [
            {
                "id": fact.id,
                "name": fact.name,
                "matched": self._matched(candidate.name_row),
                "score": round(candidate.score, 6),
                "prob": candidate.prob,
                "scores": {tier: round(value, 6) for tier, value in candidate.scores.items()},
                "types": list(fact.types),
            }
            for candidate, fact in zip(ranking, facts, strict=True)
        ]
        kb_ents = [[item["id"], item["score"]] for item in candidates]
        # As rounded: a perfect match may be a millionth short of 1.0.
        if not ranking or round(ranking[0].score, 6) < self.threshold:
            return Link(NIL, None, kb_ents, candidates, {})
        best = facts[0]
        codes = {vocabulary: list(values) for vocabulary, values in best.codes.items()}
        return Link(best.id, best.cui, kb_ents, candidates, codes)

    def _read_facts(self, row: int) -> _ConceptFacts:
        concept = self.kb.concept_at(row)
        codes = {vocabulary: tuple(values) for vocabulary, values in concept.codes.items()}
        cui: str | None = concept.id
        if self.cui_scheme is not None:
            cui = next(iter(codes.get(self.cui_scheme, ())), None)
        return _ConceptFacts(concept.id, cui, concept.name, concept.types, codes)

    def _matched(self, name_row: int) -> str:
        return self.kb.name_at(name_row).text

    def _annotate_ents(self, doc: Doc, links: Sequence[Link]) -> None:
        for ent, link in zip(doc.ents, links, strict=True):
            if ent.kb_id and not self.overwrite:
                continue
            for token in ent:
                token.ent_kb_id_ = link.id
            self._set_attributes(ent, link)

    def _annotate_group(self, doc: Doc, key: str, links: Sequence[Link]) -> None:
        # Spans of a group cannot be changed in place: the group is made anew.
        spans = []
        for span, link in zip(doc.spans[key], links, strict=True):
            if span.kb_id and not self.overwrite:
                spans.append(span)
                continue
            linked = Span(
                doc, span.start, span.end, label=span.label, kb_id=link.id, span_id=span.id
            )
            self._set_attributes(linked, link)
            spans.append(linked)
        group = doc.spans[key]
        doc.spans[key] = type(group)(doc, name=group.name, attrs=group.attrs, spans=spans)

    def _set_attributes(self, span: Span, link: Link) -> None:
        for name in SPAN_ATTRIBUTES:
            span._.set(self.prefix + name, getattr(link, name))

    def _warn_if_always_empty(self, docs: int) -> None:
        if self._docs_without_spans < 0:
            return
        self._docs_without_spans += docs
        if self._docs_without_spans >= _DOCS_BEFORE_WARNING:
            message = Warnings.no_entities.format(name=self.name, docs=self._docs_without_spans)
            self._docs_without_spans = -1
            warnings.warn(message, stacklevel=3)


def _cap_threads(threads: int) -> None:
    import faiss
    import torch

    torch.set_num_threads(threads)
    faiss.omp_set_num_threads(threads)
