"""The backward pass of a batch: at once, or in parts with cached gradients, on all ranks."""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.types import Ints1d
from spacy_medlink.util.devices import sent

from ..recipe.settings import TrainingSettings
from .encoding import encode_sorted, sorted_parts
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
    whole, own = loss_of, pieces
    if ranks.count > 1:
        shares = ranks.shares([len(row) for row in pieces])
        own = [pieces[index] for index in shares[ranks.rank]]
        whole = _joint(loss_of, ranks, shares)
    if not own:  # more ranks than names
        return pulled(whole(torch.zeros(0, encoder.dim, device=encoder.device)), precision)
    if settings.cached_gradients:
        return _cached(encoder, own, whole, settings.sub_batches, precision)
    # On a GPU a part takes as long as the whole batch, since starting kernels limits the speed.
    parts = settings.sub_batches if encoder.device.type == "cpu" else 1
    return pulled(whole(encode_sorted(encoder, own, parts, precision)), precision)


def _joint(loss_of: LossOf, ranks: Ranks, shares: Sequence[Ints1d]) -> LossOf:
    def joint(vectors: torch.Tensor) -> torch.Tensor:
        return loss_of(ranks.joined(vectors.float(), shares))

    return joint


def _cached(
    encoder: BiEncoder, pieces: Pieces, loss_of: LossOf, parts: int, precision: Precision
) -> torch.Tensor:
    """Encode twice, so that memory holds only the activations of one part.

    Gao et al. 2021, "Scaling deep contrastive learning batch size under memory limited setup",
    section 3.2. First, all vectors are computed without a graph, with the loss's gradient for each
    of them; then each part with a graph gets these gradients. Both passes drop the same numbers.
    The result is the same, at the cost of one more forward pass.
    """
    generators = _generators(encoder.device)
    states = [generator.get_state() for generator in generators]
    with torch.no_grad():
        vectors = encode_sorted(encoder, pieces, parts, precision)
    vectors.requires_grad_()
    loss = pulled(loss_of(vectors), precision)
    if vectors.grad is None:  # the loss does not depend on the vectors
        return loss
    after = [generator.get_state() for generator in generators]
    _set_states(generators, states)
    for part in sorted_parts(pieces, parts):
        with precision.autocast():
            own = encoder.forward([pieces[index] for index in part])
        torch.autograd.backward(own, vectors.grad[sent(np.asarray(part), own.device)])
    _set_states(generators, after)  # the loss, too, may have drawn
    return loss


def _generators(device: torch.device) -> list[torch.Generator]:
    """List what dropout draws from: the processor's generator, and that of a GPU."""
    if device.type != "cuda":
        return [torch.default_generator]
    return [torch.default_generator, torch.cuda.default_generators[device.index or 0]]


def _set_states(generators: list[torch.Generator], states: list[torch.Tensor]) -> None:
    for generator, state in zip(generators, states, strict=True):
        generator.set_state(state)


def pulled(loss: torch.Tensor, precision: Precision) -> torch.Tensor:
    """Compute the gradients of a loss. RETURNS its value."""
    if loss.requires_grad:
        torch.autograd.backward(precision.scaler.scale(loss))
    return loss.detach()
