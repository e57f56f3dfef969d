"""The backward pass of one batch: in one go, or in parts with cached gradients."""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from spacy_medlink.encoders.bi_encoder import BiEncoder

from ..recipe.settings import TrainingSettings
from .encoding import encode_sorted, sorted_parts
from .precision import Precision

LossOf = Callable[[torch.Tensor], torch.Tensor]
Pieces = Sequence[Sequence[int]]


def backward(
    encoder: BiEncoder,
    pieces: Pieces,
    loss_of: LossOf,
    settings: TrainingSettings,
    precision: Precision,
) -> float:
    """Add the gradients of a batch's loss to the encoder's parameters.

    pieces (Sequence[Sequence[int]]): the names of the batch, as word pieces.
    loss_of (Callable): the loss of all their vectors, (n, dim) to scalar.
    RETURNS (float): the loss.
    """
    if settings.cached_gradients:
        return _cached(encoder, pieces, loss_of, settings.sub_batches, precision)
    loss = loss_of(encode_sorted(encoder, pieces, settings.sub_batches, precision))
    _scaled(loss, precision).backward()  # type: ignore[no-untyped-call]
    return float(loss.detach())


def _cached(
    encoder: BiEncoder, pieces: Pieces, loss_of: LossOf, parts: int, precision: Precision
) -> float:
    """Encode twice, so that memory holds the activations of one part at a time.

    Gao et al. 2021, "Scaling deep contrastive learning batch size under memory limited setup",
    section 3.2: first all vectors without a graph and the loss's gradient for each of them, then
    part by part with a graph, fed with those gradients. Same gradients, one more forward pass.
    """
    with torch.no_grad():
        vectors = encode_sorted(encoder, pieces, parts, precision)
    vectors.requires_grad_()
    loss = loss_of(vectors)
    _scaled(loss, precision).backward()  # type: ignore[no-untyped-call]
    assert vectors.grad is not None
    for part in sorted_parts(pieces, parts):
        with precision.autocast():
            own = encoder.forward([pieces[index] for index in part])
        own.backward(vectors.grad[torch.from_numpy(np.asarray(part))])  # type: ignore[no-untyped-call]
    return float(loss.detach())


def _scaled(loss: torch.Tensor, precision: Precision) -> torch.Tensor:
    scaled: torch.Tensor = precision.scaler.scale(loss)
    return scaled
