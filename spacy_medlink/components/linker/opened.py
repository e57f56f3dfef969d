"""LinkerParts: the assets of a component and what is made of them, opened when first needed."""

import copy
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ...assets import Assets
from ...assets.manifest import ENCODER
from ...assets.overlaid import OverlaidAssets
from ...assets.starter import is_starter
from ...encoders.architectures import follows_assets
from ...errors import Errors, Warnings
from ...kb import KnowledgeBase
from ...kb.resolve import IdResolver
from ...linking import Linker
from ...text.lexicon import Lexicon, open_lexicon
from ...util.extras import CPU, is_processor
from ...util.locks import ForkSafeLock
from ...util.telling import tell
from ...util.threads import cap_threads
from ..extensions import register_scheme
from ..pipe import SAVED_ASSETS
from ..sources import open_assets
from .annotation import LinkWriter
from .overlay_file import Overlay
from .settings import FILTERS, LinkerSettings, Network, own_filter

if TYPE_CHECKING:  # torch is imported only where it is needed
    import torch
    from spacy.language import Language
    from spacy.tokens import Doc, Span

    from ...encoders.bi_encoder import BiEncoder

# Settings that take effect with the next document, without opening anew; so do the filters.
_CHANGEABLE = ("top_k", "threshold", "force_within_filter", "resolve_abbreviations", "composite")
_CURRENT = attrgetter(*_CHANGEABLE, *FILTERS)
CACHE_SIZE = 16_384  # distinct mentions whose candidates are remembered, about 5 KB each


class _Made(NamedTuple):
    """A linker, and the values of its settings."""

    settings: tuple[object, ...]
    linker: Linker


class _Opened:
    """Open assets, and what is made of them later; replaced whole, so that no thread mixes two."""

    def __init__(self, assets: Assets) -> None:
        self.assets = assets
        self.engine: Linker | None = None
        self.linker: _Made | None = None
        self.writer: LinkWriter | None = None

    @cached_property
    def ids(self) -> IdResolver:
        return IdResolver(self.assets.kb)


