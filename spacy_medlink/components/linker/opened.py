"""What a linker holds: its assets and its engine, opened when first needed."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import Errors, Warnings
from ...util.locks import ForkSafeLock
from ...util.telling import tell
from ..extensions import register_scheme
from .annotation import LinkWriter
from .persistence import PersistentLinker
from .settings import DEFAULT_CONFIG, attribute, scope_settings

if TYPE_CHECKING:  # spaCy imports this module with every `spacy.blank`
    from ...assets import Assets
    from ...encoders.bi_encoder import BiEncoder
    from ...encoders.cross_encoder import CrossEncoder
    from ...kb import KnowledgeBase
    from ...linking import Linker
    from ...retrieval.filters import Only, Selection

Made = TypeVar("Made")


class OpenedLinker(PersistentLinker):
    """A linker whose assets and engine are there when asked for."""

    top_k: int
    threshold: float | None
    cui_scheme: str | None
    spans_key: str | list[str] | None
    force_within_filter: bool
    label_types: dict[str, list[str]] | None
    labels_discard: list[str] | None
    resolve_abbreviations: bool
    resolve_identifiers: bool
    composite: bool
    backoff: bool
    backoff_margin: float
    overwrite: bool
    merge: str
    batch_size: int
    cache_size: int
    n_threads: int
    _engine: "Linker | None"
    _writer: "LinkWriter | None"
    _selected: "tuple[Any, Selection] | None"
    _device: str | None = None

    @property
    def device(self) -> str:
        """Where the networks compute: where spaCy did when the component was made, or unpickled."""
        if self._device is None:
            from ...util.devices import spacy_device

            self._device = spacy_device()
        return self._device

    def use_device(self, device: str) -> None:
        """Let the networks compute elsewhere than spaCy does: "cpu", "cuda:1", "auto" ...

        RAISES (MedlinkError): E508 when this machine does not have the device.
        """
        from ...util.devices import find_device

        found = find_device(device)
        with self._lock:
            self._device = str(found)
            for model in (self.settings["encoder"], self.settings["reranker"]):
                if model is not None:
                    model.shims[0].place(found)
            if self._assets is not None:
                self._replace(self._assets.move(self._device))

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as they are now."""
        return {name: getattr(self, attribute(name)) for name in DEFAULT_CONFIG if name != "assets"}

    @property
    def assets(self) -> "Assets":
        """The assets, opened at the first use.

        RAISES (MedlinkError): E201-E204, E305 when they cannot be.
        """
        if self._assets is None:
            from ..sources import open_assets

            with self._lock:
                if self._assets is None:
                    self._take(open_assets(self.source, self.device))
        opened: Assets | None = self._assets
        assert opened is not None
        return opened

    @property
    def kb(self) -> "KnowledgeBase":
        """The knowledge base."""
        return self.assets.kb

    @property
    def engine(self) -> "Linker":
        """The linker over the assets, made at the first use; its settings are those of then."""
        if self._engine is None:
            with self._lock:
                if self._engine is None:
                    self._engine = self._make_engine()
        engine: Linker = self._engine
        if self.n_threads > 0 and getattr(self._thread, "cap", 0) != self.n_threads:
            from ...util.threads import cap_threads

            cap_threads(self.n_threads)
            self._thread.cap = self.n_threads
        return engine

    @property
    def linker(self) -> "Linker":
        """The linker as the settings are now: what `pipe` links with, and evaluation measures."""
        return self.engine.using(
            top_k=self.top_k,
            threshold=self.threshold,
            only=self._only(),
            force_within_filter=self.force_within_filter,
            resolve_abbreviations=self.resolve_abbreviations,
            resolve_identifiers=self.resolve_identifiers,
            composite=self.composite,
            backoff=self.backoff,
            backoff_margin=self.backoff_margin,
        )

    @property
    def writer(self) -> LinkWriter:
        """What makes links of decisions."""
        writer, kb = self._writer, self.kb
        if writer is None or writer.cui_scheme != self.cui_scheme or writer.kb is not kb:
            register_scheme(self.prefix, self.cui_scheme)
            writer = self._writer = LinkWriter(kb, self.cui_scheme)
        return writer

    def reload(self) -> None:
        """Take the assets that are now at the place of those that are open, built since.

        Whatever is linked meanwhile, by other threads too, is linked with the one or the other.
        RAISES (MedlinkError): E201-E204 when they cannot be opened; nothing changes then.
        """
        with self._lock:
            opened: Assets | None = self._assets
            if opened is not None:
                self._replace(opened.reload())

    def _replace(self, assets: "Assets") -> None:
        """Take other assets, opened, in place of these. In this order: see `_in_one_build`."""
        self._assets = assets
        self._engine = None
        self._writer = None

    def _in_one_build(self, make: Callable[[], Made]) -> Made:
        """Make something of the parts of one build; anew, where another was loaded meanwhile."""
        while True:
            assets = self.assets
            made = make()
            if self.assets is assets:
                return made

    def _only(self) -> "Only":
        raise NotImplementedError

    def _own_reranker(self) -> "CrossEncoder | None":
        model = self.settings["reranker"]
        if model is None:
            return None
        from ...encoders.architectures import cross_encoder_of

        encoder = cross_encoder_of(model)
        self.assets.check_reranker(encoder, model.attrs["name"])
        return encoder

    def _own_encoder(self) -> "BiEncoder":
        raise NotImplementedError

    def _reset(self) -> None:
        self._lock = ForkSafeLock()
        self._thread = threading.local()
        self._assets = None
        self._engine = None
        self._writer = None
        self._docs_without_spans = 0
        self._told: set[str] = set()
        self._selected = None
        _ = self.device  # now: spaCy keeps it for each thread

    def _take(self, assets: "Assets") -> None:
        from ...building.starter import is_starter

        self._assets = assets.move(self.device)
        if is_starter(assets):
            concepts = assets.manifest["kb"]["concepts"]
            tell(Warnings.starter_kb.format(name=self.name, concepts=concepts))

    def _make_engine(self) -> "Linker":
        assets, settings = self.assets, self.settings
        if self.cui_scheme and self.cui_scheme not in (schemes := assets.kb.code_schemes()):
            known = ", ".join(schemes) or "none"
            tell(Warnings.no_code.format(scheme=self.cui_scheme, schemes=known))
        engine = assets.engine(
            settings["tiers"],
            fusion=settings["fusion"],
            memory=settings["memory"],
            calibrator=settings["calibrator"],
            ranker=settings["ranker"],
            rerank_top=settings["rerank_top"],
            reranker=self._own_reranker(),
            exact_first=settings["exact_first"],
            cache_size=settings["cache_size"],
            scope=scope_settings(settings),
            encoder=self._checked_encoder(),
            lexicon=self.abbreviations,
        )
        if (
            settings["calibrator"]
            and settings["threshold"] is None
            and assets.manifest.get("calibrator") is None
        ):
            tell(Warnings.not_calibrated.format(path=assets.path, name=self.name))
        if self._only() is not None:
            engine.scopes.of("", self._only())  # what is wrong should be met here
        if engine.dense is not None and settings["index"]:
            from ...retrieval.tuning import SearchSettings

            engine.dense.tune(SearchSettings(**settings["index"]))
        return engine

    def _checked_encoder(self) -> "BiEncoder | None":
        """Get the encoder of the config, if there is one, and it made the index."""
        assets, tiers = self.assets, self.settings["tiers"]
        if self.settings["encoder"] is None or "dense" not in (tiers or assets.used_tiers):
            return None
        encoder = self._own_encoder()
        if encoder.fingerprint() != assets.manifest["encoder"]["fingerprint"]:
            problem = "the encoder of the config is not the one that made the index"
            raise Errors.assets_mismatch(path=assets.path, problem=problem)
        return encoder
