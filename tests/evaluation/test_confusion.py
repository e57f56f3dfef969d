from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.evaluation.confusion import confusion

KINDS = st.sampled_from(["T047", "T033", "T184", "T191", "NIL"])


def test_by_hand() -> None:
    found = confusion([("a", "b"), ("a", "a"), ("a", "b"), ("c", "a")])
    assert found == {"kinds": ["a", "b", "c"], "counts": [[1, 2, 0], [0, 0, 0], [1, 0, 0]]}


@given(st.lists(st.tuples(KINDS, KINDS)), st.integers(1, 6))
def test_rare_kinds_are_united_and_nothing_is_lost(
    pairs: list[tuple[str, str]], largest: int
) -> None:
    found = confusion(pairs, largest)
    assert sum(map(sum, found["counts"])) == len(pairs)
    assert len(found["kinds"]) <= largest + 1
    for row, gold in enumerate(found["kinds"]):
        for column, predicted in enumerate(found["kinds"]):
            if "other" not in (gold, predicted):
                assert found["counts"][row][column] == pairs.count((gold, predicted))
