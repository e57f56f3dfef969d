import pytest

from spacy_medlink.evaluation.outcome import Outcome, count_verdicts, verdict


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome(1, retrieved=1), "right"),
        (Outcome(1, retrieved=1, abstained=True), "wrong NIL"),
        (Outcome(2, retrieved=2), "mis-ranked"),
        (Outcome(0, retrieved=40), "mis-ranked"),  # deeper than the ranking that was asked for
        (Outcome(2, retrieved=2, abstained=True), "mis-ranked"),  # a link would be wrong as well
        (Outcome(0), "not retrieved"),
        (Outcome(0, in_kb=False), "not in KB"),
        (Outcome(0, is_nil=True, in_kb=False, abstained=True), "right"),
        (Outcome(0, is_nil=True, in_kb=False), "missed NIL"),
    ],
)
def test_verdicts(outcome: Outcome, expected: str) -> None:
    assert verdict(outcome) == expected
    counts = count_verdicts([outcome, outcome])
    assert counts.pop(expected) == 2
    assert set(counts.values()) == {0}
