"""Learner: changes the weights by the batches of one step."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from spacy_medlink.errors import Errors, MedlinkError
from spacy_medlink.objectives.protocol import Batch
from spacy_medlink.types import Ints1d
from spacy_medlink.util.devices import fetched, is_out_of_memory, sent

from ..recipe.settings import Recipe
from .fitting import largest_fit
from .gradients import LossOf, backward
from .modules import trained
from .precision import Precision
from .ranks import ALONE, Ranks
from .task import Task


class Learnt(NamedTuple):
    """What a step did: mean loss, pairs that were mined, names that were encoded."""

    loss: float
    mined: int
    names: int


class NotFiniteError(Exception):
    """A loss or a gradient is infinite or not a number; nothing was changed by it.

    what (str): which of the two. value (float): what it is. names (Ints1d): of the batch.
    """

    def __init__(self, what: str, value: float, names: Ints1d) -> None:
        super().__init__(what)
        self.what, self.value, self.names = what, value, names


class Learner:
    """Computes gradients, batch by batch, and lets the optimizer act on them.

    task (Task): its encoder and objective learn. ranks (Ranks): share each batch.
    """

    def __init__(self, task: Task, recipe: Recipe, precision: Precision, ranks: Ranks) -> None:
        self._task, self._recipe, self._precision, self._ranks = task, recipe, precision, ranks
        self._encoders = trained(task.encoder.module)
        self._others = task.objective.parameters()
        settings = recipe.optimizer
        self.optimizer = torch.optim.AdamW(
            [*self._encoders, *self._others],
            settings.learning_rate,
            weight_decay=settings.weight_decay,
            fused=True,
        )

    def learn(self, step: int, rate: float) -> Learnt:
        """Train on the batches of a step, counted from 0, at a learning rate.

        RAISES (NotFiniteError): with the weights as they were. (MedlinkError): E509 out of memory.
        """
        settings = self._recipe.optimizer
        for group in self.optimizer.param_groups:
            group.update(lr=rate, weight_decay=settings.weight_decay)
        self._seed(step)
        count = self._recipe.training.accumulation
        numbers = range(step * count, (step + 1) * count)
        losses, mined, names = zip(*(self._pull(one, 1 / count) for one in numbers), strict=True)
        return Learnt(self._update(numbers, losses), sum(mined), sum(names))

    def forget(self) -> None:
        """Throw away the gradients computed so far."""
        self.optimizer.zero_grad()

    def _pull(self, number: int, weight: float) -> tuple[torch.Tensor, int, int]:
        """Add the gradients of a batch, times a weight. RETURNS loss, pairs and names."""
        names = self._task.sampler.batch(number)
        mined = 0

        def loss_of(vectors: torch.Tensor) -> torch.Tensor:
            nonlocal mined
            loss, mined = self._task.objective(vectors, self._batch(names, number))
            return loss * weight if weight != 1 else loss

        try:
            return self._backward(names, loss_of, self._ranks), mined, len(names)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            raise self._out_of_memory(names) from error

    def _update(self, numbers: Sequence[int], losses: Sequence[torch.Tensor]) -> float:
        """Let the optimizer act on the gradients of some batches. RETURNS the sum of their losses.

        Here a step waits for the device, once: what it has computed is looked at together.
        """
        scaler, clip = self._precision.scaler, self._recipe.optimizer.clip
        self._ranks.add_gradients(self._encoders)
        self._ranks.average_gradients(self._others)
        scaler.unscale_(self.optimizer)
        everything = [*self._encoders, *self._others]
        norm = torch.nn.utils.clip_grad_norm_(everything, clip or math.inf)
        *found, length = fetched(torch.stack([*losses, norm]).double()).tolist()
        for number, loss in zip(numbers, found, strict=True):
            self._check_finite("loss", loss, number)
        if not scaler.is_enabled():  # a scaler leaves such a step out and lowers its scale
            self._check_finite("gradient", length, numbers[0])
        scaler.step(self.optimizer)
        scaler.update()
        self.forget()
        self._task.objective.after_step()
        return float(sum(found))

    def _backward(self, names: Ints1d, loss_of: LossOf, ranks: Ranks) -> torch.Tensor:
        pieces = self._task.names.tokens.take(names)
        settings = self._recipe.training
        return backward(self._task.encoder, pieces, loss_of, settings, self._precision, ranks)

    def _batch(self, names: Ints1d, number: int) -> Batch:
        own, device = self._task.names, self._task.encoder.device
        columns = (names, own.concepts[names], own.strings[names].view(np.int64))
        positions, labels, strings = sent(np.stack(columns), device)
        return Batch(positions, labels, strings, number)

    def _check_finite(self, what: str, value: float, number: int) -> None:
        if not math.isfinite(value):
            self.forget()
            raise NotFiniteError(what, value, self._task.sampler.batch(number))

    def _seed(self, step: int) -> None:
        """Give every rank a dropout of its own, the same when training is resumed."""
        if self._ranks.count > 1 and self._recipe.encoder.dropout:
            entropy = (self._recipe.training.seed, step, self._ranks.rank)
            torch.manual_seed(int(np.random.SeedSequence(entropy).generate_state(1)[0]))

    def _out_of_memory(self, names: Ints1d) -> MedlinkError:
        """Find out, by trying, how much of a batch would have fitted."""

        def attempt(count: int) -> torch.Tensor:
            return self._backward(names[:count], lambda vectors: vectors.square().sum(), ALONE)

        self.forget()
        # Other ranks cannot be asked any more, but each has the same share.
        ranks = self._ranks.count
        fits = ranks * largest_fit(attempt, -(-len(names) // ranks))
        self.forget()
        return Errors.out_of_memory(names=len(names), fits=fits, fewer=max(1, fits // 2))
