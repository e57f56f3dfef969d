"""TeacherObjective: a student learns the vectors and the similarities of its teacher."""

import torch
from torch.nn.functional import kl_div, log_softmax

from spacy_medlink.encoders.objectives.protocol import Batch, Stateless
from spacy_medlink.types import Floats2d
from spacy_medlink.util.devices import sent

_NEVER = -1e4  # the score of a text with itself: a probability of 0, and a finite logarithm


class TeacherObjective(Stateless):
    """Two losses over a batch: 1 - cosine with the teacher's vector, and the teacher's ranking.

    The ranking follows RKD and Hinton et al. 2015 ("Distilling the knowledge in a neural network",
    section 2): for each text, the softmax over its similarities with the other texts of the batch
    should equal the teacher's (Kullback-Leibler divergence).

    vectors (Floats2d): the teacher's vectors of all texts, (n, dim), rows of length 1.
    vector_weight, ranking_weight (float): of the two. temperature (float): of the softmax.
    """

    def __init__(
        self,
        vectors: Floats2d,
        device: torch.device,
        vector_weight: float,
        ranking_weight: float,
        temperature: float,
    ) -> None:
        self._vectors = sent(vectors, device)
        self._weights = vector_weight, ranking_weight
        self._temperature = temperature

    def __call__(self, vectors: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, int]:
        """Compute the loss of vectors, (n, dim), and count the texts."""
        student, teacher = vectors.float(), self._vectors[batch.names]
        of_vectors, of_ranking = self._weights
        loss = of_vectors * (1 - (student * teacher).sum(dim=1)).mean()
        if of_ranking and len(student) > 1:
            loss = loss + of_ranking * kl_div(
                self._ranking(student),
                self._ranking(teacher),
                reduction="batchmean",
                log_target=True,
            )
        return loss, len(student)

    def _ranking(self, vectors: torch.Tensor) -> torch.Tensor:
        """Compute the logarithm of each text's softmax over the other texts: (n, n)."""
        scores = (vectors @ vectors.T / self._temperature).fill_diagonal_(_NEVER)
        return log_softmax(scores, dim=1)
