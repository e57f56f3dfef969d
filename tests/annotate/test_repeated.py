"""Ids that several documents have are counted, and the first of them shown."""

import json
from collections import Counter
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.annotate import repeated
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
    assert found(ids) == Repeated(sum(counts[id] - 1 for id in many), tuple(many[:3]))


def test_ids_with_the_same_hash_are_not_repeated() -> None:
    with mock.patch.object(repeated, "hash_key", lambda id: len(id)):
        assert found(["a", "b", "cc", "cc"]) == Repeated(1, ("cc",))


def test_very_many_repeated_ids() -> None:
    with mock.patch.object(repeated, "_COMPARED", 10):
        assert found([str(number % 100) for number in range(300)]).documents == 200
