"""Experiment: training on the names of a knowledge base, measured on held-out names."""

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import torch

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.objectives.protocol import Objective
from spacy_medlink.encoders.stored import StoredVectors
from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase

from .assembly import make_objective, make_relations, make_sampler
from .choosing.yardstick import Yardstick
from .data.cutting import Cutter
from .data.holdout import Holdout
from .data.material import Material, Wanted, read_material
from .data.names import Reading, TrainingNames
from .data.pairs import Pairs
from .data.prepared import open_material, prepare
from .data.sampler import Sampler
from .loop.ranks import ALONE, Ranks
from .objectives.registered import OF_NAMES
from .recipe.settings import Recipe
from .study import Study

# Sections that must be in a checkpoint; other sections may be new when a training is resumed.
_DECISIVE = ("data", "bitext", "holdout", "sampler", "encoder", "adapter", "objective",
             "relations", "types")  # fmt: skip


class Experiment(Study):
    """A training that holds out names, pairs the rest, trains, and chooses the weights to ship.

    base (BiEncoder): its module gets the chosen weights.
    device (str | torch.device): where to train. say (Callable): called with each stage.
    ranks (Ranks): the processes that train together.
    bitext (Optional[Path]): a file of translations, for a recipe that trains on it.
    prepared (Optional[Path]): keeps names and pairs for later runs; None for in memory.
    vectors (Sequence[Path]): directories that may hold vectors of the base.
    RAISES (MedlinkError): E503 too few names, E508 no such device, E516-E520 data that the recipe
        needs is missing.
    """

    def __init__(
        self,
        recipe: Recipe,
        kb: KnowledgeBase,
        base: BiEncoder,
        device: str | torch.device = "cpu",
        say: Callable[[str], None] = lambda line: None,
        ranks: Ranks = ALONE,
        bitext: Path | None = None,
        prepared: Path | None = None,
        vectors: Sequence[Path] = (),
    ) -> None:
        super().__init__(recipe, base, device, say, ranks)
        self._kb, self._vectors = kb, vectors
        wanted = _wanted(recipe, bitext)
        self._made_of = wanted.facts()["bitext"]
        self._material = self._gather(wanted, prepared)
        self.holdout: Holdout = self._material.holdout
        self.names: TrainingNames = self._material.names
        self.pairs: Pairs = self._material.pairs
        self._count: int | None = None
        self._relations = make_relations(recipe, kb, self._material)

    def _gather(self, wanted: Wanted, prepared: Path | None) -> Material:
        cutter = Cutter.of(self._encoder)
        if prepared is None:
            return read_material(self._kb, cutter, wanted)
        place = self._ranks.from_first(lambda: prepare(self._kb, cutter, wanted, prepared))
        return open_material(place, self._kb)

    @cached_property
    def yardstick(self) -> Yardstick:
        """The yardstick on the hold-out; made at first use, which encodes names."""
        recipe = self._recipe
        return Yardstick.of_holdout(
            self._base,
            self._material.kb_names,
            self.holdout,
            recipe.selection.shortlist,
            self._precision,
            recipe.holdout.among if recipe.objective.needs(OF_NAMES) == "pairs" else None,
            StoredVectors.find(self._base, self._vectors),
        )

    def _sampler(self) -> Sampler:
        sampler, self._count = make_sampler(self._recipe, self._material, self._relations)
        return sampler

    def _batches(self) -> int | None:
        return self._count

    def _objective(self) -> Objective:
        return make_objective(
            self._recipe,
            self._kb,
            self._material,
            self._relations,
            lambda: self.yardstick.vectors,
            self._encoder.dim,
            self._device,
        )

    def _facts(self) -> dict[str, int]:
        own, translations = self._material, len(self._material.translations)
        facts = {"names": own.n_kb, "pairs": len(own.synonyms)}
        facts |= {"translations": translations} if translations else {}
        return {**facts, "held_out": len(self.holdout.rows)}

    def _made_with(self) -> str:
        settings = {name: getattr(self._recipe, name).as_dict() for name in _DECISIVE}
        settings["bitext"]["content"] = self._made_of
        settings["batches_a_step"] = {"count": self._recipe.training.accumulation}
        facts = json.dumps(settings, sort_keys=True)
        digest = hashlib.sha256(f"{facts} {self.holdout.kb} {self._base.fingerprint()}".encode())
        return digest.hexdigest()


def _wanted(recipe: Recipe, bitext: Path | None) -> Wanted:
    """RAISES (MedlinkError): E517, E518 when recipe and bitext do not go together."""
    order, data, held = recipe.bitext.order, recipe.data, recipe.holdout
    if order != "none" and bitext is None:
        raise Errors.bitext_missing(order=order)
    if order == "none" and bitext is not None:
        raise Errors.bitext_unused(path=bitext)
    reading = Reading(data.languages, data.obsolete, data.trade_names)
    return Wanted(
        reading,
        data.pairs_per_concept,
        recipe.training.seed,
        held.fraction,
        held.most,
        held.seed,
        bitext,
        data.pairs,
    )
