import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.evaluation.records import Proposal, Record, pack, unpack

TEXTS = st.none() | st.text(max_size=9)
PROPOSALS = st.builds(
    Proposal, st.text(max_size=4), st.text(max_size=4), st.floats(0, 1), st.none() | st.floats(0, 1)
)
LABELS = st.dictionaries(st.sampled_from(["length", "code"]), st.lists(st.text(max_size=3)))
IDS = st.lists(st.text(max_size=4), max_size=3)
RECORDS = st.builds(
    Record, doc=st.text(max_size=4), gold=IDS, right=IDS, labels=LABELS, text=TEXTS, left=TEXTS,
    after=TEXTS, candidates=st.lists(PROPOSALS, max_size=3),
)  # fmt: skip


@given(st.lists(RECORDS, max_size=4))
def test_what_is_packed_is_unpacked(records: list[Record]) -> None:
    packed = json.loads(json.dumps(pack(records)))
    if all(record.text is None for record in records):
        assert "text" not in packed["columns"]
        records = [record._replace(left=None, after=None) for record in records]
    assert unpack(packed) == records


def test_no_text_unless_asked_for() -> None:
    record = Record("7", 0, 3, 9, "en", "", ["C1"], ["C1"], 1, 1, False, None, "right", [], {})
    assert not {"text", "left", "after"} & set(pack([record])["columns"])
    assert (record.prob, record.is_right) == (None, True)


@pytest.mark.parametrize(
    "table", [{}, {"columns": []}, {"columns": ["doc"], "rows": [["x"]]},
              {"columns": ["candidates"], "rows": [[[]]]}],
)  # fmt: skip
def test_other_shapes_are_refused(table: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        unpack(table)
