"""Decisions: from ranked candidates to a link or NIL; the one place where a threshold counts."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat
from typing import NamedTuple

from ..text.identifiers import is_identified
from ..types import Calibrator, Candidate
from .outside import is_named

# Why there is no link.
NOTHING_FOUND = "nothing found"
FILTERED = "the filters leave nothing"
OUTSIDE = "filtered"  # a concept that the filters exclude matches the mention better
BELOW_THRESHOLD = "below the threshold"
NOT_A_CONCEPT = "corrections say that it is no concept"
_DIGITS = 6  # rounding: a perfect match may score a millionth less than 1.0


class Part(NamedTuple):
    """One part of a composite mention."""

    text: str
    ranking: list[Candidate]


class Decision(NamedTuple):
    """The link of a mention, or NIL, and the reasons for it.

    chosen (Optional[Candidate]): None for NIL. ranking: the candidates. reason (str): why
        NIL, "" for a link.
    tied (Tuple[int, ...]): rows of the concepts, the chosen one included, that only the order of
        ids tells apart; () where there are none.
    outside (Optional[Candidate]): a better match that the filters exclude.
    parts (Sequence[Part]): of a composite mention. The link is then the best candidate of the
        first part, whatever `chosen` says.
    """

    chosen: Candidate | None
    ranking: list[Candidate]
    reason: str = ""
    tied: tuple[int, ...] = ()
    outside: Candidate | None = None
    parts: Sequence[Part] = ()

    @property
    def link(self) -> Candidate | None:
        """The linked candidate; None for NIL."""
        return self.parts[0].ranking[0] if self.parts else self.chosen

    @property
    def answers(self) -> list[Candidate]:
        """The candidates, best first; for a composite mention, the best of each part come first."""
        if not self.parts:
            return self.ranking
        best = [part.ranking[0] for part in self.parts]
        others = {one.row: one for part in self.parts for one in part.ranking[1:]}
        for one in best:
            others.pop(one.row, None)
        return [*best, *sorted(others.values(), key=lambda one: (-one.score, one.row))]


def decide(
    rankings: Sequence[list[Candidate]],
    threshold: float | None,
    *,
    calibrator: Calibrator | None = None,
    denied: Sequence[bool] = (),
    outside: Sequence[Candidate | None] | None = None,
) -> list[Decision]:
    """Choose a link for each ranking.

    threshold (Optional[float]): the least probability of a link, or the least score without a
        calibrator; None for what the calibrator recommends, 0 without a calibrator.
    denied (Sequence[bool]): for each ranking, whether corrections say that its mention is no
        concept; () for none. A concept that the document itself identifies is linked all the same.
    outside (Optional[Sequence[Optional[Candidate]]]): for each ranking, the better match outside
        the filters (`Linker.retrieve`); the mention is then NIL.
    """
    rankings = with_probabilities(rankings, calibrator)
    wanted = wanted_of(threshold, calibrator)
    better = outside or [None] * len(rankings)
    return [
        Decision(None, ranking, NOT_A_CONCEPT)
        if is_denied and not (ranking and is_identified(ranking[0].scores))
        else _decide(ranking, wanted, own)
        for ranking, own, is_denied in zip(rankings, better, denied or repeat(False), strict=False)
    ]


def kept(decision: Decision, ranked: Sequence[Candidate], most: int) -> Decision:
    """Keep at most `most` candidates in a decision.

    ranked (Sequence[Candidate]): all ranked candidates; the decision saw only the first of them.
    """
    ranking = decision.ranking
    if len(ranked) > len(ranking) < most:
        seen = {one.row for one in ranking}
        ranking = [*ranking, *(one for one in ranked if one.row not in seen)]
    elif len(ranking) <= most:
        return decision
    return decision._replace(ranking=ranking[:most])


def is_believed(best: Candidate, wanted: float) -> bool:
    """Tell whether a first candidate reaches the wanted probability, or score if it has none.

    A concept that the document itself identifies needs no threshold.
    """
    if is_identified(best.scores):
        return True
    value = best.score if best.prob is None else best.prob
    return round(value, _DIGITS) >= wanted


def wanted_of(threshold: float | None, calibrator: Calibrator | None) -> float:
    """Get the threshold to use: the given one, or else the one that the calibrator recommends."""
    if threshold is not None:
        return threshold
    return 0.0 if calibrator is None else calibrator.threshold


def _decide(
    ranking: list[Candidate],
    threshold: float,
    outside: Candidate | None,
) -> Decision:
    if outside is not None and ranking and is_identified(ranking[0].scores):
        outside = None
    if outside is not None and is_named(outside):
        return Decision(None, ranking, OUTSIDE, outside=outside)
    if not ranking:
        return Decision(None, ranking, NOTHING_FOUND)
    best = ranking[0]
    if not is_believed(best, threshold):
        return Decision(None, ranking, BELOW_THRESHOLD, best.tied)
    if outside is not None:
        return Decision(None, ranking, OUTSIDE, outside=outside)
    return Decision(best, ranking, "", best.tied)


class _Rated(NamedTuple):
    """A remembered ranking whose first candidate has its probability.

    calibrator (Calibrator): made the probability. ranking (List[Candidate]): a copy of the first
        candidate, with its probability, and the other candidates.
    """

    calibrator: Calibrator
    ranking: list[Candidate]


def with_probabilities(
    rankings: Sequence[list[Candidate]], calibrator: Calibrator | None
) -> Sequence[list[Candidate]]:
    """Give the first candidate of each ranking its probability; the others have none.

    RETURNS (Sequence[List[Candidate]]): shared with the engine's cache; do not change them.
    """
    if calibrator is None:
        return rankings
    rated = {id(own): _remembered(own, calibrator) for own in rankings}
    new = [own for own in {id(own): own for own in rankings}.values() if rated[id(own)] is None]
    probabilities = calibrator.probabilities(new) if new else []
    for own, probability in zip(new, probabilities, strict=True):
        # A copy: rankings are shared with the engine's cache.
        ranking = rated[id(own)] = [replace(own[0], prob=probability), *own[1:]]
        own[0].rated = _Rated(calibrator, ranking)
    return [rated[id(own)] or own for own in rankings]


def _remembered(ranking: list[Candidate], calibrator: Calibrator) -> list[Candidate] | None:
    """Get the remembered ranking with its probability; None for an empty or unknown ranking."""
    if not ranking:
        return ranking
    known: _Rated | None = ranking[0].rated
    # The same first candidate may stand before others, or before fewer of them.
    is_same = known and known.calibrator is calibrator and known.ranking[1:] == ranking[1:]
    return known.ranking if known and is_same else None
