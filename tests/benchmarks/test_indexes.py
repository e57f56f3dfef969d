"""The benchmark of indices measures what it says."""

import numpy as np
import pytest

from benchmarks.indexes import measure, table
from spacy_medlink.building.recall import RecallProbe
from spacy_medlink.retrieval.dense import DenseIndex


def unit_vectors(n, dim=16):
    vectors = np.random.default_rng(0).normal(size=(n, dim)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_rows_and_table():
    vectors = unit_vectors(600)
    rows = measure(vectors, 50, 600, ["Flat", "HNSW8", "IVF4,PQ8x4"])
    by_kind = {row["index"]: row for row in rows}
    assert by_kind["Flat"]["recall@1"] == by_kind["Flat"]["recall@25"] == 1
    assert by_kind["HNSW8"]["recall@25"] > 0.9 > by_kind["IVF4,PQ8x4"]["recall@25"]
    results = {
        "indices": rows, "names": 600, "dim": 16, "queries": 50, "machine": {"cores": 2},
    }  # fmt: skip
    assert table(results).count("\n") == len(rows) + 3


@pytest.mark.parametrize("chunk", [7, 100, 1000])
def test_names_with_the_same_vector_are_as_good(chunk):
    """The 25th nearest has forty twins: an index may give any of them."""
    vectors = np.vstack([unit_vectors(80), np.repeat(unit_vectors(1, 16), 40, axis=0)])
    probe = RecallProbe(vectors[-3:])
    for _ in probe.watch(vectors[start : start + chunk] for start in range(0, 120, chunk)):
        pass
    turned = vectors[::-1].copy()
    index = DenseIndex.build([vectors], 120, 16, "Flat")
    assert probe.measure(index)["recall@25"] == 1
    assert probe.measure(DenseIndex.build([turned], 120, 16, "Flat"))["recall@25"] < 0.7
