"""What of a ranking tells whether its first answer is right: few numbers, the same every time."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..text import is_short_form
from ..types import Candidate

Features = NDArray[np.float64]
"""(n, len(FEATURES))."""

# In the order of the columns; the file of a calibrator names them.
FEATURES = (
    "score",  # fused
    "margin",  # how much less the runner-up scores, up to _MARGIN
    "ngram",  # score of the tier
    "dense",
    "agreement",  # share of the tiers that put it first by themselves
    "exact",  # 1 where the exact tier found it
    "rival",  # 1 where the exact tier found the runner-up too
    "tied",  # 1 where only the order of ids puts it first
    "memory",  # 1 where corrections say so
    "preferred",  # 1 where the name that matched is the concept's preferred one
    "names",  # logarithm of 1 + names of the concept: much spoken of, much named
    "short form",  # 1 for short upper-case texts
    "length",  # logarithm of 1 + characters of the text
)
DEPTH = 2  # candidates that are looked at

_MARGIN = 0.3
_DIGITS = 4  # scores are the same over batch sizes to so many digits
_LONGEST = 200  # characters; longer texts are all the same
_TIERS = ("exact", "ngram", "dense")


def features_of(
    rankings: Sequence[Sequence[Candidate]], name_concept: NDArray[np.int32]
) -> Features:
    """Describe the first answers of rankings, none of them empty.

    A ranking of DEPTH candidates says all; whether there are more changes nothing.

    name_concept (NDArray[int32]): concept row of every name row, ascending, (n_names,).
    RETURNS (Features): (n, len(FEATURES)).
    """
    rows = np.asarray([ranking[0].row for ranking in rankings], dtype=name_concept.dtype)
    first = np.searchsorted(name_concept, rows).tolist()
    end = np.searchsorted(name_concept, rows, side="right").tolist()
    found = [_describe(*one) for one in zip(rankings, first, end, strict=True)]
    return np.asarray(found, dtype=np.float64).reshape(len(rankings), len(FEATURES))


def _describe(ranking: Sequence[Candidate], first_name: int, end: int) -> list[float]:
    best = ranking[0]
    own = best.scores
    exact = own.get("exact", 0.0)
    asked = [tier for tier in _TIERS if tier in own]
    first = sum(best.ranks.get(tier) == 1 for tier in asked)
    margin, rival = _MARGIN, False
    if len(ranking) > 1:
        margin = min(max(best.score - ranking[1].score, 0.0), _MARGIN)
        rival = ranking[1].scores.get("exact", 0.0) > 0
    return [
        round(best.score, _DIGITS),
        round(margin, _DIGITS),
        # A tier that was not asked, because the exact one has the answer, would have said the same.
        round(own.get("ngram", exact), _DIGITS),
        round(own.get("dense", exact), _DIGITS),
        first / len(asked) if asked else 0.0,
        float(exact > 0),
        float(rival),
        float(bool(best.tied)),
        float(own.get("memory", 0.0) > 0),
        float(best.name_row == first_name),
        float(np.log1p(end - first_name)),
        float(is_short_form(best.form.strip())),
        float(np.log1p(min(len(best.form), _LONGEST))),
    ]
