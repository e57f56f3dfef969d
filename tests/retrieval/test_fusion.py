"""Fusion and ranking against a plain re-implementation."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spacy_medlink.retrieval.concepts import merge_forms, rank_concepts
from spacy_medlink.retrieval.fusion import fuse
from spacy_medlink.types import Candidate

NAME_CONCEPT = np.array([0, 0, 0, 1, 2, 2, 3, 3, 3, 3, 4], dtype=np.int32)
PREFERRED = {0, 3, 4, 6, 10}
STEP = 1e-4  # scores are compared as multiples of it

# Few different values, so that ties are frequent.
SCORES = st.sampled_from([-0.5, 0.0, 0.3, 0.3 + STEP / 10, 0.95, 1.0])
CELL = st.tuples(st.integers(-1, len(NAME_CONCEPT) - 1), SCORES, SCORES)
TABLE = st.integers(0, 8).flatmap(
    lambda width: st.lists(st.lists(CELL, min_size=width, max_size=width), max_size=3)
)


def as_arrays(table):
    width = len(table[0]) if table else 0
    shape = (len(table), width)
    columns = [
        np.array([[cell[part] for cell in row] for row in table], dtype=kind).reshape(shape)
        for part, kind in ((0, np.int64), (1, np.float32), (2, np.float32))
    ]
    return columns[0], {"exact": columns[1], "dense": columns[2]}


def ranked(cells, weights, k):
    """(concept, name row, fused score) of each concept by its best name, best first."""

    def order(cell):
        row, exact, _ = cell
        return (-round(score(cell) / STEP), -round(exact * 1000), row not in PREFERRED, row)

    def score(cell):
        return np.float32(weights["exact"] * cell[1] + weights["dense"] * cell[2])

    found = {}
    for cell in sorted((cell for cell in cells if cell[0] >= 0), key=order):
        found.setdefault(int(NAME_CONCEPT[cell[0]]), (cell[0], float(score(cell))))
    return [(concept, row, fused) for concept, (row, fused) in found.items()][:k]


@given(TABLE, st.integers(1, 6), st.sampled_from([(0.1, 0.9), (0.5, 0.5), (0.0, 1.0)]))
@example([[(-1, 1.0, 1.0), (2, 0.0, -0.5), (-1, 0.0, 0.0)]], 3, (0.5, 0.5))
def test_ranking_agrees_with_a_plain_one(table, k, both):
    weights = dict(zip(("exact", "dense"), both, strict=True))
    # As float32 products, in the order in which fuse adds.
    rows, scores = as_arrays(table)
    fused = fuse(scores, weights)
    table = [
        [(row, float(scores["exact"][y, x]), float(scores["dense"][y, x])) for x, (row, *_) in
         enumerate(cells)] for y, cells in enumerate(table)
    ]  # fmt: skip
    rankings = rank_concepts(rows, fused, scores, NAME_CONCEPT, k)
    assert len(rankings) == len(table)
    for ranking, cells in zip(rankings, table, strict=True):
        want = ranked(cells, weights, k)
        assert [(one.row, one.name_row) for one in ranking] == [(c, n) for c, n, _ in want]
        for one, (_, _, score) in zip(ranking, want, strict=True):
            assert one.score == pytest.approx(score, abs=1e-6)
            assert (one.name_row, one.scores["exact"], one.scores["dense"]) in cells
            assert one.prob is None


def test_fuse_adds_the_tiers_that_have_a_weight():
    scores = {"exact": np.ones((2, 3), np.float32), "dense": np.full((2, 3), 0.5, np.float32)}
    fused = fuse(scores, {"dense": 2.0, "ngram": 7.0})
    assert fused.dtype == np.float32
    np.testing.assert_array_equal(fused, np.ones((2, 3)))
    np.testing.assert_array_equal(fuse(scores, {"exact": 0.5, "dense": 1}), np.ones((2, 3)))


def test_nothing_in_nothing_out():
    none = np.empty((0, 0), np.float32)
    assert rank_concepts(np.empty((0, 0), np.int64), none, {}, NAME_CONCEPT, 3) == []
    rows, fused = np.empty((2, 0), np.int64), np.empty((2, 0), np.float32)
    assert rank_concepts(rows, fused, {"dense": fused}, NAME_CONCEPT, 3) == [[], []]
    assert merge_forms([], 3) == merge_forms([[], []], 3) == []


CANDIDATES = st.lists(
    st.builds(Candidate, st.integers(0, 4), st.integers(0, 9), SCORES, st.just({})), max_size=5,
    unique_by=lambda one: one.row,
)  # fmt: skip


@given(st.lists(CANDIDATES, max_size=3), st.integers(1, 5))
def test_merged_forms_keep_the_best_of_each_concept(rankings, k):
    merged = merge_forms(rankings, k)
    best = {}
    for one in (one for ranking in rankings for one in ranking):
        best[one.row] = max(best.get(one.row, -9), one.score)
    assert len(merged) == min(k, len(best))
    assert len({one.row for one in merged}) == len(merged)
    for one in merged:
        assert one.score == pytest.approx(best[one.row], abs=STEP)
    scores = [one.score for one in merged]
    assert all(after <= before + STEP for before, after in pairwise(scores))
    left_out = [score for row, score in best.items() if row not in {one.row for one in merged}]
    assert not left_out or max(left_out) <= scores[-1] + STEP


def test_the_first_form_wins_ties():
    first, second = Candidate(1, 3, 0.9, {}), Candidate(2, 4, 0.9, {})
    assert merge_forms([[first], [second]], 2) == [first, second]
    assert merge_forms([[second], [first]], 2) == [second, first]
    assert merge_forms([[first], [Candidate(1, 9, 0.9, {})]], 2) == [first]
