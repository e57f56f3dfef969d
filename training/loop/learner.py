"""Learner: changes the weights with the batches of a step."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from spacy_medlink.util.devices import fetched

from ..recipe.settings import Recipe
from .precision import Precision
from .ranks import Ranks
from .task import Task


class Learnt(NamedTuple):
    """The result of a step: mean loss, mined pairs, encoded names."""

    loss: float
    mined: int
    names: int


class NotFiniteError(Exception):
    """A loss or a gradient is infinite or not a number; the weights are unchanged.

    args: what it is, its value, and the number of its batch.
    """


class Learner:
    """The optimizer with the gradients of a task, batch by batch.

    The weights of the encoder are one group; those of the objective (and of a reranker's head) are
    another with a rate of their own, since they start from nothing.

    task (Task): its module and objective are trained. ranks (Ranks): share each batch.
    """

    def __init__(self, task: Task, recipe: Recipe, precision: Precision, ranks: Ranks) -> None:
        self._task, self._recipe, self._precision, self._ranks = task, recipe, precision, ranks
        self._others = [*task.head(), *task.objective.parameters()]
        ids = set(map(id, self._others))
        self._encoders = [
            weight
            for weight in task.module.parameters()
            if weight.requires_grad and id(weight) not in ids
        ]
        groups = [{"params": self._encoders}, *([{"params": self._others}] if ids else [])]
        self.optimizer = torch.optim.AdamW(groups, fused=True)

    def learn(self, step: int, rate: float) -> Learnt:
        """Train on the batches of a step, counted from 0, at a learning rate.

        RAISES (NotFiniteError): with unchanged weights. (MedlinkError): E509 out of memory.
        """
        encoder, objective = self._recipe.optimizer, self._recipe.objective
        times = objective.learning_rate / encoder.learning_rate
        settings = ((rate, encoder.weight_decay), (rate * times, objective.weight_decay))
        for group, (own_rate, decay) in zip(self.optimizer.param_groups, settings, strict=False):
            group.update(lr=own_rate, weight_decay=decay)
        self._seed(step)
        count = self._recipe.training.accumulation
        numbers = range(step * count, (step + 1) * count)
        losses, mined, names = zip(
            *(
                self._task.pull(batch_number, 1 / count, self._precision, self._ranks)
                for batch_number in numbers
            ),
            strict=True,
        )
        return Learnt(self._update(numbers, losses), sum(mined), sum(names))

    def _update(self, numbers: Sequence[int], losses: Sequence[torch.Tensor]) -> float:
        """Update the weights with the gradients of some batches. RETURNS the sum of their losses.

        A step waits for the device only here, once, to read all results together.
        """
        clip = self._recipe.optimizer.clip
        self._ranks.add_gradients(self._encoders)
        self._ranks.average_gradients(self._others)
        everything = [*self._encoders, *self._others]
        norm = torch.nn.utils.clip_grad_norm_(everything, clip or math.inf)
        *values, length = fetched(torch.stack([*losses, norm]).double()).tolist()
        for batch_number, loss in zip(numbers, values, strict=True):
            self._check_finite("loss", loss, batch_number)
        self._check_finite("gradient", length, numbers[0])
        self.optimizer.step()
        self.optimizer.zero_grad()
        self._task.objective.after_step()
        return float(sum(values))

    def _check_finite(self, what: str, value: float, batch_number: int) -> None:
        if not math.isfinite(value):
            self.optimizer.zero_grad()
            raise NotFiniteError(what, value, batch_number)

    def _seed(self, step: int) -> None:
        """Seed the dropout of every rank differently, but equally when training is resumed."""
        if self._ranks.count > 1 and self._recipe.encoder.dropout:
            entropy = (self._recipe.training.seed, step, self._ranks.rank)
            torch.manual_seed(int(np.random.SeedSequence(entropy).generate_state(1)[0]))
