"""Trainer: trains the encoder of a linker, and rebuilds its assets."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from spacy.tokens import Doc, Span
from spacy.training import Example
from thinc.api import Optimizer, set_dropout_rate

from ...assets import Assets, build_assets
from ...errors import Errors
from ...types import Mention
from ...util.files import OwnedDirectory
from ...util.progress import show_progress
from .doc_linker import DocLinker
from .text_batch import TextBatch, make_batch

if TYPE_CHECKING:  # spaCy imports this module with every `spacy.blank`
    from ...encoders.objectives.protocol import Objective

_NEAR = 4  # names near a mention that serve as negatives


class Gold(NamedTuple):
    """A mention, the rows of its right concepts, and its place in a Doc.

    span (Optional[Span]): of the predicted Doc; None where that Doc has another text.
    """

    mention: Mention
    rows: frozenset[int]
    span: Span | None


class Trainer:
    """The part of a linker that trains its `model`, an encoder.

    Weights change with every step. `rebuild` makes the vectors of the names, and all else that
    depends on the encoder, anew.

    docs (DocLinker): finds the gold mentions; its settings name the encoder and its objective.
    """

    def __init__(self, docs: DocLinker) -> None:
        self.docs, self.opened, self.settings = docs, docs.opened, docs.settings
        self._objective: Objective | None = None
        self._has_gradients = False

    def start(self) -> None:
        """Load the encoder; assets that were made with another one are made anew.

        The encoder of the assets is loaded later, where training begins.
        RAISES (MedlinkError): E302 for an unknown objective, E205, E206 for files that cannot be
            read.
        """
        if self.opened.follows_assets and self.settings.objective is None:
            return
        self.objective()
        made_by = self.opened.assets.manifest["encoder"]
        fingerprint = self.opened.encoder().fingerprint()
        self.opened.is_stale = made_by is None or made_by["fingerprint"] != fingerprint
        self.rebuild()

    def objective(self) -> "Objective":
        """Get the objective of the encoder: the one of the config, else SAP.

        RAISES (MedlinkError): E302 for an unknown loss or miner.
        """
        if self._objective is None:
            from ...encoders.objectives.registered import batch_objective

            self._objective = (self.settings.objective or batch_objective()).make()
        return self._objective

    def gold(self, examples: Iterable[Example]) -> list[Gold]:
        """Collect the gold mentions of Examples with the rows of their concepts."""
        opened, gold = self.opened, list[Gold]()
        for example in examples:
            doc, predicted = example.reference, example.predicted
            spans = self.docs.span_writer.gold(doc)
            for mention, span in zip(self.docs.read(doc, spans)[0], spans, strict=True):
                start, end = span.start_char, span.end_char
                predicted_span = predicted.char_span(start, end, alignment_mode="expand")
                gold.append(Gold(mention, opened.ids.rows(span.kb_id_), predicted_span))
        return gold

    def update(self, gold: Sequence[Gold], docs: Sequence[Doc], drop: float) -> float:
        """Compute the gradients of the encoder.

        docs (Sequence[Doc]): Docs that the pipeline has read. drop (float): dropout rate.
        RETURNS (float): the loss.
        """
        model = self.settings.model
        assert model is not None
        batch = self.batch(gold)
        texts = batch.texts if batch is not None else []
        given: object = texts
        if self.opened.is_shared and any(map(len, docs)):
            from ..shared_encoder import InContext

            spans = batch.spans if batch is not None else []
            given = InContext(docs, spans, texts[len(spans) :])
        elif batch is None:
            return 0.0
        set_dropout_rate(model, drop)
        vectors, backprop = model.begin_update(given)
        if batch is None:
            backprop(vectors)  # other listeners wait for it, see `components.shared_encoder`
            return 0.0
        loss, gradient = batch.loss(self.objective(), vectors, model.ops)
        backprop(gradient)
        self._has_gradients = True
        return loss

    def finish_update(self, sgd: Optimizer) -> None:
        """Let an optimiser change the encoder; from then on the assets are stale.

        Without a gradient nothing changes, unless other components train the same transformer.
        """
        model = self.settings.model
        assert model is not None
        if not (self._has_gradients or self.opened.is_shared):
            return
        self._has_gradients = False
        model.finish_update(sgd)
        self.opened.is_stale = True

    def batch(self, gold: Sequence[Gold]) -> TextBatch | None:
        """Make the TextBatch of gold mentions; None where there is nothing to learn.

        RAISES (MedlinkError): E405 when the assets have no dense tier to train for.
        """
        opened = self.opened
        engine, assets = opened.engine, opened.assets
        if "dense" not in assets.tiers:
            built = ", ".join(assets.tiers)
            raise Errors.tier_not_built(path=assets.path, tier="dense", built=built)
        shared = opened.is_shared
        taught = [labelled for labelled in gold if labelled.rows and labelled.mention.text.strip()]
        if shared:
            taught = [labelled for labelled in taught if labelled.span]
        mentions = [
            (labelled.mention.long_form or labelled.mention.text, labelled.rows)
            for labelled in taught
        ]
        if not mentions:
            return None
        # The index may lag behind the encoder.
        vectors = opened.encoder().encode([text for text, _ in mentions])
        hits = assets.dense.search(vectors, _NEAR).rows  # also where links do not ask this tier yet
        rows = np.unique(hits[hits >= 0])
        near = list(zip(rows.tolist(), engine.name_concept[rows].tolist(), strict=True))
        spans = [labelled.span for labelled in taught if labelled.span] if shared else []
        return make_batch(mentions, opened.kb, near, spans)

    def rebuild(self) -> bool:
        """Make the assets anew if the encoder has changed.

        Names are encoded, and the models over scores (ranker, calibrator) are fitted to names.
        RETURNS: whether it was necessary.
        """
        opened = self.opened
        with opened.lock:
            if not opened.is_stale:
                return False
            made = self._rebuilt(opened.base)
            opened.put(made)
            opened.is_saved, opened.is_stale = True, False
            if opened.is_shared:
                _ = opened.engine  # checked before the next step changes the weights
        return True

    def _rebuilt(self, old: Assets) -> Assets:
        directory = OwnedDirectory("spacy-medlink-")
        self.opened.encoder().save(directory.path / "trained")
        index = old.manifest["index"]
        made = build_assets(
            directory.path / "assets",
            old.kb.path,
            directory.path / "trained",
            index=index["spec"] if index else None,
            update=old.path,
            # With an encoder of its own, the component links with torch.
            runtime=None if self.opened.follows_assets else "torch",
            device=self.opened.device,
            progress=show_progress,
            resume=False,
        )
        made.keep_alive = directory
        return made
