"""Means and their uncertainty: rounding, standard errors, bootstrap intervals over documents."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

DIGITS = 6  # of the fractions in metrics
SAMPLES = 1000
SEED = 0
TAILS = (2.5, 97.5)  # per cent
_CELLS = 4_000_000  # of the table of draws that are converted to floats at a time

Floats = NDArray[np.float64]


class Bootstrap:
    """Samples of documents, drawn once and used for all figures.

    Mentions of one document repeat each other, so the samples are drawn with replacement from
    documents, not mentions (cluster bootstrap; Davison and Hinkley, Bootstrap Methods, 1997, 3.8).

    docs (Sequence[str]): the document of every mention, (n,).
    samples (int): number of samples, each with as many documents as the file. seed (int): of the
        draws.
    """

    def __init__(self, docs: Sequence[str], samples: int = SAMPLES, seed: int = SEED) -> None:
        numbers: dict[str, int] = {}
        places = (numbers.setdefault(doc, len(numbers)) for doc in docs)
        self.place = np.fromiter(places, np.int64, len(docs))
        self.n_docs = len(numbers)
        self._draws = _draw(self.n_docs, samples, seed)

    def totals(self, values: Floats) -> Floats:
        """Sum values over the documents of each sample.

        values (Floats): (n, m), one row a mention.
        RETURNS (Floats): (samples, m).
        """
        by_doc = np.zeros((self.n_docs, values.shape[1]))
        np.add.at(by_doc, self.place, values)
        return self.doc_totals(by_doc)

    def doc_totals(self, by_doc: Floats) -> Floats:
        """Sum the values of documents over each sample: (n_docs, m) gives (samples, m)."""
        step = max(1, _CELLS // max(1, self.n_docs))
        starts = range(0, len(self._draws), step)
        parts = [self._draws[start : start + step].astype(np.float64) @ by_doc for start in starts]
        return np.concatenate(parts)

    def intervals(self, values: Floats, kept: NDArray[np.bool_]) -> list[list[float] | None]:
        """Estimate the 95 % intervals of the means of some mentions (percentile bootstrap).

        values (Floats): (n, m). kept (NDArray): which mentions, (n,).
        RETURNS (List[Optional[List[float]]]): m times [low, high]; None where nothing is kept.
        """
        if not kept.any():
            return [None] * values.shape[1]
        weighted = np.column_stack([values * kept[:, None], kept])
        totals = self.totals(weighted)
        drawn = totals[:, -1] > 0  # a sample may miss every document of a small group
        means = totals[drawn, :-1] / totals[drawn, -1:]
        return [interval_of(column) for column in means.T]


def interval_of(values: Floats) -> list[float] | None:
    """Compute the middle 95 % of a figure's values over the samples; None without any."""
    if not len(values):
        return None
    return [round(float(value), DIGITS) for value in np.percentile(values, TAILS)]


def interval_over(
    bootstrap: Bootstrap, by_doc: Floats, figure: Callable[[Floats], Floats]
) -> list[float] | None:
    """Estimate the interval of a figure that needs sums over documents, such as F1.

    by_doc (Floats): (n_docs, m). figure (Callable): takes sums (samples, m), gives (samples,); NaN
        where it is undefined.
    """
    values = figure(bootstrap.doc_totals(by_doc))
    return interval_of(values[~np.isnan(values)])


def _draw(n_docs: int, samples: int, seed: int) -> NDArray[np.uint8]:
    """Count how often each sample holds each document: (samples, n_docs)."""
    random = np.random.default_rng(seed)
    draws = np.zeros((samples, n_docs), dtype=np.uint8)
    if n_docs:
        for row in draws:
            counts = np.bincount(random.integers(0, n_docs, n_docs), minlength=n_docs)
            row[:] = np.minimum(counts, 255)
    return draws


def reciprocal(ranks: ArrayLike) -> Floats:
    """Compute 1 / rank of each query, 0 for rank 0 (no right answer): (n,).

    Their mean is the mean reciprocal rank (MRR).
    """
    values = np.asarray(ranks, np.float64)
    return np.divide(1.0, values, out=np.zeros(values.shape), where=values > 0)


def rank_figures(ranks: Floats, depths: Sequence[int], digits: int = 4) -> dict[str, float]:
    """Compute "acc@k", the share of mentions with a right concept among the first k, and "mrr".

    ranks (Floats): of `reciprocal`, (n,).
    """
    figures = {f"acc@{k}": float((ranks >= 1 / k).mean()) for k in depths}
    return {
        name: round(figure, digits)
        for name, figure in {**figures, "mrr": float(ranks.mean())}.items()
    }


def rounded(value: float | None) -> float | None:
    """Round a fraction; None for an undefined one."""
    return None if value is None else round(float(value), DIGITS)


def fraction(part: float, whole: float) -> float | None:
    """Divide and round; None if `whole` is 0."""
    return rounded(part / whole) if whole else None


def standard_error(values: NDArray[np.float64], groups: Sequence[str]) -> float:
    """Estimate the standard error of a mean; values of the same group are not independent.

    The result is never less than the error of independent values, since few groups vary by chance.
    """
    if not len(values):
        return 0.0
    _, cluster = np.unique(np.asarray(groups), return_inverse=True)
    sums = np.bincount(cluster, weights=values - values.mean())
    alone = float(values.std() / np.sqrt(len(values)))
    return max(alone, float(np.sqrt((sums**2).sum()) / len(values)))
