"""Hashes are found where a plain search finds them, however they are spread."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.types import Hashes1d
from spacy_medlink.util.hashes import positions

LAST = 2**64 - 1
ANY = st.integers(0, LAST)


def plain(ascending: Hashes1d, wanted: Hashes1d) -> list[int]:
    place = {value: number for number, value in enumerate(ascending.tolist())}
    return [place.get(value, -1) for value in wanted.tolist()]


def check(ascending: Hashes1d, wanted: Hashes1d) -> None:
    assert positions(ascending, wanted).tolist() == plain(ascending, wanted)


@given(st.sets(ANY), st.lists(ANY))
def test_few(values: set[int], others: list[int]) -> None:
    ascending = np.array(sorted(values), dtype=np.uint64)
    check(ascending, np.array([*values, *others, 0, LAST], dtype=np.uint64))


def _spread(kind: str, random: np.random.Generator) -> Hashes1d:
    if kind == "even":
        return random.integers(0, LAST, 50_000, dtype=np.uint64, endpoint=True)
    if kind == "low":
        return np.arange(5_000, dtype=np.uint64)
    if kind == "high":
        return np.uint64(LAST) - np.arange(5_000, dtype=np.uint64)
    lumps = random.integers(0, LAST, 9, dtype=np.uint64)
    return (lumps[:, None] + random.integers(0, 10**6, (9, 900), dtype=np.uint64)).ravel()


@pytest.mark.parametrize("kind", ["even", "low", "high", "lumps"])
def test_many(kind: str) -> None:
    random = np.random.default_rng(1)
    ascending = np.unique(_spread(kind, random))
    others = random.integers(0, LAST, 5_000, dtype=np.uint64)
    near = np.concatenate([ascending[::7] + np.uint64(1), ascending[::7] - np.uint64(1)])
    ends = np.array([0, LAST], dtype=np.uint64)
    check(ascending, np.concatenate([ascending[::3], others, near, ends]))


def test_none_wanted() -> None:
    nothing = np.empty(0, dtype=np.uint64)
    assert positions(np.arange(2_000, dtype=np.uint64), nothing).shape == (0,)
    assert positions(nothing, np.arange(3, dtype=np.uint64)).tolist() == [-1, -1, -1]
