"""The backward pass of a batch, on all ranks."""

from collections.abc import Callable, Sequence

import torch

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.types import Ints1d

from ..recipe.settings import TrainingSettings
from .encoding import encode_sorted
from .precision import Precision
from .ranks import ALONE, Ranks

LossOf = Callable[[torch.Tensor], torch.Tensor]
Pieces = Sequence[Sequence[int]]


def backward(
    encoder: BiEncoder,
    pieces: Pieces,
    loss_of: LossOf,
    settings: TrainingSettings,
    precision: Precision,
    ranks: Ranks = ALONE,
) -> torch.Tensor:
    """Add the gradients of a batch's loss to the encoder's parameters.

    With several ranks, each rank adds the gradients of its share; their sum is the gradient.

    pieces (Sequence[Sequence[int]]): the names of the batch, as word pieces.
    loss_of (Callable): the loss of all vectors, (n, dim) to scalar.
    RETURNS (Tensor): the loss of the whole batch, on every rank; it stays on the device, so that
        nothing waits for it.
    """
    whole, of_rank = loss_of, pieces
    if ranks.count > 1:
        shares = ranks.shares([len(row) for row in pieces])
        of_rank = [pieces[index] for index in shares[ranks.rank]]
        whole = _joint(loss_of, ranks, shares)
    if not of_rank:  # more ranks than names
        return pulled(whole(torch.zeros(0, encoder.dim, device=encoder.device)), precision)
    # On a GPU a part takes as long as the whole batch, since starting kernels limits the speed.
    parts = settings.sub_batches if encoder.device.type == "cpu" else 1
    return pulled(whole(encode_sorted(encoder, of_rank, parts, precision)), precision)


def _joint(loss_of: LossOf, ranks: Ranks, shares: Sequence[Ints1d]) -> LossOf:
    def joint(vectors: torch.Tensor) -> torch.Tensor:
        return loss_of(ranks.joined(vectors.float(), shares))

    return joint


def pulled(loss: torch.Tensor, precision: Precision) -> torch.Tensor:
    """Compute the gradients of a loss. RETURNS its value."""
    if loss.requires_grad:
        torch.autograd.backward(precision.scaler.scale(loss))
    return loss.detach()
