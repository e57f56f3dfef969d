"""Experiment: training on the names of a knowledge base, measured on those held out."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property

import torch

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase

from .choosing.yardstick import Yardstick
from .data.holdout import Holdout, make_holdout
from .data.names import TrainingNames, read_names
from .data.pairs import Pairs, make_pairs
from .data.sampler import NameSampler, PairSampler, Sampler
from .loop.ranks import ALONE, Ranks
from .objectives.memory import MEMORY_LOSSES
from .objectives.protocol import Objective
from .objectives.registry import LOSSES, MINERS, BatchObjective
from .recipe.settings import Recipe
from .study import Study

# Sections that a checkpoint cannot do without; of the others a resumed training may have new ones.
_DECISIVE = ("data", "holdout", "sampler", "encoder", "objective")


class Experiment(Study):
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
        super().__init__(recipe, base, device, say, ranks)
        held = recipe.holdout
        self.holdout: Holdout = make_holdout(kb, held.fraction, held.most, held.seed)
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

    def _made_with(self) -> str:
        settings = {name: asdict(getattr(self._recipe, name)) for name in _DECISIVE}
        facts = json.dumps(settings, sort_keys=True)
        digest = hashlib.sha256(f"{facts} {self.holdout.kb} {self._base.fingerprint()}".encode())
        return digest.hexdigest()

    def _facts(self) -> dict[str, int]:
        held = len(self.holdout.rows)
        return {"names": len(self.names), "pairs": len(self.pairs), "held_out": held}
