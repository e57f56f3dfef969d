"""How much of what is nearest an index finds, which a build measures."""

import numpy as np
import pytest

from spacy_medlink.assets.recall import RecallProbe
from spacy_medlink.retrieval.dense import DenseIndex
from spacy_medlink.types import Hits
from tests.retrieval.vectors import unit


@pytest.mark.parametrize("chunk", [7, 100, 1000])
def test_names_with_the_same_vector_are_as_good(chunk):
    """The 25th nearest has forty twins: an index may give any of them."""
    vectors = np.vstack([unit(80), np.repeat(unit(1), 40, axis=0)])
    probe = RecallProbe(vectors[-3:])
    for _ in probe.watch(vectors[start : start + chunk] for start in range(0, 120, chunk)):
        pass
    turned = vectors[::-1].copy()
    index = DenseIndex.build([vectors], 120, 16, "Flat")
    assert probe.measure(index)["recall@25"] == 1
    assert probe.measure(DenseIndex.build([turned], 120, 16, "Flat"))["recall@25"] < 0.7


@pytest.mark.parametrize("chunk", [7, 100, 1000])
def test_more_names_with_the_same_vector_than_are_asked_for(chunk):
    """A hundred and fifty twins: an index that gives the last of them has found the nearest."""
    vectors = np.vstack([np.repeat(unit(1), 150, axis=0), unit(80)[1:]])
    probe = RecallProbe(vectors[:2])
    for _ in probe.watch(vectors[start : start + chunk] for start in range(0, 229, chunk)):
        pass

    class Last:
        def search(self, queries, k):
            return Hits(np.tile(np.arange(149, 149 - k, -1), (2, 1)), np.ones((2, k), np.float32))

    assert probe.measure(Last()) == {"queries": 2, "recall@1": 1.0, "recall@25": 1.0}
    assert probe.measure(DenseIndex.build([vectors], 229, 16, "Flat"))["recall@25"] == 1


@pytest.mark.parametrize("chunk", [3, 10, 50])
def test_the_probe_is_brute_force(chunk):
    vectors, queries = unit(50), unit(50)[:9]
    probe = RecallProbe(queries)
    for _ in probe.watch(vectors[start : start + chunk] for start in range(0, 50, chunk)):
        pass
    order = np.argsort(-(queries @ vectors.T), axis=1)

    class Shifted:
        def __init__(self, by):
            self.by = by

        def search(self, queries, k):
            rows = order[:, self.by : self.by + k]
            return Hits(rows, np.zeros(rows.shape, np.float32))

    for by in (0, 1, 5, 25):
        assert probe.measure(Shifted(by))["recall@25"] == (25 - by) / 25
    assert probe.measure(Shifted(1))["recall@1"] == 0


def test_fewer_names_than_are_counted():
    vectors = unit(4)
    probe = RecallProbe(vectors[:2])
    for _ in probe.watch([vectors[:3], vectors[3:]]):
        pass
    index = DenseIndex.build([vectors], 4, 16, "Flat")
    assert probe.measure(index) == {"queries": 2, "recall@1": 1.0, "recall@25": 1.0}
