"""ListTask: a cross-encoder learns from the candidates of mentions."""

from collections.abc import Callable, Sequence

import torch

from spacy_medlink.encoders.cross_encoder import CrossEncoder
from spacy_medlink.encoders.objectives.lists import LOSSES
from spacy_medlink.encoders.objectives.protocol import Stateless
from spacy_medlink.encoders.pairs import Pair
from spacy_medlink.linking.reranking import CandidateTexts

from ..data.sampler import Shuffle
from ..loop.encoding import in_parts
from ..loop.precision import Precision, backward
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

    def __init__(
        self,
        encoder: CrossEncoder,
        recipe: Recipe,
        lists: Sequence[RankedList],
        texts: CandidateTexts,
        validate: Callable[[], dict[str, float]],
        made_with: str,
    ) -> None:
        loss, reads = LOSSES[recipe.objective.loss], recipe.reranking
        near = [ranked.near(reads.min_cosine) for ranked in lists]
        self.lists = [
            part
            for ranked in near
            if loss.teaches(ranked.right)
            for part in (ranked.apart() if reads.pairs else (ranked,))
        ]
        self.module, self.objective, self.made_with = encoder.module, Stateless(), made_with
        self._shuffle = Shuffle(len(self.lists), reads.batch, recipe.training.seed)
        self.steps_per_epoch = self._shuffle.steps_per_epoch
        self._encoder, self._texts, self._validate = encoder, texts, validate
        self._loss, self._parts = loss.compute, recipe.training.sub_batches
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
        pieces = self._encoder.tokenize(pairs)
        lengths = [len(pair.ids) for pair in pieces]
        logits = in_parts(self._encoder.forward, pieces, lengths, self._parts, precision)
        right = [ranked.right for ranked in batch]
        loss = self._loss(logits.float(), right) * weight
        return Pulled(backward(loss), sum(int(ranked.sum()) for ranked in right), len(pairs))

    def describe(self, batch_number: int) -> str:
        """Name the first mentions of a batch."""
        texts = [repr(ranked.mention.text) for ranked in self._batch(batch_number)[:5]]
        return f"the mentions {', '.join(texts)} ..."

    def validate(self) -> dict[str, float]:
        """Measure the encoder on dev, with the weights as they are now."""
        self._encoder.refresh()
        return self._validate()

    def _batch(self, batch_number: int) -> list[RankedList]:
        return [self.lists[row] for row in self._shuffle.part(batch_number)]
