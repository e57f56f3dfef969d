"""ListTask: a cross-encoder learns from the candidates of mentions."""

from collections.abc import Callable, Sequence

import torch

from spacy_medlink.encoders.cross_encoder import CrossEncoder
from spacy_medlink.encoders.objectives.lists import LOSSES
from spacy_medlink.encoders.objectives.protocol import Stateless
from spacy_medlink.encoders.pairs import Pair
from spacy_medlink.linking.reranking import CandidateTexts

from ..data.sampler import Shuffle
from ..loop.precision import Precision
from ..loop.ranks import Ranks
from ..loop.task import Pulled, Task
from ..recipe.settings import Recipe
from .lists import RankedList


class ListTask(Task):
    """A cross-encoder, the lists that it learns from, and the loss.

    lists (Sequence[RankedList]): those without both a right and a wrong candidate teach nothing
        and are left out, unless "none of them" is a class.
    validate (Callable): figures of the encoder on dev. made_with (str): see `Task`.
    """

    measured_first = True

    def __init__(
        self,
        encoder: CrossEncoder,
        recipe: Recipe,
        lists: Sequence[RankedList],
        texts: CandidateTexts,
        validate: Callable[[], dict[str, float]],
        made_with: str,
    ) -> None:
        loss = LOSSES[recipe.objective.loss]
        self.lists = [ranked for ranked in lists if loss.teaches(ranked.right)]
        self.module, self.objective, self.made_with = encoder.module, Stateless(), made_with
        self._shuffle = Shuffle(len(self.lists), recipe.reranking.batch, recipe.training.seed)
        self.steps_per_epoch = self._shuffle.steps_per_epoch
        self._encoder, self._texts, self._validate = encoder, texts, validate
        self._loss = loss.compute
        pooler = getattr(encoder.module.transformer, "pooler", None)
        if pooler is not None:  # not used by our pooling
            pooler.requires_grad_(False)

    def head(self) -> list[torch.nn.Parameter]:
        """List the weights of the head, which the encoder did not have."""
        return list(self._encoder.module.head.parameters())

    def pull(self, batch_number: int, weight: float, precision: Precision, ranks: Ranks) -> Pulled:
        """Add the gradients of a batch's loss, times a weight; one rank has the whole batch."""
        batch = self._batch(batch_number)
        pairs = [
            Pair(ranked.mention, self._texts.of(candidate))
            for ranked in batch
            for candidate in ranked.candidates
        ]
        with precision.autocast():
            logits = self._encoder.forward(self._encoder.tokenize(pairs))
        right = [ranked.right for ranked in batch]
        loss = self._loss(logits.float(), right) * weight
        return Pulled(
            precision.backward(loss), sum(int(ranked.sum()) for ranked in right), len(pairs)
        )

    def describe(self, batch_number: int) -> str:
        """Say how many mentions are in a batch."""
        return f"{len(self._batch(batch_number))} mentions"

    def validate(self) -> dict[str, float]:
        """Measure the encoder on dev, with the weights as they are now."""
        self._encoder.refresh()
        return self._validate()

    def _batch(self, batch_number: int) -> list[RankedList]:
        return [self.lists[row] for row in self._shuffle.part(batch_number)]
