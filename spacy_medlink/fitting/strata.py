"""How sure an answer is that something vouches for: a terminology, by a name, or corrections.

What only resembles a name says nothing of these, so each has a rate of its own: of gold mentions
where there are some, else a stated one, that of the training parts of two corpora
(docs/calibration.md).
"""

from collections.abc import Mapping

import numpy as np

from ..ranking.calibrator import STRATA, column, strata_of
from .trials import Trials

Rates = Mapping[str, float]
# Of the mentions of NCBI and BC5CDR (training parts) that are the name of one concept alone in
# MEDIC, a fifth of it removed, 95.5 and 94.3 % are linked rightly; of the short forms among them
# 72 %. Of what the other documents gave as a correction, 87 and 92 %; of what is both, 99.6 and
# 99.8 %, in documents that are like each other. Of the few whose name other concepts have, too, 76
# and 64 %: which of them is meant, `_.ambiguous` says to ask, and NIL would say that none is.
STATED: Rates = dict(zip(STRATA[1:], (0.955, 0.9, 0.98, 0.75), strict=True))
SHORT_FORMS = 0.75
STRENGTH = 50.0  # mentions that a stated rate is worth beside gold ones


def rates_of_gold(trials: Trials) -> Rates:
    """Estimate the rates of annotated mentions, pulled to the stated ones where they are few."""
    return {name: _rate_of_gold(own, STATED[name]) for name, own in _strata(trials).items()}


def rates_of_names(trials: Trials) -> Rates:
    """Take the stated rates; of names less for short forms, and for names that concepts share.

    That a name finds its own concept says little; that it finds another, when its own is removed,
    says how often a name would belong to a concept that the knowledge base lacks.
    """
    verbatim = _strata(trials)[STRATA[1]]
    if not len(verbatim.right):
        return STATED
    stated = np.where(column(verbatim.features, "short form") > 0, SHORT_FORMS, STATED[STRATA[1]])
    return {
        **STATED, STRATA[1]: float(np.average(stated * verbatim.right, weights=verbatim.weights))
    }  # fmt: skip


def _strata(trials: Trials) -> dict[str, Trials]:
    strata = strata_of(trials.features)
    return {name: trials.part(strata == place) for place, name in enumerate(STRATA) if place}


def _rate_of_gold(own: Trials, stated: float) -> float:
    right = float((own.weights * own.right).sum())
    return (STRENGTH * stated + right) / (STRENGTH + float(own.weights.sum()))
