"""Ids that several documents have are counted, and some of them shown."""

import json
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.annotate.repeated import IdsSeen, Repeated


def found(ids: list[str]) -> Repeated:
    lines = [json.dumps({"doc_id": id, "mentions": []}).encode() + b"\n" for id in ids]
    seen = IdsSeen()
    assert list(seen.reading(lines)) == lines
    return seen.repeated(lines)


@given(st.lists(st.one_of(st.sampled_from(["", "a", "b", 'c"\\']), st.text(max_size=3))))
def test_any_ids(ids: list[str]) -> None:
    counts = Counter(filter(None, ids))
    many = [id for id, count in counts.items() if count > 1]
    repeated = found(ids)
    assert repeated.documents == sum(counts[id] - 1 for id in many)
    assert len(set(repeated.examples) & set(many)) == len(repeated.examples) == min(3, len(many))
