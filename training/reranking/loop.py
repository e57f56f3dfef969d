"""The loop: lists in, a trained cross-encoder out, stoppable and resumable at every epoch."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from spacy_medlink.encoders.cross_encoder import CrossEncoder
from spacy_medlink.encoders.pairs import Pair
from spacy_medlink.errors import Errors
from spacy_medlink.objectives.lists import LOSSES
from spacy_medlink.objectives.protocol import Stateless
from spacy_medlink.ranking.reranking import CandidateTexts

from ..loop.checkpoint import Parts, Progress, check_place, load_checkpoint, save_checkpoint
from ..loop.interruption import Interruption, StoppedError
from ..loop.metrics import MetricsLog
from ..loop.precision import Precision
from ..loop.schedule import rate_factor
from ..weights import copy_weights
from .lists import RankedList
from .recipe import RerankRecipe

CHECKPOINT, METRICS = "checkpoint", "metrics.jsonl"
_CLIP = 1.0


class _Nothing(Stateless):
    """What a checkpoint holds beside module and optimizer: nothing."""

    def __call__(self, vectors: torch.Tensor, batch: Any) -> tuple[torch.Tensor, int]:
        raise NotImplementedError


class RerankTrainer:
    """Trains a cross-encoder on lists; it ends with the weights that did best on dev.

    encoder (CrossEncoder): its module is changed. lists: to train on; those without both a right
        and a wrong candidate teach nothing and are left out, unless "none of them" is a class.
    validate (Callable): figures of the encoder on dev; `mrr` counts.
    directory (Path): for checkpoint and log. made_with (str): what a checkpoint must fit.
    """

    def __init__(
        self,
        encoder: CrossEncoder,
        recipe: RerankRecipe,
        lists: Sequence[RankedList],
        texts: CandidateTexts,
        validate: Callable[[], dict[str, float]],
        directory: Path,
        made_with: str,
    ) -> None:
        self._encoder, self._recipe, self._texts = encoder, recipe, texts
        loss = LOSSES[recipe.loss]
        self.lists = [own for own in lists if loss.teaches(own.right)]
        self._validate, self._directory, self._made_with = validate, directory, made_with
        self._loss = loss.compute
        module = encoder.module
        pooler = getattr(module.transformer, "pooler", None)
        if pooler is not None:  # not used by our pooling
            pooler.requires_grad_(False)
        body = [weight for weight in module.transformer.parameters() if weight.requires_grad]
        head = list(module.head.parameters())
        self._rates = (recipe.learning_rate, recipe.head_rate)
        self._optimizer = torch.optim.AdamW(
            [{"params": body}, {"params": head}], recipe.learning_rate, weight_decay=0.01
        )
        self._precision = Precision(recipe.precision, encoder.base.device)
        self.progress = Progress()
        self._best = copy_weights(module)

    def train(self, resume: bool = False) -> None:
        """Train until the last epoch, the end of the budget, or no more gain on dev.

        RAISES (MedlinkError): E504 a loss that is not finite, E505 and E506 checkpoint unusable or
            missing. (StoppedError): after Ctrl-C; the checkpoint is of the last whole epoch.
        """
        parts = Parts(self._encoder.module, self._optimizer, self._precision.scaler, _Nothing())
        checkpoint = self._directory / CHECKPOINT
        if resume:
            self._best, self.progress = load_checkpoint(checkpoint, parts, self._made_with)
        else:
            check_place(checkpoint)
            torch.manual_seed(self._recipe.seed)
        log = MetricsLog(self._directory / METRICS, self.progress.step)
        try:
            with Interruption() as interruption:
                if not self.progress.history:
                    self._evaluate(log)
                while not self._is_done():
                    self._epoch(log, interruption, checkpoint)
                    self._evaluate(log)
                    save_checkpoint(checkpoint, parts, self._best, self.progress, self._made_with)
        finally:
            log.close()
        self._encoder.module.load_state_dict(self._best)
        self._encoder.refresh()

    def _is_done(self) -> bool:
        progress, recipe = self.progress, self._recipe
        epochs = len(progress.history) - 1
        late = recipe.max_minutes is not None and progress.seconds >= 60 * recipe.max_minutes
        waited = recipe.patience > 0 and progress.waited >= recipe.patience
        return epochs >= recipe.epochs or late or waited or not self.lists

    def _epoch(self, log: MetricsLog, interruption: Interruption, checkpoint: Path) -> None:
        epoch, recipe = len(self.progress.history) - 1, self._recipe
        order = np.random.default_rng((recipe.seed, epoch)).permutation(len(self.lists))
        limit = None if recipe.max_minutes is None else 60 * recipe.max_minutes
        for start in range(0, len(order), recipe.batch):
            began = time.perf_counter()
            part = (epoch + start / len(order)) / recipe.epochs
            if limit is not None:
                part = max(part, self.progress.seconds / limit)
            batch = [self.lists[place] for place in order[start : start + recipe.batch]]
            loss, pairs = self._step(batch, rate_factor(min(1.0, part), recipe.warmup, "linear"))
            seconds = time.perf_counter() - began
            self.progress.step += 1
            self.progress.seconds += seconds
            self.progress.names += pairs
            log.add(self.progress.step, loss, names=pairs, seconds=seconds)
            if interruption.asked:
                raise StoppedError(checkpoint)
            if limit is not None and self.progress.seconds >= limit:
                break
        log.flush(self.progress.step)

    def _step(self, batch: Sequence[RankedList], factor: float) -> tuple[float, int]:
        for group, rate in zip(self._optimizer.param_groups, self._rates, strict=True):
            group["lr"] = rate * factor
        pairs = [Pair(own.mention, self._texts.of(one)) for own in batch for one in own.candidates]
        with self._precision.autocast():
            logits = self._encoder.forward(self._encoder.tokenize(pairs))
        loss = self._loss(logits.float(), [own.right for own in batch])
        if not torch.isfinite(loss):
            raise Errors.loss_not_finite(
                what="loss", value=loss.item(), step=self.progress.step,
                epoch=len(self.progress.history) - 1, names=f"{len(batch)} mentions",
                checkpoint=self._directory / CHECKPOINT,
            )  # fmt: skip
        self._optimizer.zero_grad()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self._encoder.module.parameters(), _CLIP)
        self._optimizer.step()
        return loss.item(), len(pairs)

    def _evaluate(self, log: MetricsLog) -> None:
        progress, figures = self.progress, self._validate()
        progress.waited += 1
        if figures["mrr"] > progress.best:
            progress.best, progress.best_step, progress.waited = figures["mrr"], progress.step, 0
            self._best = copy_weights(self._encoder.module)
        progress.history.append({"step": progress.step, **figures})
        log.add_dev(progress.step, figures)
