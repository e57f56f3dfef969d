"""Ranks and figures on held-out names."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from training.choosing.validation import measure, rank, shortlist


def _unit(n: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(n, 5)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@given(st.lists(st.integers(1, 4), min_size=2, max_size=8), st.integers(1, 9), st.integers(0, 99))
def test_rank_counts_the_concepts_that_are_better(sizes, n, seed):
    rng = np.random.default_rng(seed)
    concepts = np.repeat(np.arange(len(sizes)) * 3, sizes)  # rows need not be consecutive
    names, queries = _unit(len(concepts), seed), _unit(n, seed + 1000)
    golds = rng.choice(concepts, n)
    ranks = rank(queries, golds, names, concepts)
    for query, gold, found in zip(queries, golds.tolist(), ranks.tolist(), strict=True):
        best = {
            concept: max(names[concepts == concept] @ query) for concept in set(concepts.tolist())
        }
        ahead = {concept: value - best[gold] for concept, value in best.items() if concept != gold}
        assert found == sum(
            lead > 1e-4 or (abs(lead) <= 1e-4 and concept < gold) for concept, lead in ahead.items()
        )


def test_equal_concepts_are_ranked_by_row():
    names = _unit(1, 0).repeat(3, axis=0)
    ranks = rank(names, np.array([4, 5, 9]), names, np.array([4, 5, 9]))
    assert ranks.tolist() == [0, 1, 2]


def test_many_queries_are_ranked_like_few():
    names, queries = _unit(30, 1), _unit(600, 2)
    concepts, golds = np.arange(30), np.random.default_rng(3).integers(30, size=600)
    whole = rank(queries, golds, names, concepts)
    halves = [
        rank(queries[part], golds[part], names, concepts) for part in np.split(np.r_[:600], 2)
    ]
    assert np.array_equal(whole, np.concatenate(halves))


def test_figures():
    figures = measure(np.array([0, 0, 4, 5, 19, 20, 100, 0]))
    assert figures["acc@1"] == 37.5
    assert figures["acc@5"] == 50.0
    assert figures["acc@20"] == 75.0
    assert figures["n"] == 8
    expected = (3 + 1 / 5 + 1 / 6 + 1 / 20 + 1 / 21 + 1 / 101) / 8
    assert abs(figures["mrr"] - expected) < 1e-4


@given(st.integers(1, 40), st.integers(0, 99))
def test_shortlist_has_the_nearest_and_the_right_names(k, seed):
    concepts = np.repeat(np.arange(10), 3)
    names, queries = _unit(30, seed), _unit(4, seed + 1000)
    golds = np.random.default_rng(seed).choice(10, 4)
    chosen = shortlist(queries, golds, names, concepts, k)
    assert (np.diff(chosen) > 0).all()
    nearest = np.argsort(-(queries @ names.T), axis=1)[:, :k]
    expected = {*nearest.ravel().tolist(), *np.flatnonzero(np.isin(concepts, golds)).tolist()}
    assert set(chosen.tolist()) == expected
