"""Offline positive pairs."""

import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.types import Concept, Name
from tests.tiny import kb_of
from training.data.names import read_names
from training.data.pairs import make_pairs, pair_up, preferred_pairs
from training.recipe.settings import DataSettings

SIZES = st.lists(st.integers(1, 14), min_size=1, max_size=12)


def _concepts(sizes: list[int]) -> np.ndarray:
    return np.repeat(np.arange(len(sizes)), sizes)


def _all_trainable(concepts: np.ndarray) -> np.ndarray:
    return np.ones(len(concepts), dtype=bool)


def _every_pair(concepts: np.ndarray) -> set[tuple[int, int]]:
    positions = range(len(concepts))
    return {(i, j) for i, j in combinations(positions, 2) if concepts[i] == concepts[j]}


@given(SIZES)
def test_all_pairs_of_small_concepts(sizes):
    concepts = _concepts(sizes)
    pairs = make_pairs(concepts, _all_trainable(concepts), most=1000, seed=0)
    assert sorted(map(tuple, pairs.tolist())) == sorted(_every_pair(concepts))


@given(SIZES, st.integers(1, 60), st.integers(0, 5))
def test_cap_keeps_a_random_part_of_each_concept(sizes, most, seed):
    concepts = _concepts(sizes)
    pairs = make_pairs(concepts, _all_trainable(concepts), most, seed)
    found = list(map(tuple, pairs.tolist()))
    assert len(set(found)) == len(found)
    assert set(found) <= _every_pair(concepts)
    counts = np.bincount(concepts[pairs[:, 0]], minlength=len(sizes)).tolist()
    assert counts == [min(most, size * (size - 1) // 2) for size in sizes]


def test_same_seed_same_pairs_and_another_seed_others():
    concepts = _concepts([40, 3, 1])
    trainable = _all_trainable(concepts)
    first = make_pairs(concepts, trainable, 50, seed=1)
    assert np.array_equal(first, make_pairs(concepts, trainable, 50, seed=1))
    assert not np.array_equal(first, make_pairs(concepts, trainable, 50, seed=2))


def test_trimming_does_not_depend_on_other_concepts():
    alone = _concepts([20])
    among = np.concatenate([alone, np.full(3, 7)])
    first = make_pairs(alone, _all_trainable(alone), 50, seed=3)
    second = make_pairs(among, _all_trainable(among), 50, seed=3)
    assert np.array_equal(second[:50], first)


def test_names_that_are_not_trainable_are_in_no_pair():
    concepts = _concepts([4, 3])
    trainable = np.array([True, False, True, True, False, True, False])
    pairs = make_pairs(concepts, trainable, 50, seed=0)
    assert pairs.tolist() == [[0, 2], [0, 3], [2, 3]]


def test_a_concept_with_ten_thousand_names_is_trimmed_without_listing_its_pairs():
    concepts = _concepts([100_000])
    start = time.perf_counter()
    pairs = make_pairs(concepts, _all_trainable(concepts), 50, seed=0)
    assert time.perf_counter() - start < 1
    assert len(pairs) == 50
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert pairs[:, 1].max() < 100_000


def test_preferred_pairs_have_the_fully_specified_name_of_the_concept_else_the_first():
    concepts = np.array([0, 0, 0, 1, 2, 2, 2, 2])
    trainable = np.array([False, True, True, True, True, False, True, True])
    specified = np.array([True, False, False, True, False, True, False, True])
    pairs = preferred_pairs(concepts, trainable, specified, 50, 0)
    assert pairs.tolist() == [[1, 2], [7, 4], [7, 6]]
    (only,) = preferred_pairs(concepts[4:], trainable[4:], specified[4:], 1, 0).tolist()
    assert only in ([3, 0], [3, 2])


@pytest.mark.parametrize(("tty", "anchor"), [("FSN", "b"), ("FN", "b"), ("SY", "a")])
def test_term_types_tell_which_name_is_fully_specified(tmp_path, tty, anchor):
    names = (Name("a", tty="PT"), Name("b", tty=tty), Name("c", tty="SY"))
    kb = kb_of(tmp_path / "x.kb", [Concept("C1", "a", names)])
    read = read_names(kb)
    pairs = pair_up(kb, read, DataSettings(pairs="preferred"), 0)
    assert read.texts_at(pairs[:, 0]) == [anchor] * 2
