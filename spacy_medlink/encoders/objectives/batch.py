"""Objectives of a batch: a miner picks pairs, a loss weighs them, both by name from PML.

Defaults are those of the papers (SapBERT, appendix B.2 and table 9) where they give any.
"""

from collections.abc import Callable

import torch
from pytorch_metric_learning import distances, losses, miners
from pytorch_metric_learning.utils import loss_and_miner_utils as tuples

from .mining import HardPairMiner, Indices, Miner, random_triplets, without_twins
from .protocol import Batch, Choice, Stateless

Loss = Callable[[torch.Tensor, torch.Tensor, Indices], torch.Tensor]


def _contrastive(pos_margin: float, neg_margin: float) -> Loss:
    similarity = distances.CosineSimilarity()
    loss: Loss = losses.ContrastiveLoss(pos_margin, neg_margin, distance=similarity)
    return loss


MINERS: dict[str, Choice] = {
    "none": Choice(lambda: None, {}),
    # SapBERT, equation 1.
    "hard_pairs": Choice(HardPairMiner, {"margin": 0.2}),
    # CODER, section 3.2: relative to the hardest opposite pair.
    "multi_similarity": Choice(miners.MultiSimilarityMiner, {"epsilon": 0.1}),
    # ClinLinker, section 3.2: five random negatives for each positive.
    "random": Choice(random_triplets, {"negatives": 5}),
}

LOSSES: dict[str, Choice] = {
    # alpha weighs positives and beta negatives, which equation 2 of the paper prints the other
    # way round; the values are those of its table 9 (the released code had 1, 60, 0.5).
    "multi_similarity": Choice(
        losses.MultiSimilarityLoss, {"alpha": 2.0, "beta": 50.0, "base": 0.5}
    ),
    "cosine": Choice(_contrastive, {"pos_margin": 1.0, "neg_margin": 0.0}),
    "triplet_margin": Choice(losses.TripletMarginLoss, {"margin": 0.2}),
    "nca": Choice(losses.NCALoss, {"softmax_scale": 20.0}),
    "lifted_structure": Choice(losses.LiftedStructureLoss, {"neg_margin": 0.5, "pos_margin": 0.0}),
    "info_nce": Choice(losses.NTXentLoss, {"temperature": 0.07}),
    "circle": Choice(losses.CircleLoss, {"m": 0.25, "gamma": 256.0}),
}


class BatchObjective(Stateless):
    """A miner and a loss over the names of one batch (SapBERT, section 2.2).

    Names that are the same string in two concepts are never pushed apart.
    """

    def __init__(self, miner: Miner | None, loss: Loss) -> None:
        self._miner, self._loss = miner, loss

    def __call__(self, vectors: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, int]:
        """Compute the loss of vectors, (n, dim), and count the pairs or triplets mined."""
        mined: Indices = (
            tuples.get_all_pairs_indices(batch.labels)
            if self._miner is None
            else self._miner(vectors, batch.labels)
        )
        mined = without_twins(mined, batch.strings)
        loss = self._loss(vectors, batch.labels, mined)
        return loss, len(mined[0]) + (len(mined[2]) if len(mined) == 4 else 0)