class LinkerParts:
    """The opened parts of a linker: assets, engine, lexicon and networks.

    name (str): of the component, for messages. lang (str): of the pipeline.
    settings (LinkerSettings): of the component; they may change until something is opened.
    home (Callable): gives the pipeline, where it is known.
    """

    def __init__(
        self,
        name: str,
        lang: str,
        settings: LinkerSettings,
        home: "Callable[[], Language | None]",
    ) -> None:
        self.name, self.lang, self.settings = name, lang, settings
        self.source = settings.assets
        self.lexicon: Lexicon | None = None
        self.overlay = Overlay(settings)
        self.device = _spacy_device()  # read now, since spaCy keeps the device by thread
        self.home = home
        self.reset()

    def reset(self) -> None:
        """Close everything: other assets are opened at the next use."""
        self.lock = ForkSafeLock()
        self._thread = threading.local()
        self._opened: _Opened | None = None
        self._told: set[str] = set()
        self.is_saved = False  # whether the assets came with the component, not from `source`
        self.is_stale = False  # whether training has changed a network since the assets were made
        self._drop_encoder()

    def take(self, assets: Assets, saved: bool = False) -> None:
        """Take opened assets. saved (bool): whether they came with the component."""
        self.put(assets)
        self.is_saved = saved
        if is_starter(assets):
            concepts = assets.manifest["kb"]["concepts"]
            tell(Warnings.starter_kb.format(name=self.name, concepts=concepts))

    def put(self, assets: Assets) -> None:
        """Replace the open assets by others."""
        with self.lock:
            self._opened = _Opened(self.overlay.over(assets.move(self.device)))

    def follow(self) -> None:
        """Read the overlay again if its file has changed; called before linking and saving.

        RAISES (MedlinkError): E105, E107 when a file that was just named cannot be read, E225
            when there is no transformer to share.
        """
        if self.settings.model is not None and (model := self.shared_model) is not None:
            from ..shared_network import has_moved

            if has_moved(model, self.encoder()) and not self.is_stale:
                with self.lock:  # the engine is checked anew where the shared weights have changed
                    self._opened = self._opened and _Opened(self._opened.assets)
        if self._opened is not None and self.overlay.is_used:
            with self.lock:
                if self.overlay.follow():
                    self.put(self.base)

    def use_device(self, device: str) -> None:
        """Set another device for the networks than spaCy's: "cpu", "cuda:1", "auto" ...

        RAISES (MedlinkError): E508 when this machine does not have the device.
        """
        name = CPU if is_processor(device) else str(_found(device))
        with self.lock:
            self.device = name
            for shim in self._shims:
                shim.place(_found(name))
            if self._opened is not None:
                self.put(self.base)

    def reload(self) -> None:
        """Open the assets again from the place of the open ones.

        RAISES (MedlinkError): E201-E204 when they cannot be opened; nothing changes then.
        """
        with self.lock:
            if self._opened is not None:
                self.put(self.base.reload())
                self._drop_encoder()

    def _drop_encoder(self) -> None:
        """Forget the encoder that was loaded from the assets, since they are others now."""
        for shim in self._shims if self.follows_assets else ():
            shim.encoder = None

    @property
    def _shims(self) -> Sequence[Any]:
        return self.settings.model.shims if self.settings.model else ()

    @property
    def shared_model(self) -> "Network | None":
        """The encoder, where it shares the transformer of the pipeline; else None."""
        model = self.settings.model
        return model if model is not None and model.attrs.get("shared") else None

    @property
    def is_shared(self) -> bool:
        """Whether the encoder shares the transformer of the pipeline."""
        return self.shared_model is not None

    @property
    def follows_assets(self) -> bool:
        """Whether the encoder is that of the assets, loaded only to be trained."""
        return follows_assets(self.settings.model)

    @property
    def opened(self) -> Assets | None:
        """The assets, if they are open."""
        return None if self._opened is None else self._opened.assets

    @property
    def named(self) -> str | None:
        """The assets that the config names; None where it names none."""
        return None if self.source == SAVED_ASSETS else self.source

    @property
    def assets(self) -> Assets:
        """The assets, opened at the first use.

        RAISES (MedlinkError): E201-E204 when they cannot be.
        """
        return self._now_opened().assets

    def _now_opened(self) -> _Opened:
        opened = self._opened  # read once: another thread may replace it
        if opened is None:
            with self.lock:
                if self._opened is None:
                    self.take(open_assets(self.source, self.device))
                opened = self._opened
        assert opened is not None
        return opened

    @property
    def base(self) -> Assets:
        """The assets without an overlay: what is saved, and built upon."""
        assets = self.assets
        return assets.base if isinstance(assets, OverlaidAssets) else assets

    @property
    def overlaid(self) -> OverlaidAssets | None:
        """The assets with the current overlay; None without an overlay, and nothing is opened.

        RAISES (MedlinkError): as `assets`, and E105, E107 when the file cannot be read.
        """
        if not self.overlay.is_used:
            return None
        self.follow()
        assets = self.assets
        return assets if isinstance(assets, OverlaidAssets) else None

    @property
    def kb(self) -> KnowledgeBase:
        """The knowledge base."""
        return self.assets.kb

    @property
    def ids(self) -> IdResolver:
        """The resolver of gold ids to concepts."""
        return self._now_opened().ids

    @property
    def abbreviations(self) -> Lexicon:
        """The lexicon, read at the first use.

        RAISES (MedlinkError): E107, E401, E108 when it cannot be.
        """
        if self.lexicon is None:
            self.lexicon = open_lexicon(self.settings.lexicon, self.lang)
        return self.lexicon

    @property
    def engine(self) -> Linker:
        """The linker over the assets, made at the first use with the settings of that moment."""
        return self._with_engine(self._now_opened())

    def _with_engine(self, opened: _Opened) -> Linker:
        engine = opened.engine
        if engine is None:
            with self.lock:
                engine = opened.engine = opened.engine or self._make_engine(opened.assets)
        threads = self.settings.n_threads
        if threads > 0 and getattr(self._thread, "cap", 0) != threads:
            cap_threads(threads)
            self._thread.cap = threads
        return engine

    @property
    def linker(self) -> Linker:
        """The linker with the current settings, used by `pipe` and by evaluation."""
        opened, current = self._now_opened(), _CURRENT(self.settings)
        engine, last = self._with_engine(opened), opened.linker
        # To make filters of 100,000 ids is slow, to compare them with the last ones is fast.
        if last is None or last.settings != current:
            changed = dict(zip(_CHANGEABLE, current, strict=False))
            linker = engine.using(only=own_filter(self.settings), **changed)
            last = opened.linker = _Made(copy.deepcopy(current), linker)
        return last.linker

    def writer_of(self, kb: KnowledgeBase) -> LinkWriter:
        """Get the maker of links from the decisions of a linker over a knowledge base."""
        opened, scheme = self._now_opened(), self.settings.cui_scheme
        writer = opened.writer
        if writer is None or writer.cui_scheme != scheme or writer.kb is not kb:
            register_scheme(self.settings.prefix, scheme)
            writer = opened.writer = LinkWriter(kb, scheme)
        return writer

    def tell_once(self, message: str, about: str = "") -> None:
        """Warn once. about (str): key of the warning, if not the message."""
        if (about or message) not in self._told:
            self._told.add(about or message)
            tell(message)

    def in_context(self, doc: "Doc", spans: "Sequence[Span]") -> "list[bytes]":
        """Get the vectors of spans in the context of their Doc, from the shared transformer.

        RAISES (MedlinkError): E227 when another transformer has read the Doc.
        """
        from ..shared_network import vectors_in_context

        model = self.shared_model
        assert model is not None
        self.encoder()
        vectors = vectors_in_context(model, doc, spans, self.name)
        if b"" in vectors:
            self.tell_once(Warnings.out_of_reach.format(name=self.name))
        return vectors

    def encoder(self) -> "BiEncoder":
        """Get the encoder of the config, in full precision; of a saved linker, the saved one."""
        model = self.settings.model
        assert model is not None
        if self.is_shared:
            from ..shared_network import current_encoder

            saved = self.assets if self.is_saved else None
            return current_encoder(model, self.home(), self.name, saved)
        from ...encoders.architectures import encoder_of, shim_of
        from ...encoders.bi_encoder import BiEncoder

        shim = shim_of(model)
        if shim.encoder is None and (self.is_saved or self.follows_assets):
            with self.assets.directory(ENCODER) as path:
                encoder = BiEncoder.load(path)
            shim.set_encoder(encoder)
            model.set_dim("nO", encoder.dim)
        made: BiEncoder = encoder_of(model)
        return made

    def _make_engine(self, assets: Assets) -> Linker:
        settings = self.settings
        if settings.cui_scheme and settings.cui_scheme not in (schemes := assets.kb.code_schemes()):
            remedy = "Leave `cui_scheme` out: it has no codes, and `_.cui` is then the concept's id"
            if schemes:
                remedy = f"Set `cui_scheme` to one that it has: {', '.join(schemes)}"
            tell(Warnings.no_code.format(scheme=settings.cui_scheme, remedy=remedy))
        engine = assets.engine(
            None if settings.tiers is None else [*settings.tiers],
            fusion=settings.fusion,
            calibrator=settings.calibrator and not self.is_shared,
            ranker=not self.is_shared,
            rerank_top=settings.rerank_top,
            exact_first=settings.exact_first,
            cache_size=CACHE_SIZE,
            labels=settings.labels,
            encoder=self._checked_encoder(assets),
            lexicon=self.abbreviations,
        )
        unsure = settings.calibrator and settings.threshold is None
        if unsure and self.is_shared:
            problem = "it was fitted to names, and mentions are read in their context"
            tell(Warnings.calibrator_unfit.format(path=assets.path, problem=problem))
        if (only := own_filter(settings)) is not None:
            engine.scopes.of("", only)  # so that errors in the settings are raised here
        return engine

    def _checked_encoder(self, assets: Assets) -> "BiEncoder | None":
        """Get the encoder of the config, if there is one; check that it made the index.

        The encoder of the assets links as they say, not as it is trained: by their runtime.
        """
        tiers, model = self.settings.tiers, self.settings.model
        if model is None or self.follows_assets or "dense" not in (tiers or assets.used_tiers):
            return None
        encoder = self.encoder()
        if encoder.fingerprint() != assets.manifest["encoder"]["fingerprint"]:
            if self.is_shared:
                raise Errors.transformer_changed(name=self.name, path=assets.path)
            problem = "the encoder of the config is not the one that made the index"
            raise Errors.assets_mismatch(path=assets.path, problem=problem)
        return encoder


def _found(device: str) -> "torch.device":
    from ...util.devices import find_device

    return find_device(device)


def _spacy_device() -> str:
    """Name the device where spaCy computes; exact and n-gram tiers need no torch."""
    from thinc.compat import has_torch

    if not has_torch:
        return "cpu"
    from ...util.devices import spacy_device

    return spacy_device()
