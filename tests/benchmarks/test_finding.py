"""Linked spans are counted against gold mentions."""

from benchmarks.finding import WAYS, count
from spacy_medlink.components.finding.settings import LEAVE_OUT


def test_counts() -> None:
    gold = [[(0, 5), (0, 5), (10, 15)], [(3, 4)], []]
    linked = [[(0, 5), (12, 20), (30, 31)], [], [(0, 1)]]
    counts = count(gold, linked)
    assert (counts.linked, counts.beside, counts.found, counts.whole) == (4, 2, 3, 2)
    assert counts.wholes == {(0, 0, 5)}


def test_every_rule_is_counted_alone_and_with_the_others() -> None:
    assert [rules for rules in WAYS.values() if len(rules) == 1] == [[rule] for rule in LEAVE_OUT]
    first, *_, last = WAYS.values()
    assert first == [] and set(last) == set(LEAVE_OUT)
