"""Means and their uncertainty: errors, intervals, tests of differences, and of probabilities."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

DIGITS = 6  # of the fractions in metrics
SAMPLES = 1000
SEED = 0
TAILS = (2.5, 97.5)  # per cent
BINS = 10  # of probabilities
_EXCHANGES = 10_000
_CELLS = 4_000_000  # signs in memory at a time

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Bootstrap:
    """Samples of documents, drawn once and used for all figures.

    Mentions of one document repeat each other, so the samples are drawn with replacement from
    documents, not mentions (cluster bootstrap; Davison and Hinkley, Bootstrap Methods, 1997, 3.8).

    docs (Sequence[str]): the document of every mention, (n,).
    samples (int): number of samples, each with as many documents as the file. seed (int): of the
        draws.
    """

    def __init__(self, docs: Sequence[str], samples: int = SAMPLES, seed: int = SEED) -> None:
        numbers = {doc: number for number, doc in enumerate(dict.fromkeys(docs))}
        self._place = np.fromiter(map(numbers.__getitem__, docs), np.int64, len(docs))
        self._n_docs = n = len(numbers)
        random = np.random.default_rng(seed)
        # How often each sample has each document: (samples, n_docs).
        samples_of = (random.integers(0, n, n) for _ in range(samples))
        self._draws = np.array(
            [np.bincount(drawn, minlength=n).astype(np.uint8) for drawn in samples_of]
        )

    def by_doc(self, values: Floats) -> Floats:
        """Sum values over the mentions of each document: (n, m) gives (n_docs, m)."""
        sums = np.zeros((self._n_docs, values.shape[1]))
        np.add.at(sums, self._place, values)
        return sums

    def totals(self, values: Floats) -> Floats:
        """Sum values of mentions over the documents of each sample: (n, m) gives (samples, m)."""
        by_doc = self.by_doc(values)
        return np.stack([draw @ by_doc for draw in self._draws])

    def intervals(self, values: Floats, kept: NDArray[np.bool_]) -> list[list[float] | None]:
        """Estimate the 95 % intervals of the means of some mentions (percentile bootstrap).

        values (Floats): (n, m). kept (NDArray): which mentions, (n,).
        RETURNS (List[Optional[List[float]]]): m times [low, high]; None where nothing is kept.
        """
        totals = self.totals(np.column_stack([values * kept[:, None], kept]))
        with np.errstate(invalid="ignore"):  # a sample may miss every document of a small group
            means = totals[:, :-1] / totals[:, -1:]
        return list(map(interval_of, means.T))


def interval_of(values: Floats) -> list[float] | None:
    """Compute the middle 95 % of a figure's values over the samples; NaN is an undefined value."""
    defined = values[~np.isnan(values)]
    return [rounded(value) for value in np.percentile(defined, TAILS)] if len(defined) else None


def compare_systems(
    ours: Floats, theirs: Floats, docs: Sequence[str], exchanges: int = _EXCHANGES
) -> dict[str, Any]:
    """Compare the values of two systems for the same mentions.

    The tests are paired. They draw or exchange documents, as mentions of one are not independent.

    ours, theirs (Floats): one value a mention, such as 1.0 for a hit at 1, (n,).
    docs (Sequence[str]): the document of every mention.
    exchanges (int): random exchanges of the randomisation test.
    RETURNS (Dict[str, Any]): the means "ours" and "theirs", their "difference" with "ci95" (paired
        bootstrap), "p" of the difference (approximate randomisation, two-sided: Noreen, 1989).
    """
    if not (n := len(docs)):
        return {"n": 0, **dict.fromkeys(("ours", "theirs", "difference", "ci95", "p"))}
    difference, bootstrap = (ours - theirs)[:, None], Bootstrap(docs)
    (interval,) = bootstrap.intervals(difference, np.ones(n, np.bool_))
    return {
        "n": n,
        "ours": rounded(ours.mean()),
        "theirs": rounded(theirs.mean()),
        "difference": rounded(difference.mean()),
        "ci95": interval,
        "p": _randomisation(bootstrap.by_doc(difference)[:, 0], exchanges),
    }


def _randomisation(differences: Floats, exchanges: int) -> float:
    """Exchange the systems' results in random documents; count differences as large as ours.

    scipy's permutation_test sorts where signs suffice, and takes ten times as long.
    """
    observed = abs(differences.sum())
    random = np.random.default_rng(SEED)
    step = max(1, _CELLS // len(differences))
    as_large = 0
    for start in range(0, exchanges, step):
        shape = (min(step, exchanges - start), len(differences))
        signs = random.integers(0, 2, shape, dtype=np.int8) * 2 - 1
        as_large += int((np.abs(signs @ differences) >= observed - 1e-9).sum())
    return rounded((as_large + 1) / (exchanges + 1))


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


def rounded(value: float) -> float:
    """Round a fraction."""
    return round(float(value), DIGITS)


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


def calibration_error(probs: Floats, right: Flags, weights: Floats, bins: int = BINS) -> float:
    """Compute the expected calibration error (Guo et al. 2017, equation 3), bins of equal width."""
    found_bins = reliability_bins(probs, right, weights, bins)
    return sum(
        each_bin["weight"] * abs(each_bin["prob"] - each_bin["accuracy"]) for each_bin in found_bins
    )


def reliability_bins(
    probs: Floats, right: Flags, weights: Floats, bins: int = BINS
) -> list[dict[str, float]]:
    """Compare probabilities with the share of right answers.

    RETURNS (List[Dict[str, float]]): "low", "high", "weight" (they sum to 1), mean "prob" and
        "accuracy" of each bin that is not empty.
    """
    places = np.clip((probs * bins).astype(np.int64), 0, bins - 1)
    filled = []
    for bin in np.unique(places).tolist():
        within = places == bin
        share = weights[within]
        filled.append(
            {
                "low": bin / bins,
                "high": (bin + 1) / bins,
                "weight": float(share.sum() / weights.sum()),
                "prob": float(np.average(probs[within], weights=share)),
                "accuracy": float(np.average(right[within], weights=share)),
            }
        )
    return filled
