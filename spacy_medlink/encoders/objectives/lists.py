"""Losses over the candidates of mentions; each takes logits (n,) of all candidates of a batch."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

from ...types import Array
from ...util.devices import sent

Flags = Sequence[Array]
Loss = Callable[[torch.Tensor, Flags], torch.Tensor]
_MARGIN = 1.0


def listwise(logits: torch.Tensor, right: Flags, nil: bool = False) -> torch.Tensor:
    """Softmax over the candidates of each mention: -log of the right candidates' probability.

    right (Sequence): for each mention, which of its candidates are right.
    nil (bool): "none of them" is one more class, with a logit of 0.
    """
    losses = []
    for scores, flags in _parts(logits, right):
        if nil:
            scores = torch.cat([scores, scores.new_zeros(1)])
            flags = torch.cat([flags, (~flags.any()).reshape(1)])
        losses.append(scores.logsumexp(0) - scores[flags].logsumexp(0))
    return torch.stack(losses).mean()


def listwise_nil(logits: torch.Tensor, right: Flags) -> torch.Tensor:
    """Softmax with a class for "none of them"."""
    return listwise(logits, right, nil=True)


def binary(logits: torch.Tensor, right: Flags) -> torch.Tensor:
    """Binary cross-entropy of each candidate, right or wrong; all mentions weigh the same."""
    losses = [
        torch.nn.functional.binary_cross_entropy_with_logits(scores, flags.float())
        for scores, flags in _parts(logits, right)
    ]
    return torch.stack(losses).mean()


def triplet(logits: torch.Tensor, right: Flags) -> torch.Tensor:
    """A right candidate should score more than each wrong one by a margin (ClinLinker)."""
    losses = []
    for scores, flags in _parts(logits, right):
        differences = scores[flags][:, None] - scores[~flags][None, :]
        losses.append(torch.relu(_MARGIN - differences).sum() / max(1, differences.numel()))
    return torch.stack(losses).mean()


class ListLoss(NamedTuple):
    """A loss over lists of candidates.

    compute (Callable): the loss of logits. activation (str): from these logits to 0..1.
    nil (bool): whether lists without a right candidate teach something, too.
    """

    compute: Loss
    activation: str
    nil: bool = False

    def teaches(self, right: Array) -> bool:
        """Tell whether a list of candidates teaches something. right: which are right, (n,)."""
        both = bool(right.any() and not right.all())
        return both or (self.nil and len(right) > 0)


LOSSES: dict[str, ListLoss] = {
    "listwise": ListLoss(listwise, "softmax"),
    "listwise_nil": ListLoss(listwise_nil, "softmax_nil", nil=True),
    "binary": ListLoss(binary, "sigmoid", nil=True),
    "triplet": ListLoss(triplet, "softmax"),
}


def _parts(logits: torch.Tensor, right: Flags) -> list[tuple[torch.Tensor, torch.Tensor]]:
    parts = torch.split(logits, [len(flags_of) for flags_of in right])
    flags = [sent(flags_of, logits.device) for flags_of in right]
    return list(zip(parts, flags, strict=True))
