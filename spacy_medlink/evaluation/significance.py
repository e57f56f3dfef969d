"""Tests whether one system is better than another, or only by chance on these documents.

The tests are paired, over the same mentions. They exchange or draw documents, not mentions, since
mentions of one document are not independent.
"""

from collections.abc import Sequence

import numpy as np

from .intervals import SAMPLES, SEED, Bootstrap, Floats, interval_of, rounded
from .outcome import Metrics

_EXCHANGES = 10_000
_CELLS = 4_000_000  # signs in memory at a time


def compare_systems(
    ours: Floats, theirs: Floats, docs: Sequence[str], exchanges: int = _EXCHANGES
) -> Metrics:
    """Compare the values of two systems for the same mentions.

    ours, theirs (Floats): one value a mention, such as 1.0 for a hit at 1, (n,).
    docs (Sequence[str]): the document of every mention.
    exchanges (int): random exchanges of the randomisation test.
    RETURNS (Metrics): the means "ours" and "theirs", their "difference" with "ci95" (paired
        bootstrap), "p" of the difference (approximate randomisation, two-sided: Noreen, 1989).
    """
    n = len(docs)
    bootstrap = Bootstrap(docs, SAMPLES, SEED)
    both = np.column_stack([ours - theirs, np.ones(n)])
    totals = bootstrap.totals(both)
    by_doc = np.zeros(bootstrap.n_docs)
    np.add.at(by_doc, bootstrap.place, ours - theirs)
    return {
        "n": n,
        "ours": rounded(ours.mean()) if n else None,
        "theirs": rounded(theirs.mean()) if n else None,
        "difference": rounded((ours - theirs).mean()) if n else None,
        "ci95": interval_of(totals[:, 0] / totals[:, 1]) if n else None,
        "p": _randomisation(by_doc, exchanges) if n else None,
    }


def _randomisation(differences: Floats, exchanges: int) -> float | None:
    """Exchange the systems' results in random documents; count differences as large as ours."""
    observed = abs(differences.sum())
    random = np.random.default_rng(SEED)
    step = max(1, _CELLS // max(1, len(differences)))
    as_large = 0
    for start in range(0, exchanges, step):
        shape = (min(step, exchanges - start), len(differences))
        signs = random.integers(0, 2, shape, dtype=np.int8) * 2 - 1
        as_large += int((np.abs(signs @ differences) >= observed - 1e-9).sum())
    return rounded((as_large + 1) / (exchanges + 1))
