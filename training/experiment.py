"""Experiment: a recipe applied to a knowledge base and a base, from names to shipped weights."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase

from .choosing.selection import Halves, Selection, select
from .choosing.yardstick import Yardstick
from .data.holdout import Holdout, make_holdout
from .data.names import TrainingNames, read_names
from .data.pairs import Pairs, make_pairs
from .data.sampler import NameSampler, PairSampler, Sampler
from .loop.modules import prepare
from .loop.precision import Precision, find_device
from .loop.ranks import ALONE, Ranks
from .loop.task import Task
from .loop.trainer import Trainer
from .objectives.memory import MEMORY_LOSSES
from .objectives.protocol import Objective
from .objectives.registry import LOSSES, MINERS, BatchObjective
from .recipe.settings import Recipe
from .report import describe, speed, training_figures, verdict
from .weights import Weights, copy_weights

# Sections that a checkpoint cannot do without; of the others a resumed training may have new ones.
_DECISIVE = ("data", "holdout", "sampler", "encoder", "objective")


@dataclass(frozen=True)
class Result:
    """encoder (BiEncoder): what is shipped. figures (Dict[str, Any]): everything worth keeping."""

    encoder: BiEncoder
    figures: dict[str, Any]


class Experiment:
    """Holds out names, pairs the rest, trains, and chooses what to ship.

    base (BiEncoder): its module takes the weights that are chosen in the end.
    device (str | torch.device): where to train. say (Callable): told each stage.
    ranks (Ranks): the processes that train together.
    RAISES (MedlinkError): E503 too few names, E508 no such device.
    """

    def __init__(
        self,
        recipe: Recipe,
        kb: KnowledgeBase,
        base: BiEncoder,
        device: str | torch.device = "cpu",
        say: Callable[[str], None] = lambda line: None,
        ranks: Ranks = ALONE,
    ) -> None:
        self._recipe, self._kb, self._say, self._ranks = recipe, kb, say, ranks
        self._device = find_device(str(device))
        self._precision = Precision(recipe.training.precision, self._device)
        base.module.to(self._device)
        self._base = base
        held = recipe.holdout
        self.holdout: Holdout = make_holdout(kb, held.fraction, held.most, held.seed)
        self._encoder = prepare(base, recipe.encoder, self._device)
        data = recipe.data
        self.names: TrainingNames = read_names(
            kb,
            self._encoder.tokenize,
            data.lower_case,
            frozenset(self.holdout.rows),
            data.languages,
            data.obsolete,
        )
        self.pairs: Pairs = make_pairs(
            self.names.concepts,
            self.names.trainable,
            data.pairs_per_concept,
            recipe.training.seed,
        )
        if not len(self.pairs):
            raise Errors.too_few_names(path=kb.path, concepts=0)

    @cached_property
    def yardstick(self) -> Yardstick:
        """Measures encoders on the hold-out; made at first use, which encodes all names."""
        return Yardstick(
            self._base,
            self.names,
            self.holdout,
            self._recipe.data.lower_case,
            self._recipe.selection,
            self._precision,
        )

    def run(self, directory: Path, resume: bool = False) -> Result | None:
        """Train and choose.

        directory (Path): for checkpoint and log. resume (bool): go on from the checkpoint there.
        RETURNS (Optional[Result]): None on all ranks but the first, which chooses alone.
        """
        if not self._ranks.is_first:
            self.trainer(directory).train(resume)
            return None
        names, pairs = len(self.names), len(self.pairs)
        self._say(f"{names:,} names, {pairs:,} pairs; {len(self.holdout.rows):,} names held out")
        self._say(f"Base:    {describe(self.yardstick.base)}")
        base_shortlist = self.yardstick.fast(self._base)
        base = copy_weights(self._base.module)
        trainer = self.trainer(directory)
        trainer.train(resume)
        progress = trainer.progress
        self._say(
            f"Trained {progress.names:,} names in {progress.seconds:.0f} s"
            f" ({speed(progress):.0f} names/s)"
        )
        selection, shipped = self._select(base, trainer.best)
        self._say(f"Shipped: {describe(shipped)} ({verdict(selection)})")
        figures = {
            "base": self.yardstick.base,
            "shipped": shipped,
            "trained_part": selection.part,
            "tried": [{"part": part, "dev_shortlist": dev} for part, dev in selection.tried],
            "training": training_figures(progress, base_shortlist),
            "data": {"names": names, "pairs": pairs, **self.yardstick.facts()},
            "precision": self._precision.name,
            "device": str(self._device),
            "recipe": self._recipe.as_dict(),
        }
        return Result(self._ship(selection), figures)

    def trainer(self, directory: Path) -> Trainer:
        """Make the loop, with its checkpoint and log in a directory."""
        task = Task(
            self._encoder,
            self.names,
            self._sampler(),
            self._objective(),
            lambda encoder: self.yardstick.fast(encoder),
            self._made_with(),
        )
        return Trainer(task, self._recipe, directory, self._precision, self._ranks)

    def _sampler(self) -> Sampler:
        size, seed = self._recipe.sampler.batch_pairs, self._recipe.training.seed
        if self._recipe.objective.loss in MEMORY_LOSSES:
            return NameSampler(self.names, 2 * size, seed)
        return PairSampler(self.pairs, size, seed)

    def _objective(self) -> Objective:
        own = self._recipe.objective
        if own.loss in MEMORY_LOSSES:
            objective: Objective = MEMORY_LOSSES[own.loss].with_settings(
                own.loss_settings, self.names, self.yardstick.vectors, self._device
            )
            return objective
        return BatchObjective(
            MINERS[own.miner].with_settings(own.miner_settings),
            LOSSES[own.loss].with_settings(own.loss_settings),
        )

    def _select(self, base: Weights, trained: Weights) -> tuple[Selection, Halves]:
        """Choose on dev; test is measured along with it but never looked at."""
        settings, measured = self._recipe.selection, {0.0: self.yardstick.base}

        def whole(weights: Weights) -> dict[str, float]:
            measured[1.0] = self.yardstick.whole(self._with(weights))
            return measured[1.0]["dev"]

        selection = select(
            base,
            trained,
            settings,
            self.yardstick.base["dev"],
            lambda weights: self.yardstick.fast(self._with(weights)),
            whole,
        )
        return selection, measured[1.0 if selection.part else 0.0]

    def _with(self, weights: Weights) -> BiEncoder:
        self._encoder.module.load_state_dict(weights)
        return self._encoder

    def _ship(self, selection: Selection) -> BiEncoder:
        """Put the chosen weights into the base's own module, whose config is that of the base."""
        if not selection.part:
            return self._base
        self._base.module.load_state_dict(selection.weights)
        own = self._encoder
        return BiEncoder(own.tokenizer, self._base.module, own.pooling, own.max_length)

    def _made_with(self) -> str:
        settings = {name: asdict(getattr(self._recipe, name)) for name in _DECISIVE}
        facts = json.dumps(settings, sort_keys=True)
        digest = hashlib.sha256(f"{facts} {self.holdout.kb} {self._base.fingerprint()}".encode())
        return digest.hexdigest()
