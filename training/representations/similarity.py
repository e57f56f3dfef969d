"""Term similarity: the agreement of cosines with the ratings of physicians.

Spearman's rank correlation with a list of rated pairs, such as MayoSRS (Pakhomov et al., 2011) or
UMNSRS (Pakhomov et al., 2010).
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spacy_medlink.encoders.bi_encoder import BiEncoder
from spacy_medlink.errors import Errors
from spacy_medlink.types import Floats1d

from ..corpora.formats.tables import read_table
from ..corpora.tally import Tally
from .vectors import encode_terms

FIRST = ("term1", "term_1", "term 1", "first", "word1")
SECOND = ("term2", "term_2", "term 2", "second", "word2")
RATING = ("mean", "rating", "score", "similarity", "relatedness")
_SAMPLES, _SEED = 1000, 0
_DIGITS = 6
_FEWEST = 3  # pairs, for a correlation to mean anything


class RatedPair(NamedTuple):
    """Two terms and how alike people find them; the scale does not matter."""

    first: str
    second: str
    rating: float


def read_pairs(path: Path, tally: Tally) -> list[RatedPair]:
    """Read a table of rated pairs, comma- or tab-separated, whose first line names the columns.

    RAISES (MedlinkError): E702 a column is missing, E530 hardly any pair came out.
    """
    pairs = []
    columns = {"first": FIRST, "second": SECOND, "rating": RATING}
    for line, cells in read_table(path, tally, columns):
        try:
            rating = float(cells["rating"].replace(",", "."))
        except ValueError:
            rating = float("nan")
        if np.isfinite(rating) and cells["first"] and cells["second"]:
            pairs.append(RatedPair(cells["first"], cells["second"], rating))
        else:
            tally.fault("pairs without two terms and a number", path, line)
    if len(pairs) < _FEWEST:
        raise Errors.too_few_rows(path=path, found=len(pairs), wanted=_FEWEST, what="rated pairs")
    return pairs


def similarity(encoder: BiEncoder, pairs: list[RatedPair]) -> dict[str, Any]:
    """Correlate cosines with ratings.

    RETURNS (Dict[str, Any]): "n", "spearman" with "ci95" (pairs drawn with replacement) and "p";
        None where all cosines or all ratings are equal.
    """
    terms = [term for pair in pairs for term in (pair.first, pair.second)]
    vectors = encode_terms(encoder, terms)
    cosines: Floats1d = np.einsum("ij,ij->i", vectors[::2], vectors[1::2])
    ratings: Floats1d = np.array([pair.rating for pair in pairs], dtype=np.float32)
    rho, p = _spearman(cosines, ratings)
    return {"n": len(pairs), "spearman": rho, "p": p, "ci95": _interval(cosines, ratings)}


def _spearman(one: Floats1d, other: Floats1d) -> tuple[float | None, float | None]:
    from scipy.stats import spearmanr

    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return None, None
    found = spearmanr(one, other)
    return round(float(found.statistic), _DIGITS), float(found.pvalue)


def _interval(one: Floats1d, other: Floats1d) -> list[float] | None:
    random = np.random.default_rng(_SEED)
    draws = random.integers(0, len(one), (_SAMPLES, len(one)))
    values = [_spearman(one[draw], other[draw])[0] for draw in draws]
    known = [value for value in values if value is not None]
    if not known:
        return None
    return [round(float(value), _DIGITS) for value in np.percentile(known, (2.5, 97.5))]
