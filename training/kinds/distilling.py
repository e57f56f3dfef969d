"""Distillation: a student learns the vectors of its teacher."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from spacy_medlink.assets.vector_store import KnownVectors, known_beside
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.objectives.protocol import Objective
from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Floats2d
from spacy_medlink.util.devices import find_device

from ..choosing.selection import Halves
from ..choosing.yardstick import Yardstick
from ..data.holdout import Holdout, make_holdout
from ..data.names import TrainingNames, read_names, read_texts
from ..data.sampler import Sampler, ShuffledSampler
from ..loop.encoding import encode_names
from ..loop.precision import Precision
from ..loop.ranks import ALONE, Ranks
from ..objectives.registered import choice_of
from ..recipe.settings import Recipe
from .encoder_training import EncoderTraining, Result, Say, describe, silent
from .pretraining import HOLDOUT
from .students import make_student


class Distillation(EncoderTraining):
    """Training of a student on names of a knowledge base, and their mutations.

    teacher (BiEncoder): not changed. device (str | torch.device): where to train.
    vectors (Sequence[Path]): directories that may hold vectors of the teacher. say (Callable):
    called with each stage.
    RAISES (MedlinkError): E530 too few names, E508 no such device, E302 layers it lacks.
    """

    def __init__(
        self,
        recipe: Recipe,
        kb: KnowledgeBase,
        teacher: BiEncoder,
        device: str | torch.device = "cpu",
        say: Say = silent,
        ranks: Ranks = ALONE,
        vectors: Sequence[Path] = (),
    ) -> None:
        self._teacher = teacher.move(find_device(str(device)))
        self._precision = Precision(recipe.training.precision, self._teacher.device)
        held = recipe.holdout
        self.holdout: Holdout = make_holdout(kb, held.fraction, held.most, held.seed)
        self._kb = kb
        self._known = known_beside(teacher, vectors)
        texts = read_texts(kb, recipe.distil.mutations, recipe.training.seed, self.holdout.rows)
        # Each text is a pseudo-concept of its own.
        self.names: TrainingNames = TrainingNames.of_texts(texts, np.arange(len(texts)))
        what = "Encoding texts with the teacher"
        self._targets: Floats2d = encode_names(teacher, texts, self._precision, what, self._known)
        base = make_student(teacher, recipe.distil.student, texts)
        # The student prepares texts as its teacher does, whatever the recipe says.
        data = recipe.data.model_copy(update={"lower_case": base.preparation.lower_case})
        super().__init__(recipe.model_copy(update={"data": data}), base, device, say, ranks)

    @cached_property
    def teacher(self) -> Halves:
        """Measure the teacher on the hold-out."""
        return self._yardstick_of(self._teacher, self._known).base

    @cached_property
    def yardstick(self) -> Yardstick:
        """The yardstick on the hold-out; made at first use, which encodes names."""
        return self._yardstick_of(self._base)

    def _yardstick_of(self, base: BiEncoder, known: Sequence[KnownVectors] = ()) -> Yardstick:
        names = read_names(self._kb, self.holdout.rows)
        nearest, among = self._recipe.selection.shortlist, self._recipe.holdout.among
        return Yardstick.of_holdout(
            base, names, self.holdout, nearest, self._precision, among, known
        )

    def run(self, directory: Path, resume: bool = False) -> Result | None:
        """Train and choose, as `EncoderTraining.run` does.

        RAISES (MedlinkError): E541 where the student loses more than the recipe allows.
        """
        self._say(f"Teacher: {describe(self.teacher)}")
        result = super().run(directory, resume)
        if result is None:
            return None
        metric, allowed = self._recipe.selection.metric, self._recipe.distil.max_loss
        wanted, reached = self.teacher["dev"][metric], result.figures["shipped"]["dev"][metric]
        if wanted - reached > allowed:
            raise Errors.student_too_weak(
                metric=metric, found=reached, wanted=wanted, lost=wanted - reached, allowed=allowed
            )
        return Result(result.encoder, {"teacher": self.teacher, **result.figures})

    def _sampler(self) -> Sampler:
        size, seed = 2 * self._recipe.sampler.batch_pairs, self._recipe.training.seed
        return ShuffledSampler(np.arange(len(self.names)), size, seed)

    def _objective(self) -> Objective:
        settings = self._recipe.objective
        objective: Objective = choice_of(self._recipe).with_settings(
            settings.loss_settings, self._targets, self._device
        )
        return objective

    def _facts(self) -> dict[str, int]:
        return {"texts": len(self.names), "held_out": len(self.holdout.rows)}

    def _made_of(self) -> list[str]:
        return [self.holdout.kb, self._teacher.fingerprint()]

    def store(self, directory: Path) -> None:
        """Write the hold-out."""
        self.holdout.save(directory / HOLDOUT)
