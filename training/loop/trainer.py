"""The loop: batches in, trained weights out, stoppable and resumable at every step."""

import math
import time
from pathlib import Path

import torch

from spacy_medlink.encoders.objectives.protocol import Weights
from spacy_medlink.errors import Errors, MedlinkError
from spacy_medlink.util.outputs import check_output

from ..recipe.settings import Recipe
from .checkpoint import KIND, Progress, copy_weights, load_checkpoint, save_checkpoint
from .interruption import StoppedError, interruption
from .learner import Learner, NotFiniteError
from .precision import Precision
from .progress_bar import ProgressBar
from .ranks import ALONE, Ranks
from .task import Task

CHECKPOINT = "checkpoint"
_EVERY = 10  # steps of which one is noted, but for the first ones


class Trainer:
    """The training of a network; `best` has the best weights on dev.

    task (Task): network, data and objective. recipe (Recipe): settings.
    directory (Path): for the checkpoint. precision (Precision): number format.
    ranks (Ranks): the processes that share each batch. Only the first one measures and writes.
    """

    def __init__(
        self,
        task: Task,
        recipe: Recipe,
        directory: Path,
        precision: Precision,
        ranks: Ranks = ALONE,
    ) -> None:
        self.progress = Progress()
        self.best: Weights = copy_weights(task.module)
        self._task, self._recipe, self._precision = task, recipe, precision
        self._checkpoint, self._ranks = directory / CHECKPOINT, ranks
        self._module = task.module
        self._learner = Learner(task, recipe, precision, ranks)
        batches = recipe.training.accumulation
        self._epoch = math.ceil(task.steps_per_epoch / batches)  # in steps
        wanted = recipe.training.epochs * self._epoch
        self._steps = max(1, math.ceil(wanted))
        self._eval_every = recipe.training.eval_every or self._epoch
        self._save_every = recipe.training.save_every or self._epoch

    def train(self, resume: bool = False) -> None:
        """Train until the last epoch, the end of the budget, or no more gain on dev.

        resume (bool): continue from the checkpoint.
        RAISES (MedlinkError): E504 a loss or gradient that is not finite, E505 checkpoint
            unusable or missing, E509 out of memory. (StoppedError): after Ctrl-C, with all saved.
        """
        if resume:
            self._load()
        else:
            check_output(self._checkpoint, KIND)
            torch.manual_seed(self._recipe.training.seed)
        self._module.train(self._recipe.encoder.dropout > 0)
        try:
            with interruption() as is_asked, ProgressBar(shown=self._ranks.is_first) as bar:
                while not self._is_done():
                    self._step(bar)
                    asked, seconds = self._ranks.agree(is_asked(), self.progress.seconds)
                    self.progress.seconds = seconds
                    if asked:
                        self._save()
                        raise StoppedError(self._checkpoint)
                if not self._recipe.chooses:
                    self.best = self.weights()
                elif not self._is_evaluated():
                    self._evaluate()
            self._save()
        finally:
            self._module.eval()

    def weights(self) -> Weights:
        """Copy the present weights."""
        return copy_weights(self._module)

    def part_done(self) -> float:
        """Compute the finished part of the training, 0..1, by names, steps or minutes."""
        wanted = self._recipe.training.names
        done = self.progress.names / wanted if wanted else self.progress.step / self._steps
        minutes = self._recipe.training.max_minutes
        by_time = self.progress.seconds / (60 * minutes) if minutes else 0.0
        return min(1.0, max(done, by_time))

    def stopped_by(self) -> str:
        """Return what ended the training: "names" or "epochs" (all done), "patience", "minutes"."""
        wanted, progress = self._recipe.training.names, self.progress
        if wanted and progress.names >= wanted:
            return "names"
        if not wanted and progress.step >= self._steps:
            return "epochs"
        return "minutes" if self.part_done() >= 1 else "patience"

    def _is_done(self) -> bool:
        patience = self._recipe.training.patience
        return self.part_done() >= 1 or (patience > 0 and self.progress.waited >= patience)

    def _is_evaluated(self) -> bool:
        history = self.progress.history
        return bool(history) and history[-1]["step"] == self.progress.step

    def _step(self, bar: ProgressBar) -> None:
        """Learn from the batches of a step; then evaluate and save when due."""
        began, progress = time.perf_counter(), self.progress
        settings = self._recipe.optimizer
        # The first step counts half, or a training of one step would have a rate of 0.
        part = self.part_done() or 0.5 / self._steps
        factor = _rate_factor(part, settings.warmup, settings.decay)
        rate = settings.learning_rate * factor
        try:
            learnt = self._learner.learn(progress.step, rate)
        except NotFiniteError as error:
            self._save()
            raise self._not_finite(*error.args) from error
        progress.step += 1
        progress.names += learnt.names
        seconds = time.perf_counter() - began
        progress.training_seconds += seconds
        progress.seconds += seconds
        if progress.step <= _EVERY or progress.step % _EVERY == 0 or self.part_done() >= 1:
            noted = {"loss": learnt.loss, "mined": learnt.mined, "rate": rate}
            progress.losses.append({"step": progress.step, **noted})
        if progress.step % self._eval_every == 0:
            self._evaluate()
        if progress.step % self._save_every == 0:
            self._save()
        bar.show(self.part_done(), learnt.loss, progress)
        # The time of evaluating and saving counts for the budget, too.
        progress.seconds += time.perf_counter() - began - seconds

    def _not_finite(self, what: str, value: float, batch_number: int) -> MedlinkError:
        step, names = self.progress.step, self._task.describe(batch_number)
        return Errors.loss_not_finite(
            what=what, value=value, step=step, epoch=step // self._epoch, names=names,
            checkpoint=self._checkpoint,
        )  # fmt: skip

    def _evaluate(self) -> None:
        progress = self.progress
        figures = self._ranks.from_first(self._task.validate)
        value = figures[self._recipe.selection.metric]
        progress.waited += 1
        if value > progress.best:
            progress.best, progress.best_step, progress.waited = value, progress.step, 0
            if self._ranks.is_first:
                self.best = self.weights()
        progress.history.append({"step": progress.step, **figures})

    def _save(self) -> None:
        if self._ranks.is_first:
            optimizer, best = self._learner.optimizer, self.best
            save_checkpoint(self._checkpoint, self._task, optimizer, best, self.progress)
        self._ranks.wait()  # or the end of another rank would stop the first one while it writes

    def _load(self) -> None:
        optimizer = self._learner.optimizer
        self.best, self.progress = load_checkpoint(self._checkpoint, self._task, optimizer)


def _rate_factor(progress: float, warmup: float, decay: str) -> float:
    """Compute the factor of the learning rate.

    progress (float): finished part of the training, 0..1. Not a step, because a budget of minutes
    may end training before its last step, and the rate must still reach its end.
    warmup (float): part in which it rises from 0 to 1. decay (str): "linear" to 0, or "constant".
    """
    if progress < warmup:
        return progress / warmup
    if decay == "constant":
        return 1.0
    return max(0.0, (1 - progress) / (1 - warmup))
