"""Names of a dictionary that is saved without its knowledge base."""

import tracemalloc

import numpy as np
import pytest

from spacy_medlink.retrieval.name_texts import NameTexts

MANY = 200_000


def _names(rows: list[int]) -> NameTexts:
    return NameTexts.of(
        np.array(rows, dtype=np.uint32), lambda chunk: [f"name {row}" for row in chunk]
    )


@pytest.mark.parametrize("row", [-1, -(1 << 32) + 3, 4, (1 << 32) - 1, 1 << 32, (1 << 32) + 3])
def test_a_row_without_a_text_has_none(row: int) -> None:
    assert _names([3, 7])([3, row, 7]) == ["name 3", "", "name 7"]


def test_the_last_row_that_the_type_can_hold_is_found() -> None:
    last = (1 << 32) - 1
    assert _names([3, last])([last, -1]) == [f"name {last}", ""]


def test_a_look_up_does_not_copy_all_rows() -> None:
    names = _names(list(range(MANY)))
    tracemalloc.start()
    try:
        assert names([5, MANY - 1, MANY]) == ["name 5", f"name {MANY - 1}", ""]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MANY


def test_names_are_read_into_arrays() -> None:
    rows = np.arange(MANY, dtype=np.uint32)
    tracemalloc.start()
    try:
        names = NameTexts.of(rows, lambda chunk: [f"a name as long as most {row}" for row in chunk])
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert names([MANY - 1]) == [f"a name as long as most {MANY - 1}"]
    assert peak < 1.7 * kept
