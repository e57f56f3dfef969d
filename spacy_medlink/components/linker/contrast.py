"""The loss that `spacy train` lowers: a mention against names, as numbers and gradients."""

import numpy as np
from numpy.typing import NDArray

from ...types import Floats2d

TEMPERATURE = 0.05


def contrast(
    mentions: Floats2d,
    names: Floats2d,
    right: NDArray[np.bool_],
    ignored: NDArray[np.bool_],
    temperature: float = TEMPERATURE,
) -> tuple[float, Floats2d, Floats2d]:
    """Compute -log of the probability that the right names of each mention have together.

        loss = -mean log(sum over right names exp(s / t) / sum over names exp(s / t))

    with s the cosine (Sung et al. 2020, "Biomedical entity representations with synonym
    marginalization", equation 5, over all names of the batch).

    mentions (Floats2d): (n, dim), names (Floats2d): (m, dim), rows of length 1.
    right (NDArray[bool]): (n, m), which names are synonyms. ignored (NDArray[bool]): (n, m), which
    count neither for nor against. A mention without a right name teaches nothing.
    RETURNS (Tuple[float, Floats2d, Floats2d]): the loss, and its gradients by mentions and names.
    """
    own = right & ~ignored
    learning = np.atleast_1d(own.any(axis=1))
    count = int(learning.sum())
    if not count:
        return 0.0, np.zeros_like(mentions), np.zeros_like(names)
    scores = np.where(ignored, -np.inf, (mentions @ names.T).astype(np.float64) / temperature)
    scores[~learning] = 0.0
    every = _softmax(scores)
    likely = _softmax(np.where(own | ~learning[:, np.newaxis], scores, -np.inf))
    part = np.where(own, every, 0.0).sum(axis=1)[learning]
    loss = -float(np.log(np.maximum(part, 1e-300)).mean())
    slope = (every - likely) / (temperature * count)
    slope[~learning] = 0.0
    gradient: Floats2d = slope.astype(np.float32)
    by_names: Floats2d = gradient.T @ mentions
    return loss, gradient @ names, by_names


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    total: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return total
