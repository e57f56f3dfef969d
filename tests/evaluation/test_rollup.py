import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.evaluation.outcome import Outcome
from spacy_medlink.evaluation.rollup import distance, rollup_metrics

# 0 <- 1 <- 2, 1 <- 3, and 4 apart; 5 and 6 are each other's parent.
PARENTS = {1: [0], 2: [1], 3: [1], 5: [6], 6: [5]}


def _parents(row: int) -> list[int]:
    return PARENTS.get(row, [])


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        (2, {2}, 0), (1, {2}, 1), (0, {2}, 2), (2, {1}, -1), (2, {0}, -2), (3, {2}, None),
        (4, {2}, None), (1, {4, 0, 2}, 1), (0, {2, 1}, 1), (2, set(), None), (5, {6}, 1),
    ],
)  # fmt: skip
def test_distance(answer: int, gold: set[int], expected: int | None) -> None:
    assert distance(answer, gold, _parents) == expected


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12), st.data())
def test_distance_against_relaxing_edges(edges: list[tuple[int, int]], data: st.DataObject) -> None:
    answer, gold = data.draw(st.integers(0, 6)), data.draw(st.integers(0, 6))
    ways = {(row, row): 0 for row in range(7)}
    for _ in range(7):
        for child, parent in edges:
            for (row, start), steps in list(ways.items()):
                if row == child:
                    key = (parent, start)
                    ways[key] = min(steps + 1, ways.get(key, 99))
    found = distance(
        answer, {gold}, lambda row: [parent for child, parent in edges if child == row]
    )
    up, down = ways.get((answer, gold)), ways.get((gold, answer))
    if up is None and down is None:
        assert found is None
    else:
        assert abs(found or 0) == min(steps for steps in (up, down) if steps is not None)
        assert found == (up if up is not None and up == abs(found or 0) else -(down or 0))


def test_metrics_by_hand() -> None:
    outcomes = [Outcome(1, rollup=steps) for steps in (0, 0, 1, -1, -2, 3, None, None)]
    assert rollup_metrics(outcomes) == {
        "ancestor": 2, "descendant": 2,
        "by_distance": {"-2": 1, "-1": 1, "0": 2, "1": 1, "3": 1},
        "acc@1_within_1": 0.5, "acc@1_within_2": 0.625, "acc@1_any": 0.75,
    }  # fmt: skip
