"""Encoding of names, with gradients and without."""

import copy
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import torch

from spacy_medlink.assets.vector_store import KnownVectors, take_known
from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.types import Floats2d
from spacy_medlink.util.devices import batch_pieces, sent
from spacy_medlink.util.progress import no_progress, show_progress
from spacy_medlink.util.threads import side_by_side

from ..recipe.settings import TrainingSettings
from .precision import Precision
from .ranks import ALONE, Ranks

Item = TypeVar("Item")
_BATCH_PIECES = 2048
_LANES = 2  # the sum of two gradients is the same in any order, that of more is not
_CHUNK = 32_768  # names whose vectors leave the GPU together
_CHUNK_ON_CPU = 2_048  # nothing to fetch, so progress is shown more often


def encode_batch(
    encoder: BiEncoder,
    pieces: Sequence[Sequence[int]],
    settings: TrainingSettings,
    precision: Precision,
    ranks: Ranks = ALONE,
) -> torch.Tensor:
    """Encode a batch with gradients; each of several ranks encodes its share.

    RETURNS (Tensor): the vectors of all ranks, (n, dim), in the order of `pieces`; gradients flow
        to those of this rank.
    """
    # On a GPU a part takes as long as the whole batch, since starting kernels limits the speed.
    parts = settings.sub_batches if encoder.device.type == "cpu" else 1
    # Dropout draws its random numbers in one order, and gradients of several batches add up in one.
    in_order = encoder.module.training or settings.accumulation > 1
    lanes = 1 if in_order else min(_LANES, torch.get_num_threads())

    def encode(pieces: Sequence[Sequence[int]]) -> torch.Tensor:
        return in_parts(encoder.forward, pieces, list(map(len, pieces)), parts, precision, lanes)

    if ranks.count == 1:
        return encode(pieces)
    shares = ranks.shares([len(row) for row in pieces])
    of_rank = [pieces[index] for index in shares[ranks.rank]]
    vectors = torch.zeros(0, encoder.dim, device=encoder.device)  # of more ranks than names
    if of_rank:
        vectors = encode(of_rank).float()
    return ranks.joined(vectors, shares)


def in_parts(
    forward: Callable[[Sequence[Item]], torch.Tensor],
    items: Sequence[Item],
    lengths: Sequence[int],
    parts: int,
    precision: Precision,
    lanes: int = 1,
) -> torch.Tensor:
    """Run a network on items of a batch, in parts of similar length. RETURNS (n, ...), in order.

    lanes (int): threads that run some of the parts each, forwards and later backwards: torch gains
        little from a second thread within the small operations of a part.
    """
    cut = np.array_split(np.argsort(lengths, kind="stable"), min(parts, len(lengths)))
    lanes = min(lanes, len(cut))
    # Dealt there and back, since each part is longer than the one before.
    turn = 2 * lanes
    dealt = [cut[lane::turn] + cut[turn - 1 - lane :: turn] for lane in range(lanes)]
    made = [torch.empty(0)] * lanes
    each = torch.get_num_threads() // lanes

    def run(lane: int) -> None:
        with precision.autocast():
            made[lane] = torch.cat([forward([items[row] for row in part]) for part in dealt[lane]])

    def run_back(gradient: torch.Tensor) -> None:
        gradients = torch.split(gradient, list(map(len, made)))
        side_by_side(
            lambda lane: torch.autograd.backward(made[lane], gradients[lane]),
            range(lanes), lanes, each,
        )  # fmt: skip

    side_by_side(run, range(lanes), lanes, each)
    joined = torch.cat(made)
    if lanes > 1 and joined.requires_grad:
        joined = joined.detach().requires_grad_()
        joined.register_hook(run_back)  # type: ignore[no-untyped-call]  # torch has no types here
    order = np.concatenate([part for lane in dealt for part in lane])
    return joined[sent(np.argsort(order, kind="stable"), joined.device)]


def encode_names(
    encoder: BiEncoder,
    texts: Sequence[str],
    precision: Precision,
    what: str = "",
    known: Sequence[KnownVectors] = (),
) -> Floats2d:
    """Encode names without gradients, those whose vectors are not known.

    what (str): shows a progress bar named so. RETURNS (Floats2d): (n, dim), rows of length 1.
    """
    vectors, missing = take_known(known, texts, encoder.dim)
    for_inference = _for_inference(encoder, precision)
    order = sorted(missing.tolist(), key=lambda at: len(texts[at]), reverse=True)
    chunk = _CHUNK_ON_CPU if encoder.device.type == "cpu" else _CHUNK
    starts = range(0, len(order), chunk)
    size = max(_BATCH_PIECES, batch_pieces(encoder.device, encoder.dim))
    progress = show_progress if what else no_progress
    for start in progress(starts, len(starts), what):
        part = order[start : start + chunk]  # names of similar length, the longest first
        pieces = encoder.tokenize([texts[at] for at in part])
        vectors[part] = for_inference.run_batches(for_inference.module, pieces, size)
    return vectors


def _for_inference(encoder: BiEncoder, precision: Precision) -> BiEncoder:
    """Copy an encoder with weights in the fastest number format, as linking does."""
    module = copy.deepcopy(encoder.module)
    if precision.name != "fp32":
        module = module.bfloat16()
    return encoder.over(module)
