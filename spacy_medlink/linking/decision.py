"""Decisions: from ranked candidates to a link or NIL; the one place where a threshold counts."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat
from typing import NamedTuple

from ..retrieval.concepts import MEMORY, RESOLUTION
from ..text.identifiers import is_identified
from ..types import Calibrator, Candidate

# Why there is no link.
NOTHING_FOUND = "nothing found"
FILTERED = "the filters leave nothing"
OUTSIDE = "filtered"  # a concept that the filters exclude matches the mention better
BELOW_THRESHOLD = "below the threshold"
NOT_A_CONCEPT = "corrections say that it is no concept"
MARGIN = 0.02  # how much higher a concept outside the filters must score than one within
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
        others = {other.row: other for part in self.parts for other in part.ranking[1:]}
        for candidate in best:
            others.pop(candidate.row, None)
        return [*best, *sorted(others.values(), key=lambda other: (-other.score, other.row))]


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
    return list(
        map(
            _decide,
            with_probabilities(rankings, calibrator),
            repeat(threshold),
            outside or repeat(None),
            denied or repeat(False),
        )
    )


def kept(decision: Decision, ranked: Sequence[Candidate], most: int) -> Decision:
    """Keep at most `most` candidates in a decision.

    ranked (Sequence[Candidate]): all ranked candidates; the decision saw only the first of them.
    """
    ranking = decision.ranking
    if len(ranked) > len(ranking) < most:
        seen = {candidate.row for candidate in ranking}
        ranking = [*ranking, *(candidate for candidate in ranked if candidate.row not in seen)]
    elif len(ranking) <= most:
        return decision
    return decision._replace(ranking=ranking[:most])


def is_believed(best: Candidate, threshold: float | None) -> bool:
    """Tell whether a first candidate reaches a probability, or score if it has none.

    A concept that the document itself identifies needs no threshold.

    threshold (Optional[float]): None for what the calibrator recommends; without one, for any.
    """
    if is_identified(best.scores):
        return True
    if threshold is None:
        return best.prob is None or best.probable
    return round(best.score if best.prob is None else best.prob, _DIGITS) >= threshold


def _decide(
    ranking: list[Candidate],
    threshold: float | None,
    better: Candidate | None,
    is_denied: bool,
) -> Decision:
    best = ranking[0] if ranking else None
    identified = best is not None and is_identified(best.scores)
    if is_denied and not identified:
        return Decision(None, ranking, NOT_A_CONCEPT)
    if identified:
        better = None
    if better is not None and is_named(better):
        return Decision(None, ranking, OUTSIDE, outside=better)
    if best is None:
        return Decision(None, ranking, NOTHING_FOUND)
    if not is_believed(best, threshold):
        return Decision(None, ranking, BELOW_THRESHOLD, best.tied)
    if better is not None:
        return Decision(None, ranking, OUTSIDE, outside=better)
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

    RETURNS (Sequence[List[Candidate]]): shared with the linker's cache; do not change them.
    """
    if calibrator is None:
        return rankings
    rated: dict[int, list[Candidate]] = {}
    new: dict[int, list[Candidate]] = {}
    for ranking in rankings:
        earlier: _Rated | None = ranking[0].rated if ranking else _Rated(calibrator, ranking)
        # The same first candidate may stand before others, or before fewer of them.
        if earlier and earlier.calibrator is calibrator and earlier.ranking[1:] == ranking[1:]:
            rated[id(ranking)] = earlier.ranking
        else:
            new[id(ranking)] = ranking
    if new:
        ratings = calibrator.rate(list(new.values()))
        for ranking, (probability, probable) in zip(new.values(), ratings, strict=True):
            # A copy: rankings are shared with the linker's cache.
            first = replace(ranking[0], prob=probability, probable=probable)
            rated[id(ranking)] = [first, *ranking[1:]]
            ranking[0].rated = _Rated(calibrator, rated[id(ranking)])
    return list(map(rated.__getitem__, map(id, rankings)))


def is_named(candidate: Candidate) -> bool:
    """Tell whether the mention is a name of the concept, or corrections link it to the concept."""
    scores = candidate.scores
    return scores.get("exact", 0.0) > 0 or scores.get(MEMORY, 0.0) > 0


def is_named_within(ranking: Sequence[Candidate], forms: Sequence[str]) -> bool:
    """Tell whether a looked-up form is a name of a candidate.

    ranking (Sequence[Candidate]): of the concepts within the filters.
    forms (Sequence[str]): as `Lookup.forms` lists them. For an abbreviation that is spelled out,
        the long form counts, and the short form does not.
    """
    meant = forms[:-1] or forms
    return any(is_named(candidate) and candidate.form in meant for candidate in ranking)


def is_better(outside: Candidate, within: Candidate | None) -> bool:
    """Tell whether the best concept outside matches a mention better than the best one within.

    It does if the mention is a name of it and not of the other, or if it scores `MARGIN` more.
    """
    if within is None:
        return is_named(outside)
    if is_named(outside):
        return not is_named(within) or outside.score > within.score + RESOLUTION
    return outside.score > within.score + MARGIN
