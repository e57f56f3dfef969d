"""Decisions: from ranked candidates to a link or NIL; the one place where a threshold counts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ..types import Calibrator, Candidate
from .backoff import Backoff

# Why there is no link.
NOTHING_FOUND = "nothing found"
FILTERED = "the filters leave nothing"
BELOW_THRESHOLD = "below the threshold"
_DIGITS = 6  # a perfect match may be a millionth short of 1.0


class Decision(NamedTuple):
    """What a mention is linked to.

    chosen (Optional[Candidate]): None for NIL. ranking: the candidates, an ancestor that stands for
        some of them first. reason (str): why NIL, "" for a link.
    tied (Tuple[int, ...]): rows of all concepts that nothing but the order of ids tells apart, the
        chosen one among them; () where there are none.
    leaves (Tuple[int, ...]): rows of the near ties that the chosen ancestor stands for.
    """

    chosen: Candidate | None
    ranking: list[Candidate]
    reason: str = ""
    tied: tuple[int, ...] = ()
    leaves: tuple[int, ...] = ()


def decide(
    rankings: Sequence[list[Candidate]],
    threshold: float,
    *,
    calibrator: Calibrator | None = None,
    backoff: Backoff | None = None,
) -> list[Decision]:
    """Choose a link for each ranking.

    threshold (float): what the probability, or without a calibrator the score, must reach.
    backoff (Optional[Backoff]): links near ties to what is above all of them.
    """
    rankings = _with_probabilities(rankings, calibrator)
    return [_decide(ranking, threshold, backoff) for ranking in rankings]


def _decide(ranking: list[Candidate], threshold: float, backoff: Backoff | None) -> Decision:
    if not ranking:
        return Decision(None, ranking, NOTHING_FOUND)
    leaves: tuple[int, ...] = ()
    if backoff is not None and (above := backoff.ancestor_of(ranking)) is not None:
        ancestor, leaves = above
        ranking = [ancestor, *(one for one in ranking if one.row != ancestor.row)]
    best = ranking[0]
    value = best.score if best.prob is None else best.prob
    if round(value, _DIGITS) < threshold:
        return Decision(None, ranking, BELOW_THRESHOLD, best.tied)
    return Decision(best, ranking, "", best.tied, leaves)


def _with_probabilities(
    rankings: Sequence[list[Candidate]], calibrator: Calibrator | None
) -> Sequence[list[Candidate]]:
    if calibrator is None:
        return rankings
    probabilities = iter(calibrator.probabilities([own for own in rankings if own]))
    # Copies: rankings are shared with the engine's cache.
    return [
        [replace(own[0], prob=next(probabilities)), *own[1:]] if own else own for own in rankings
    ]
