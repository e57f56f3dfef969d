"""Pretraining: training on the names of a knowledge base, measured on held-out names."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from spacy_medlink.assets.vector_store import known_beside
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.objectives.protocol import Objective
from spacy_medlink.errors import Errors
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.util.files import sha256_of

from ..choosing.yardstick import Yardstick
from ..corpora.translations import read_bitext
from ..data.holdout import Holdout, make_holdout
from ..data.names import TrainingNames, read_names
from ..data.pairs import Pairs, pair_up
from ..data.relations import RelationSampler
from ..data.sampler import GroupSampler, Sampler, ShuffledSampler, with_synonym
from ..loop.ranks import ALONE, Ranks
from ..objectives.coder import JointObjective, TermRelationTerm, TransE, TypeHead, concept_types
from ..objectives.registered import choice_of
from ..recipe.settings import Recipe
from .encoder_training import EncoderTraining, Say, silent

HOLDOUT = "holdout"


class Pretraining(EncoderTraining):
    """A training that holds out names, pairs the rest, trains, and chooses the weights to ship.

    bitext (Optional[Path]): a file of translations, for a recipe that trains on it. Each pair is a
    pseudo-concept (Liu et al. 2021, "Learning domain-specialised representations for cross-lingual
    biomedical entity linking", section 2).
    vectors (Sequence[Path]): directories that may hold vectors of the base.
    For the others see `EncoderTraining`.
    RAISES (MedlinkError): E530 too few names, E508 no such device, E401-E407 data that the recipe
        needs is missing.
    """

    def __init__(
        self,
        recipe: Recipe,
        kb: KnowledgeBase,
        base: BiEncoder,
        device: str | torch.device = "cpu",
        say: Say = silent,
        ranks: Ranks = ALONE,
        bitext: Path | None = None,
        vectors: Sequence[Path] = (),
    ) -> None:
        super().__init__(recipe, base, device, say, ranks)
        if (recipe.bitext.order == "none") != (bitext is None):
            rule = (
                f"{bitext} is given as a bitext" if bitext else "no bitext is given with `--text`"
            )
            raise Errors.bad_value(key="bitext.order", value=recipe.bitext.order, rule=rule)
        self._kb, self._vectors = kb, vectors
        self._bitext = sha256_of(bitext) if bitext else ""
        held, seed = recipe.holdout, recipe.training.seed
        self.holdout: Holdout = make_holdout(kb, held.fraction, held.most, held.seed)
        self.kb_names: TrainingNames = read_names(kb, self.holdout.rows, recipe.data)
        self.synonyms: Pairs = pair_up(kb, self.kb_names, recipe.data, seed)
        texts = [text for pair in read_bitext(bitext) for text in pair] if bitext else []
        rows = np.arange(len(texts))
        translations = TrainingNames.of_texts(texts, len(kb) + rows // 2)
        self.names: TrainingNames = self.kb_names + translations if texts else self.kb_names
        self.translations: Pairs = (len(self.kb_names) + rows.reshape(-1, 2)).astype(np.int32)
        self._relations = self._make_relations()

    def _make_relations(self) -> RelationSampler | None:
        """Make the sampler of triples, if the recipe gives relations a weight."""
        if not self._recipe.relations.weight:
            return None
        sampling, seed = self._recipe.sampler, self._recipe.training.seed
        each, size = max(1, sampling.names_per_concept), 2 * sampling.batch_pairs
        return RelationSampler(self._kb, self.kb_names, size, each, seed)

    @cached_property
    def yardstick(self) -> Yardstick:
        """The yardstick on the hold-out; made at first use, which encodes names."""
        recipe = self._recipe
        among = recipe.holdout.among if choice_of(recipe).needs == "pairs" else None
        return Yardstick.of_holdout(
            self._base, self.kb_names, self.holdout, recipe.selection.shortlist,
            self._precision, among, known_beside(self._base, self._vectors),
        )  # fmt: skip

    def _sampler(self) -> Sampler:
        recipe = self._recipe
        if self._relations is not None:
            return self._relations
        if choice_of(recipe).needs == "memory":
            size = 2 * recipe.sampler.batch_pairs
            return ShuffledSampler(with_synonym(self.names), size, recipe.training.seed)
        return self._of_synonyms()

    def _of_synonyms(self) -> Sampler:
        sampling, seed = self._recipe.sampler, self._recipe.training.seed
        size, order = sampling.batch_pairs, self._recipe.bitext.order
        if order == "alone":
            return ShuffledSampler(self.translations, size, seed)
        mixed = order == "mixed"
        if sampling.names_per_concept:
            names = self.names if mixed else self.kb_names
            most = self._recipe.data.pairs_per_concept
            return GroupSampler(names, sampling.names_per_concept, 2 * size, most, seed)
        both = (self.synonyms, self.translations)
        return ShuffledSampler(np.concatenate(both) if mixed else self.synonyms, size, seed)

    def _objective(self) -> Objective:
        """Make the main loss, and add the other ones.

        RAISES (MedlinkError): E407 no types in the knowledge base.
        """
        recipe, seed, dim = self._recipe, self._recipe.training.seed, self._encoder.dim
        main: Objective
        if choice_of(recipe).needs == "memory":
            main = choice_of(recipe).with_settings(
                recipe.objective.loss_settings, self.names, self.yardstick.vectors, self._device
            )
        else:
            main = recipe.objective.in_batch().make()
        parts: dict[str, torch.nn.Module] = {}
        if self._relations is not None:
            relations, kinds = recipe.relations, 2 * len(self._relations.kinds)
            draw, device = self._relations.draw, self._device
            if relations.loss == "distmult":
                parts["relations"] = TermRelationTerm(draw, kinds, dim, device)
            else:
                parts["relations"] = TransE(draw, kinds, dim, relations.margin, seed, device)
        if recipe.types.weight:
            types = concept_types(self._kb)
            if int(types.max()) < 1:
                raise Errors.nothing_there(
                    path=self._kb.path,
                    what="two types, which the recipe trains on",
                    remedy="Build it from a source with types, or set weight = 0 in [types].",
                )
            parts["types"] = TypeHead(types, dim, seed, self._device)
        weights = {"relations": recipe.relations.weight, "types": recipe.types.weight}
        return JointObjective(main, parts, weights) if parts else main

    def store(self, directory: Path) -> None:
        """Write the hold-out, and the vectors of the names."""
        self.holdout.save(directory / HOLDOUT)
        self.yardstick.store(directory)

    def _facts(self) -> dict[str, int]:
        translations = len(self.translations)
        counts = {"names": len(self.kb_names), "pairs": len(self.synonyms)}
        counts |= {"translations": translations} if translations else {}
        return {**counts, "held_out": len(self.holdout.rows)}

    def _made_of(self) -> list[str]:
        return [self.holdout.kb, self._bitext]
