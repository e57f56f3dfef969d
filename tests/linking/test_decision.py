"""Probabilities are estimated once for a ranking that is remembered, and change nothing else."""

from collections.abc import Sequence

from spacy_medlink.linking.decision import with_probabilities
from spacy_medlink.types import Candidate


class Counting:
    """A calibrator that says how often it was asked: the score of the first two, as a sum."""

    def __init__(self, factor: float) -> None:
        self.factor, self.asked = factor, 0

    def rate(self, rankings: Sequence[Sequence[Candidate]]) -> list[tuple[float, bool]]:
        """Sum up."""
        self.asked += len(rankings)
        return [(self.factor * sum(one.score for one in own[:2]), True) for own in rankings]


def ranking(*scores: float) -> list[Candidate]:
    return [Candidate(row, row, score, {"exact": 0.0}) for row, score in enumerate(scores)]


def test_a_remembered_ranking_is_rated_once() -> None:
    one, other, none = ranking(0.5, 0.25, 0.125), ranking(0.5), list[Candidate]()
    rankings, calibrator = [one, none, other, one], Counting(1.0)
    first = with_probabilities(rankings, calibrator)
    again = with_probabilities(rankings, calibrator)
    assert calibrator.asked == 2
    assert first == again
    assert [own[0].prob for own in first if own] == [0.75, 0.5, 0.75]
    assert first[1] == [] and [len(own) for own in first] == [3, 0, 1, 3]
    assert one[0].prob is None, "what the engine remembers has no probability"
    assert first[0][1:] == one[1:]


def test_what_follows_and_who_asks_make_another_rating() -> None:
    one, calibrator, other = ranking(0.5, 0.25), Counting(1.0), Counting(0.5)
    for _ in range(2):
        assert with_probabilities([one], calibrator)[0][0].prob == 0.75
        assert with_probabilities([one[:1]], calibrator)[0][0].prob == 0.5
        assert with_probabilities([one], other)[0][0].prob == 0.375
        both = with_probabilities([one, one[:1]], calibrator)
        assert [(own[0].prob, len(own)) for own in both] == [(0.75, 2), (0.5, 1)]
    assert with_probabilities([one], None)[0] is one
