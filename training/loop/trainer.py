"""The loop: batches in, trained weights out, stoppable and resumable at every step."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import Errors
from spacy_medlink.types import Ints1d

from ..data.names import TrainingNames
from ..data.sampler import Sampler
from ..objectives.protocol import Batch, Objective
from ..recipe.settings import Recipe
from ..weights import Weights, copy_weights
from .checkpoint import Parts, Progress, load_checkpoint, save_checkpoint
from .gradients import backward
from .interruption import Interruption, StoppedError
from .metrics import MetricsLog, ProgressBar
from .modules import trained
from .precision import Precision
from .schedule import rate_factor

Validate = Callable[[BiEncoder], dict[str, float]]
CHECKPOINT = "checkpoint"
METRICS = "metrics.jsonl"


@dataclass(frozen=True)
class Task:
    """What is trained on what.

    encoder (BiEncoder): its module is changed in place. names (TrainingNames): what pairs refer to.
    validate (Callable): measures an encoder on dev, fast.
    made_with (str): identifies names, recipe and base, so that a checkpoint is not misused.
    """

    encoder: BiEncoder
    names: TrainingNames
    sampler: Sampler
    objective: Objective
    validate: Validate
    made_with: str


class Trainer:
    """Trains an encoder; what it has learnt is in `best`, the weights that did best on dev.

    task (Task): encoder, data and objective. recipe (Recipe): settings.
    directory (Path): where checkpoint and metrics go. precision (Precision): number format.
    """

    def __init__(self, task: Task, recipe: Recipe, directory: Path, precision: Precision) -> None:
        self.progress = Progress()
        self.best: Weights = copy_weights(task.encoder.module)
        self.encoder = task.encoder
        self._task, self._recipe, self._precision = task, recipe, precision
        self._directory = directory
        self._checkpoint = directory / CHECKPOINT
        self._module = task.encoder.module
        self._parameters = trained(self._module)
        settings = recipe.optimizer
        self._optimizer = torch.optim.AdamW(
            self._parameters, settings.learning_rate, weight_decay=settings.weight_decay, fused=True
        )
        steps = task.sampler.steps_per_epoch
        self._steps = max(1, math.ceil(recipe.training.epochs * steps))
        self._eval_every = recipe.training.eval_every or steps
        self._save_every = recipe.training.save_every or steps

    def train(self, resume: bool = False) -> None:
        """Train until the last epoch, the end of the budget, or no more gain on dev.

        resume (bool): go on from the checkpoint.
        RAISES (MedlinkError): E504 a loss or gradient that is not finite, E505 and E506 checkpoint
            unusable or missing, E509 out of memory. (StoppedError): after Ctrl-C, all saved.
        """
        if resume:
            self._load()
        else:
            torch.manual_seed(self._recipe.training.seed)
        log = MetricsLog(self._directory / METRICS, self.progress.step)
        self._module.train(self._recipe.encoder.dropout > 0)
        try:
            with Interruption() as interruption, ProgressBar() as bar:
                while not self._is_done():
                    self._step(log, bar)
                    if interruption.asked:
                        self._save()
                        raise StoppedError(self._checkpoint)
                if not self._is_evaluated():
                    self._evaluate(log)
            self._save()
        finally:
            self._module.eval()
            log.close()

    def weights(self) -> Weights:
        """Copy the weights as they are now."""
        return copy_weights(self._module)

    def part_done(self) -> float:
        """Compute how much of the training is done, 0..1, by steps or by minutes."""
        by_steps = self.progress.step / self._steps
        minutes = self._recipe.training.max_minutes
        by_time = self.progress.seconds / (60 * minutes) if minutes else 0.0
        return min(1.0, max(by_steps, by_time))

    def _is_done(self) -> bool:
        patience = self._recipe.training.patience
        return self.part_done() >= 1 or (patience > 0 and self.progress.waited >= patience)

    def _is_evaluated(self) -> bool:
        history = self.progress.history
        return bool(history) and history[-1]["step"] == self.progress.step

    def _step(self, log: MetricsLog, bar: ProgressBar) -> None:
        """Train on one batch; then evaluate and save, where the time for it has come."""
        began, progress = time.perf_counter(), self.progress
        part = self.part_done()
        settings = self._recipe.optimizer
        rate = settings.learning_rate * rate_factor(part, settings.warmup, settings.decay)
        for group in self._optimizer.param_groups:
            group.update(lr=rate, weight_decay=settings.weight_decay)
        names = self._task.sampler.batch(progress.step)
        loss, mined = self._learn(names)
        progress.step += 1
        progress.names += len(names)
        seconds = time.perf_counter() - began
        progress.training_seconds += seconds
        log.add(progress.step, loss, mined=mined, rate=rate, names=len(names), seconds=seconds)
        progress.seconds += seconds
        if progress.step % self._eval_every == 0:
            self._evaluate(log)
        if progress.step % self._save_every == 0:
            self._save()
        bar.show(self.part_done(), loss, progress)
        # What evaluation and saving took belongs to the budget too.
        progress.seconds += time.perf_counter() - began - seconds

    def _learn(self, names: Ints1d) -> tuple[float, int]:
        """Change the weights by one batch. RETURNS loss, and the pairs that were mined."""
        task, recipe = self._task, self._recipe
        batch = self._batch(names)
        mined = 0

        def loss_of(vectors: torch.Tensor) -> torch.Tensor:
            nonlocal mined
            loss, mined = task.objective(vectors, batch)
            self._check_finite("loss", loss, names)
            return loss

        try:
            loss = backward(
                task.encoder, task.names.tokens.take(names), loss_of, recipe.training,
                self._precision,
            )  # fmt: skip
        except torch.cuda.OutOfMemoryError as error:
            fewer = max(1, len(names) // 4)
            raise Errors.out_of_memory(names=len(names), fewer=fewer) from error
        self._update(names)
        return loss, mined

    def _update(self, names: Ints1d) -> None:
        scaler, clip = self._precision.scaler, self._recipe.optimizer.clip
        scaler.unscale_(self._optimizer)
        norm = torch.nn.utils.clip_grad_norm_(self._parameters, clip or math.inf)
        if not scaler.is_enabled():  # a scaler leaves such a step out and lowers its scale
            self._check_finite("gradient", norm, names)
        scaler.step(self._optimizer)
        scaler.update()
        self._optimizer.zero_grad()
        self._task.objective.after_step()

    def _batch(self, names: Ints1d) -> Batch:
        own, device = self._task.names, self.encoder.device
        columns = (names, own.concepts[names], own.strings[names].view(np.int64))
        return Batch(*(torch.from_numpy(column).to(device) for column in columns))

    def _check_finite(self, what: str, value: torch.Tensor, names: Ints1d) -> None:
        if torch.isfinite(value):
            return
        self._optimizer.zero_grad()
        self._save()
        step = self.progress.step
        raise Errors.loss_not_finite(
            what=what,
            value=value.item(),
            step=step,
            epoch=step // self._task.sampler.steps_per_epoch,
            names=f"the name rows {', '.join(map(str, self._task.names.rows[names[:5]]))} ...",
            checkpoint=self._checkpoint,
        )

    def _evaluate(self, log: MetricsLog) -> None:
        progress = self.progress
        figures = self._task.validate(self._task.encoder)
        value = figures[self._recipe.selection.metric]
        progress.waited += 1
        if value > progress.best:
            progress.best, progress.best_step, progress.waited = value, progress.step, 0
            self.best = self.weights()
        progress.history.append({"step": progress.step, **figures})
        log.add_dev(progress.step, figures)

    def _save(self) -> None:
        save_checkpoint(
            self._checkpoint, self._parts(), self.best, self.progress, self._task.made_with
        )  # fmt: skip

    def _parts(self) -> Parts:
        scaler, objective = self._precision.scaler, self._task.objective
        return Parts(self._module, self._optimizer, scaler, objective)

    def _load(self) -> None:
        self.best, self.progress = load_checkpoint(
            self._checkpoint, self._parts(), self._task.made_with
        )  # fmt: skip
