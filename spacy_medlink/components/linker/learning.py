"""TrainableLinker: a linker whose encoder `spacy train` changes, and whose index follows."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.tokens import Doc, Span
from spacy.training import Example, validate_examples

from ...errors import Errors
from ...types import Floats2d
from .annotation import Link
from .lesson import Lesson, gold_mentions, make_lesson
from .opened import OpenedLinker
from .scoring import score_examples

if TYPE_CHECKING:  # spaCy imports this module with every `spacy.blank`
    from ...assets import Assets
    from ...encoders.bi_encoder import BiEncoder
    from ...linking import Linker

_NEAR = 4  # names near a mention that it is told apart from


class TrainableLinker(OpenedLinker):
    """A linker that learns when its config has an `encoder`; else `update` does nothing.

    The weights change with every step; the names' vectors are made anew when something is linked,
    scored or saved after that, so that index and encoder always belong together.
    """

    use_gold_ents: bool
    _is_stale: bool  # whether the encoder has changed since the index was made
    _is_saved: bool  # whether the encoder to train is the one that was saved with the assets

    @property
    def model(self) -> Any:
        """The encoder as a thinc model; None for a linker that cannot be trained."""
        return self.settings["encoder"]

    @property
    def is_trainable(self) -> bool:
        """Whether there is an encoder to train, and an index that it makes."""
        return self.model is not None

    @property
    def assets(self) -> "Assets":
        """The assets, which follow the encoder."""
        if self._is_stale:
            with self._lock:
                if self._is_stale:
                    self._renew()
        return super().assets

    @property
    def engine(self) -> "Linker":
        """The engine that ranks, over an index that follows the encoder."""
        _ = self.assets
        return super().engine

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from the gold mentions of Examples: spans of `reference` with a `kb_id`.

        drop (float): taken for the sake of the protocol; the encoder is trained without dropout.
        losses (Optional[Dict[str, float]]): the loss is added under the component's name.
        RAISES (MedlinkError): E307 when the assets have no dense tier to train for.
        """
        losses = {} if losses is None else losses
        if not self.is_trainable:
            return losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, "MedicalLinker.update")
        lesson = self.lesson(examples)
        if lesson is None:
            return losses
        vectors, backprop = self.model.begin_update(lesson.texts)
        loss, gradient = lesson.loss(self.model.ops.to_numpy(vectors))
        backprop(self.model.ops.asarray2f(gradient))
        losses[self.name] += loss
        if sgd is not None:
            self.finish_update(sgd)
        return losses

    def get_loss(self, examples: Iterable[Example], scores: Floats2d) -> tuple[float, Floats2d]:
        """Compute the loss of vectors and its gradient.

        scores (Floats2d): (n, dim), vectors of `lesson(examples).texts`.
        RETURNS (Tuple[float, Floats2d]): the loss, and the gradient, (n, dim).
        """
        lesson = self.lesson(list(examples))
        return (0.0, np.zeros_like(scores)) if lesson is None else lesson.loss(scores)

    def finish_update(self, sgd: Any) -> None:
        """Let the optimiser change the encoder; its index is of the past from now on."""
        self.model.finish_update(sgd)
        self._is_stale = True

    def lesson(self, examples: Sequence[Example]) -> Lesson | None:
        """Make of Examples what is learnt from them; None where nothing is."""
        encoder = self._own_encoder()
        engine, assets = super().engine, super().assets  # as they are: the index may lag behind
        if engine.dense is None:
            raise Errors.nothing_to_train(path=assets.path)
        found = gold_mentions(examples, self.spans, self.resolve_abbreviations, self.abbreviations)
        known = [(one.long_form or one.text, self.rows_of(id)) for one, id in found]
        mentions = [(text, rows) for text, rows in known if rows and text.strip()]
        if not mentions:
            return None
        hits = engine.dense.search(encoder.encode([text for text, _ in mentions]), _NEAR).rows
        rows = np.unique(hits[hits >= 0])
        near = list(zip(rows.tolist(), engine.name_concept[rows].tolist(), strict=True))
        return make_lesson(mentions, assets.kb, near)

    def rows_of(self, id: str) -> frozenset[int]:
        """Find the concepts that an id of annotated text stands for: by id, history or code."""
        return self._rows(id)

    def score(self, examples: Iterable[Example], **settings: Any) -> dict[str, Any]:
        """Measure on Examples: `acc@1`, `acc@5`, and the links' `nel_micro_p`, `_r` and `_f`.

        See `scoring.score_examples`. With `use_gold_ents` the gold mentions are linked, whatever
        entities the pipeline finds; else those of `predicted`.
        """
        return score_examples(self, list(examples))

    @property
    def scorer(self) -> Callable[..., dict[str, Any]]:
        """What scores: `spacy find-threshold` takes only components that have it."""
        return self.score

    def spans(self, doc: Doc) -> list[Span]:
        """List the spans of a Doc that are to be linked."""
        raise NotImplementedError

    def link_spans(self, doc: Doc, spans: Sequence[Span]) -> list[Link]:
        """Link any spans of a Doc without changing it."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        if self._is_stale:
            _ = self.assets
        state = super().__getstate__()
        del state["_rows"]
        return state

    def to_disk(self, path: str | Path, **settings: Any) -> None:
        """Save into a directory, with the encoder as it is now and an index that belongs to it."""
        _ = self.assets
        super().to_disk(path, **settings)

    def _start_training(self) -> None:
        """Load the encoder of the config; what it does not fit in the assets is made anew."""
        encoder = self._own_encoder()
        made_by = super().assets.manifest["encoder"]
        self._is_stale = made_by is None or made_by["fingerprint"] != encoder.fingerprint()

    def _own_encoder(self) -> "BiEncoder":
        """Get the encoder that is trained, in full precision."""
        from ...assets.assets import ENCODER
        from ...encoders.architectures import encoder_of
        from ...encoders.bi_encoder import BiEncoder

        shim = self.model.shims[0]
        if shim.encoder is None and self._is_saved:
            with super().assets.directory(ENCODER) as path:
                encoder = BiEncoder.load(path)
            shim.set_encoder(encoder)
            self.model.set_dim("nO", encoder.dim)
        return encoder_of(self.model)

    def _renew(self) -> None:
        """Make the assets anew for the encoder as it is."""
        from ...building import build_assets
        from ...util.files import OwnedDirectory
        from ...util.progress import show_progress

        old = super().assets
        directory = OwnedDirectory("spacy-medlink-")
        self._own_encoder().save(directory.path / "trained")
        made = old.manifest["index"]
        assets = build_assets(
            directory.path / "assets",
            old.kb.path,
            directory.path / "trained",
            index=made["spec"] if made else None,
            update=old.path,
            device=self.device,
            progress=show_progress,
            resume=False,
        )
        assets.keep_alive = directory
        self._reset()
        self._assets = assets
        self._is_saved = True

    def _reset(self) -> None:
        super()._reset()
        self._is_stale = self._is_saved = False
        self._rows: Callable[[str], frozenset[int]] = lru_cache(maxsize=65_536)(self._find_rows)

    def _replace(self, assets: "Assets") -> None:
        super()._replace(assets)
        self._rows = lru_cache(maxsize=65_536)(self._find_rows)

    def _find_rows(self, id: str) -> frozenset[int]:
        kb = super().assets.kb
        resolved = kb.resolve(id)
        return frozenset() if resolved is None else frozenset({kb.row_of(resolved)})
