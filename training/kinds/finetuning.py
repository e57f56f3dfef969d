"""Finetuning: training on annotated mentions; a dev file chooses the weights."""

from functools import cached_property
from pathlib import Path

import torch

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.encoders.objectives.protocol import Objective
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.types import Array, Floats2d, Ints1d
from spacy_medlink.util.files import sha256_of

from ..choosing.selection import Selection
from ..choosing.yardstick import Yardstick
from ..data.candidates import Candidates
from ..data.holdout import kb_identity
from ..data.mention_sampler import NearNames, by_frequency, mention_pairs
from ..data.mentions import NamesAndMentions, join, read_mentions
from ..data.names import TrainingNames, read_names
from ..data.sampler import AddingSampler, Sampler, ShuffledSampler, with_synonym
from ..loop.encoding import encode_names
from ..loop.ranks import ALONE, Ranks
from ..objectives.marginal import MarginalObjective
from ..objectives.mention_memory import MentionMemoryObjective
from ..objectives.registered import choice_of
from ..recipe.settings import Recipe
from .encoder_training import EncoderTraining, Say, silent


class Finetuning(EncoderTraining):
    """A training on the mentions of a gold file and the names of a knowledge base.

    The loss compares a mention with all names ("all_names"), with the candidates that two searches
    propose ("marginal"), or with the names of the batch (the losses of SAP).

    train, dev (Path): gold files; the mentions of `dev` choose the weights.
    RAISES (MedlinkError): E1xx, E4xx for the files, E407 no mention to train on, E508.
    """

    def __init__(
        self,
        recipe: Recipe,
        kb: KnowledgeBase,
        base: BiEncoder,
        train: Path,
        dev: Path,
        device: str | torch.device = "cpu",
        say: Say = silent,
        ranks: Ranks = ALONE,
    ) -> None:
        super().__init__(recipe, base, device, say, ranks)
        self._kb, self._train, self._dev = kb, train, dev
        self._fused: MarginalObjective | None = None
        occurrences = recipe.mentions.occurrences
        self.mentions = read_mentions(train, kb, occurrences)
        self._kb_names: TrainingNames = read_names(kb, how=recipe.data)
        self.names: NamesAndMentions = join(self._kb_names, self.mentions, occurrences != "root")

    @cached_property
    def yardstick(self) -> Yardstick:
        """The yardstick on the dev file; made at first use, which encodes all names."""
        return Yardstick.of_gold(
            self._base, self._kb_names, self._dev, self._kb, frozenset(self.mentions.texts),
            self._recipe.selection.shortlist, self._precision,
        )  # fmt: skip

    @cached_property
    def _candidates(self) -> Candidates:
        settings = self._loss_settings()
        count, ratio = int(settings["candidates"]), settings["dense_ratio"]
        return Candidates(self.names, self._encode, count, ratio)

    @cached_property
    def _memory(self) -> MentionMemoryObjective:
        memory: MentionMemoryObjective = choice_of(self._recipe).make(
            self.names, self.yardstick.vectors, self._device, self._encode, **self._loss_settings()
        )
        return memory

    def _loss_settings(self) -> dict[str, float]:
        return {**choice_of(self._recipe).settings, **self._recipe.objective.loss_settings}

    def _sampler(self) -> Sampler:
        settings, seed = self._recipe.mentions, self._recipe.training.seed
        needs = choice_of(self._recipe).needs
        items: Array = by_frequency(self.names, self.mentions.counts)
        if needs == "pairs":
            items = mention_pairs(self.names, self._recipe.data.pairs_per_concept, seed)
        sampler: Sampler = ShuffledSampler(items, settings.batch, seed)
        if needs == "candidates":
            candidates, steps = self._candidates, sampler.steps_per_epoch
            return AddingSampler(sampler, lambda step, batch: candidates.at(step // steps, batch))
        if needs == "memory" and settings.near:
            near = NearNames(self.names, self._memory.nearest_wrong, settings.near, seed)
            sampler = AddingSampler(sampler, near)
        if not settings.names:
            return sampler
        beside = ShuffledSampler(with_synonym(self.names), settings.names, seed)
        return AddingSampler(sampler, lambda step, _: beside.batch(step))

    def _objective(self) -> Objective:
        needs, settings = choice_of(self._recipe).needs, self._loss_settings()
        if needs == "pairs":
            return self._recipe.objective.in_batch().make()
        if needs == "memory":
            return self._memory
        taken = {name: settings[name] for name in ("temperature", "sparse_weight")}
        self._fused = MarginalObjective(self.names, self._candidates, self._device, **taken)
        return self._fused

    def _ship(self, selection: Selection) -> BiEncoder:
        """Give the encoder the learned weight of the spelling score."""
        encoder = super()._ship(selection)
        if selection.part and self._fused is not None:
            encoder.sparse_weight = self._fused.sparse_weight
        return encoder

    def _encode(self, wanted: Ints1d) -> Floats2d:
        return encode_names(self._encoder, self.names.texts_at(wanted), self._precision)

    def _made_of(self) -> list[str]:
        return [kb_identity(self._kb), sha256_of(self._train)]

    def _facts(self) -> dict[str, int]:
        taught = int(self.names.is_mention.sum())
        return {
            "names": len(self._kb_names),
            "mentions": int(self.mentions.counts.sum()),
            "distinct_mentions": len(set(self.mentions.texts)),
            "mentions_to_learn": taught,
            **{f"left_out_{why.replace(' ', '_')}": n for why, n in self.mentions.left_out.items()},
        }
