"""EncoderTraining: from a base, by a recipe, to the encoder that is shipped."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from spacy_medlink.encoders.adapters import add_adapters_of
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.objectives.protocol import Objective, Weights
from spacy_medlink.util.devices import find_device
from spacy_medlink.util.outputs import PathLike

from ..choosing.selection import Halves, Selection, select
from ..choosing.yardstick import Yardstick
from ..data.names import TrainingNames
from ..data.sampler import Sampler
from ..loop.checkpoint import copy_weights
from ..loop.modules import Adaptation, preparation_of, prepare
from ..loop.precision import Precision
from ..loop.ranks import ALONE, Ranks
from ..loop.task import NameTask
from ..loop.trainer import Trainer
from ..recipe.settings import Recipe

Say = Callable[[str], None]


def silent(line: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Inputs:
    """What a training begins with, and where it goes.

    base (str): an encoder, which for "distil" is the teacher and may be in assets; for "rerank"
    assets. output (Path): replaced as a whole at the end. kb (Path): but for "rerank".
    train, dev (Path): gold files to train on and to choose by. text (Path): translations for
    "pretrain". run (Path): for the checkpoint; OUTPUT_run if left out.
    """

    base: str
    output: Path
    kb: Path | None = None
    train: Path | None = None
    dev: Path | None = None
    text: Path | None = None
    run: Path | None = None

    @property
    def place(self) -> Path:
        """The directory for the checkpoint."""
        return self.run or self.output.with_name(f"{self.output.name}_run")

    def files(self) -> list[Path]:
        """List the files that it learns from."""
        return [path for path in (self.kb, self.text, self.train, self.dev) if path is not None]

    def given(self) -> list[PathLike | None]:
        """List what the output must not replace."""
        return [self.base, self.kb, self.train, self.dev, self.text]


@dataclass(frozen=True)
class Result:
    """encoder (BiEncoder): what is shipped. figures (Dict[str, Any]): everything worth keeping."""

    encoder: BiEncoder
    figures: dict[str, Any]


class EncoderTraining(ABC):
    """A training of an encoder that chooses the weights to ship; each kind of recipe has its own.

    base (BiEncoder): its module takes the weights that are chosen in the end.
    device (str | torch.device): where to train. say (Callable): told each stage.
    ranks (Ranks): the processes that train together.
    RAISES (MedlinkError): E508 no such device.
    """

    names: TrainingNames

    def __init__(
        self,
        recipe: Recipe,
        base: BiEncoder,
        device: str | torch.device,
        say: Say,
        ranks: Ranks = ALONE,
    ) -> None:
        self._recipe, self._say, self._ranks = recipe, say, ranks
        self._device = find_device(str(device))
        self._precision = Precision(recipe.training.precision, self._device)
        base.move(self._device)
        base.preparation = preparation_of(base, recipe.data)
        self._base = base
        self._encoder = prepare(base, recipe.encoder, self._device)
        self._adaptation = Adaptation(self._encoder, recipe.adapter, recipe.training.seed)

    @property
    @abstractmethod
    def yardstick(self) -> Yardstick:
        """The yardstick; made at first use, which encodes all names."""

    @abstractmethod
    def _sampler(self) -> Sampler:
        """Make the sampler."""

    @abstractmethod
    def _objective(self) -> Objective:
        """Make the loss."""

    @abstractmethod
    def _made_of(self) -> list[str]:
        """Identify the data, all that a checkpoint depends on beside recipe and base."""

    @abstractmethod
    def _facts(self) -> dict[str, int]:
        """Count the training data."""

    def store(self, directory: Path) -> None:  # noqa: B027  # most kinds write nothing
        """Write what belongs beside the encoder, if anything."""

    def run(self, directory: Path, resume: bool = False) -> Result | None:
        """Train and choose.

        directory (Path): for the checkpoint. resume (bool): go on from the checkpoint there.
        RETURNS (Optional[Result]): None on all ranks but the first, which chooses alone.
        """
        if not self._ranks.is_first:
            self.trainer(directory).train(resume)
            return None
        counts = {**self._facts(), **self._trained()}
        self._say("; ".join(f"{n:,} {what.replace('_', ' ')}" for what, n in counts.items()))
        self._say(f"Base:    {describe(self.yardstick.base)}")
        base_shortlist = self.yardstick.fast(self._base)
        trainer = self.trainer(directory)
        trainer.train(resume)
        progress, stopped_by = trainer.progress, trainer.stopped_by()
        speed = progress.names / max(progress.training_seconds, 1e-9)
        cut = "; stopped by training.max_minutes before the recipe was done"
        self._say(
            f"Trained {progress.names:,} names in {progress.seconds:.0f} s ({speed:.0f} names/s)"
            f"{cut if stopped_by == 'minutes' else ''}"
        )
        selection = self._select(trainer.best)
        shipped = selection.measured
        self._say(f"Shipped: {describe(shipped)} ({_verdict(selection)})")
        figures = {
            "base": self.yardstick.base,
            "shipped": shipped,
            "trained_part": selection.part,
            "tried": [{"part": part, "dev_shortlist": dev} for part, dev in selection.tried],
            "training": {
                "stopped_by": stopped_by,
                "steps": progress.step,
                "names": progress.names,
                "seconds": round(progress.seconds, 1),
                "names_per_s": round(speed, 1),
                "best_step": progress.best_step,
                "dev_shortlist": progress.history,
                "losses": progress.losses,
                "base_shortlist": base_shortlist,
            },
            "data": {**counts, **self.yardstick.facts()},
            "precision": self._precision.name,
            "device": str(self._device),
            "ranks": self._ranks.count,
            "recipe": self._recipe.as_dict(),
        }
        return Result(self._ship(selection), figures)

    def trainer(self, directory: Path) -> Trainer:
        """Make the loop, with its checkpoint in a directory."""
        sampler, objective = self._sampler(), self._objective()
        task = NameTask(
            self._encoder,
            self.names,
            sampler,
            objective,
            self._recipe.training,
            lambda encoder: self.yardstick.fast(encoder),
            made_with(self._recipe, self._base.fingerprint(), *self._made_of()),
        )
        return Trainer(task, self._recipe, directory, self._precision, self._ranks)

    def _trained(self) -> dict[str, int]:
        """Count the weights that are trained, where those are few."""
        if self._recipe.adapter.kind == "none":
            return {}
        return {"trained_weights": self._adaptation.weights}

    def _select(self, best: Weights) -> Selection:
        """Choose among the base, the best weights on dev, and what lies between."""
        base, best = self._mixable(best)
        return select(
            base, best, self._recipe.selection, self.yardstick.base,
            lambda weights: self.yardstick.fast(self._with(weights)),
            lambda weights: self.yardstick.whole(self._with(weights)),
        )  # fmt: skip

    def _mixable(self, best: Weights) -> tuple[Weights, Weights]:
        """Bring base and trained weights into one form: LoRA merged, idle adapters in the base."""
        self._with(best)
        self._adaptation.finish()
        best = copy_weights(self._encoder.module)
        base = copy_weights(self._base.module)
        # An adapter with a zero up-projection changes nothing.
        for name in best.keys() - base.keys():
            idle = ".up." in name
            base[name] = torch.zeros_like(best[name]) if idle else best[name].clone()
        return base, best

    def _with(self, weights: Weights) -> BiEncoder:
        self._encoder.module.load_state_dict(weights)
        return self._encoder

    def _ship(self, selection: Selection) -> BiEncoder:
        """Put the chosen weights into the base's own module, whose config is that of the base."""
        if not selection.part:
            return self._base
        trained, module = self._encoder, self._base.module
        add_adapters_of(trained.module, module)
        module.load_state_dict(selection.weights)
        return trained.over(module)


def made_with(recipe: Recipe, *identities: str) -> str:
    """Identify all that a checkpoint depends on. identities (str): identities of base and data."""
    text = json.dumps([recipe.decisive(), identities], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def describe(halves: Halves) -> str:
    """Write the figures of both halves in a line."""
    return "; ".join(
        f"{half} acc@1 {of_half['acc@1']:.1f}, "
        f"@5 {of_half['acc@5']:.1f}, @20 {of_half['acc@20']:.1f}"
        for half, of_half in halves.items()
    )


def _verdict(selection: Selection) -> str:
    if not selection.part:
        return "the base is kept: what was trained did not beat it on dev"
    if selection.part == 1:
        return "the trained encoder"
    return f"{selection.part:g} x trained + {1 - selection.part:g} x base"
