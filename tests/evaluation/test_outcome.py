import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.evaluation.outcome import Outcome, Proposal, count_verdicts, pack, unpack

GOLD, RIGHT = ["1"], ["C1"]
TEXTS = st.none() | st.text(max_size=9)
PROPOSALS = st.builds(
    Proposal, st.text(max_size=4), st.text(max_size=4), st.floats(0, 1), st.none() | st.floats(0, 1)
)
LABELS = st.dictionaries(st.sampled_from(["length", "code"]), st.lists(st.text(max_size=3)))
IDS = st.lists(st.text(max_size=4), max_size=3)
OUTCOMES = st.builds(
    Outcome, st.integers(0, 9), gold=IDS, right=IDS, doc=st.text(max_size=4), labels=LABELS,
    text=TEXTS, left=TEXTS, after=TEXTS, candidates=st.lists(PROPOSALS, max_size=3),
    share=st.just(0.0),
)  # fmt: skip


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome(1, GOLD, RIGHT, retrieved=1), "right"),
        (Outcome(1, GOLD, RIGHT, retrieved=1, abstained=True), "wrong NIL"),
        (Outcome(2, GOLD, RIGHT, retrieved=2), "mis-ranked"),
        (Outcome(0, GOLD, RIGHT, retrieved=40), "mis-ranked"),  # deeper than what was asked for
        (Outcome(2, GOLD, RIGHT, True, 2), "mis-ranked"),  # a link would be wrong as well
        (Outcome(0, GOLD, RIGHT), "not retrieved"),
        (Outcome(0, GOLD), "not in KB"),
        (Outcome(0, abstained=True), "right"),
        (Outcome(0), "missed NIL"),
    ],
)
def test_verdicts(outcome: Outcome, expected: str) -> None:
    assert outcome.verdict == expected
    counts = count_verdicts([outcome, outcome])
    assert counts.pop(expected) == 2
    assert set(counts.values()) == {0}


@given(st.lists(OUTCOMES, max_size=4))
def test_what_is_packed_is_unpacked(outcomes: list[Outcome]) -> None:
    packed = json.loads(json.dumps(pack(outcomes)))
    if all(outcome.text is None for outcome in outcomes):
        assert not {"text", "left", "after"} & set(packed["columns"])
        outcomes = [outcome._replace(left=None, after=None) for outcome in outcomes]
    assert unpack(packed) == outcomes
    verdict = packed["columns"].index("verdict")
    assert [row[verdict] for row in packed["rows"]] == [outcome.verdict for outcome in outcomes]


@pytest.mark.parametrize(
    "table", [{}, {"columns": []}, {"columns": ["doc"], "rows": [["x"]]},
              {"columns": pack([])["columns"], "rows": [["x"]]}],
)  # fmt: skip
def test_other_shapes_are_refused(table: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        unpack(table)
