"""Miners: choose the pairs or triplets of a batch that a loss uses."""

from collections.abc import Callable

import torch
from pytorch_metric_learning.utils.loss_and_miner_utils import get_random_triplet_indices

Indices = tuple[torch.Tensor, ...]
"""Pairs (anchor, positive, anchor, negative) or triplets (anchor, positive, negative)."""
Miner = Callable[[torch.Tensor, torch.Tensor], Indices]
"""From vectors, (n, dim), and labels, (n,), to pairs or triplets."""


class HardPairMiner:
    """The pairs of all triplets with d(a, p) + margin >= d(a, n), without listing the triplets.

    A positive pair is in such a triplet if the anchor's nearest negative is near enough; a negative
    pair, if the anchor's farthest positive is far enough. Equal, as a set of pairs, to PML's
    `TripletMarginMiner(margin, "all")`, in O(n^2) for n names.
    """

    def __init__(self, margin: float) -> None:
        self.margin = margin

    def __call__(self, vectors: torch.Tensor, labels: torch.Tensor) -> Indices:
        """Mine. vectors (Tensor): (n, dim). labels (Tensor): (n,). RETURNS: pairs (a, p, a, n)."""
        with torch.no_grad():
            unit = torch.nn.functional.normalize(vectors.float(), dim=1)
            distance = torch.cdist(unit, unit)
            same = labels[:, None] == labels
            positive = same & ~torch.eye(len(labels), dtype=torch.bool, device=labels.device)
            farthest = distance.masked_fill(~positive, -torch.inf).amax(dim=1, keepdim=True)
            nearest = distance.masked_fill(same, torch.inf).amin(dim=1, keepdim=True)
            keep_positive = positive & (nearest - distance <= self.margin)
            keep_negative = ~same & (distance - farthest <= self.margin)
        return (*torch.where(keep_positive), *torch.where(keep_negative))


def random_triplets(negatives: float) -> Miner:
    """Make a miner of so many triplets for each anchor, with a random positive and negative."""
    return lambda vectors, labels: get_random_triplet_indices(labels, t_per_anchor=int(negatives))


def without_twins(mined: Indices, strings: torch.Tensor) -> Indices:
    """Leave out negatives that are the anchor's own string.

    strings (Tensor): of all names, (n,).
    """
    anchors, negatives = mined[-3 if len(mined) == 3 else 2], mined[-1]
    keep = strings[anchors] != strings[negatives]
    if len(mined) == 3:
        return tuple(part[keep] for part in mined)
    return (mined[0], mined[1], anchors[keep], negatives[keep])
