"""What of a ranking tells whether its first answer is right: few numbers, the same every time."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..text.identifiers import is_identified
from ..text.normalisation import is_short_form, key
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
    "memory",  # 1 where corrections, or an identifier in the document, say so
    "preferred",  # 1 where the name that matched is the concept's preferred one
    "names",  # logarithm of 1 + names of the concept: much spoken of, much named
    "short form",  # 1 for short upper-case texts
    "length",  # logarithm of 1 + characters of the text
    "added",  # share of the matched name's words that the text has not
    "missing",  # share of the text's words that the name has not
    "numbers",  # 1 where they differ in a number or a single letter: type 1 is not type 2
    "same words",  # 1 where they have the same words, in whatever order
)
DEPTH = 2  # candidates that are looked at
STRATA = ("others", "verbatim", "remembered", "verbatim and remembered", "shared")
_EXACT, _RIVAL, _MEMORY, _SHORT = map(FEATURES.index, ("exact", "rival", "memory", "short form"))

_MARGIN = 0.3
_DIGITS = 4  # scores are the same over batch sizes to so many digits
_LONGEST = 200  # characters; longer texts are all the same
_TIERS = ("exact", "ngram", "dense")
_NAMES_KEPT = 65_536


class Names:
    """What is asked of a knowledge base about its names.

    name_concept (NDArray[int32]): concept row of every name row, ascending, (n_names,).
    text_of (Callable[[int], str]): the text of a name, by its row.
    """

    def __init__(self, name_concept: NDArray[np.int32], text_of: Callable[[int], str]) -> None:
        self.name_concept = name_concept
        self.words_of = lru_cache(_NAMES_KEPT)(lambda row: words(text_of(row)))


def words(text: str) -> frozenset[str]:
    """Split a text into the words that its key has."""
    return frozenset(key(text[:_LONGEST]).split())


def features_of(rankings: Sequence[Sequence[Candidate]], names: Names) -> Features:
    """Describe the first answers of rankings, none of them empty.

    A ranking of DEPTH candidates says all; whether there are more changes nothing.

    RETURNS (Features): (n, len(FEATURES)).
    """
    concepts = names.name_concept
    rows = np.asarray([ranking[0].row for ranking in rankings], dtype=concepts.dtype)
    first = np.searchsorted(concepts, rows).tolist()
    end = np.searchsorted(concepts, rows, side="right").tolist()
    found = [
        [*_describe(*one), *_compare(words(one[0][0].form), names.words_of(one[0][0].name_row))]
        for one in zip(rankings, first, end, strict=True)
    ]
    return np.asarray(found, dtype=np.float64).reshape(len(rankings), len(FEATURES))


def strata_of(features: Features) -> NDArray[np.int64]:
    """Tell which rankings something vouches for, other than resemblance: places in STRATA, (n,).

    A verbatim answer has the text as a name, and the runner-up has not: another concept that has
    it, too, would be the runner-up, since nothing else resembles the text as much. A shared one has
    it, and the runner-up has it, too.
    """
    exact, rival = features[:, _EXACT] > 0, features[:, _RIVAL] > 0
    remembered = features[:, _MEMORY] > 0
    strata: NDArray[np.int64] = np.select(
        [exact & ~rival & remembered, remembered, exact & ~rival, exact], [3, 2, 1, 4], 0
    )
    return strata


def is_short(features: Features) -> NDArray[np.bool_]:
    """Tell which texts are short upper-case forms: (n,)."""
    short: NDArray[np.bool_] = features[:, _SHORT] > 0
    return short


def _describe(ranking: Sequence[Candidate], first_name: int, end: int) -> list[float]:
    best = ranking[0]
    own = best.scores
    exact = own.get("exact", 0.0)
    asked = [tier for tier in _TIERS if tier in own]
    first = sum(best.ranks.get(tier) == 1 for tier in asked)
    # Nothing competes with what the document itself identifies.
    identified = is_identified(own)
    margin, rival = _MARGIN, False
    if len(ranking) > 1 and not identified:
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
        float(identified or own.get("memory", 0.0) > 0),
        float(best.name_row == first_name),
        float(np.log1p(end - first_name)),
        float(is_short_form(best.form.strip())),
        float(np.log1p(min(len(best.form), _LONGEST))),
    ]


def _compare(text: frozenset[str], name: frozenset[str]) -> list[float]:
    """Compare the words of a text and of a name: added, missing, numbers, same words."""
    added, missing = name - text, text - name
    telling = any(len(word) == 1 or any(map(str.isdigit, word)) for word in added | missing)
    same = bool(text) and text == name
    return [
        len(added) / max(1, len(name)), len(missing) / max(1, len(text)), float(telling),
        float(same),
    ]  # fmt: skip
