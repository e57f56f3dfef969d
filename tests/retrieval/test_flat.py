"""Vectors on a device find the rows that faiss finds on the processor, ties and filters too."""

import faiss
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.retrieval.dense import DenseIndex
from spacy_medlink.retrieval.flat import FlatVectors
from spacy_medlink.retrieval.mask import Mask
from spacy_medlink.util import devices
from tests.devices import DEVICES
from tests.retrieval.vectors import DIM, blocks, unit


def indexed(vectors: np.ndarray) -> DenseIndex:
    return DenseIndex.build(blocks(vectors), len(vectors), DIM, "Flat")


def moved(vectors: np.ndarray, device: str, block: int = 128) -> FlatVectors:
    return FlatVectors(blocks(vectors), len(vectors), DIM, torch.device(device), block)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("names", [1, 7, 128, 129, 1000])
@pytest.mark.parametrize("k", [1, 5, 200])
def test_the_same_rows_as_faiss(device, names, k):
    vectors, queries = unit(names), unit(50, 1)
    expected, found = indexed(vectors).search(queries, k), moved(vectors, device).search(queries, k)
    np.testing.assert_array_equal(found.rows, expected.rows)
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-6)
    assert found.rows.dtype == expected.rows.dtype == np.int64
    assert found.scores.dtype == np.float32


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("k", [3, 10, 40])
def test_of_equal_vectors_the_lower_rows_are_found(device, k):
    """Across blocks, too, and where the last place is tied."""
    few = unit(20)
    vectors = np.concatenate([few] * 30)
    hits = moved(vectors, device, block=64).search(few, k)
    twins = np.arange(20)[:, None] + 20 * np.arange(min(k, 30))
    np.testing.assert_array_equal(hits.rows[:, :30], twins)
    faiss_hits = indexed(vectors).search(few, min(k, 30))
    np.testing.assert_array_equal(np.sort(faiss_hits.rows, axis=1), twins)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_a_filter_acts_inside_the_search(device, share):
    vectors, queries = unit(1000), unit(30, 1)
    mask = Mask.of(np.random.default_rng(2).random(1000) < share)
    expected = indexed(vectors).search(queries, 12, mask)
    found = moved(vectors, device).search(queries, 12, mask)
    np.testing.assert_array_equal(found.rows, expected.rows)
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-6)


@given(
    st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=40),
    st.integers(1, 50),
    st.integers(1, 5),
)
def test_the_order_is_that_of_scores_then_rows(scores, k, step):
    vectors = np.zeros((len(scores), 1), dtype=np.float32)
    vectors[:, 0] = scores
    flat = FlatVectors([vectors], len(scores), 1, devices.CPU, block=8 * step)
    hits = flat.search(np.ones((1, 1), dtype=np.float32), k)
    order = sorted(range(len(scores)), key=lambda row: (-scores[row], row))[:k]
    padding = k - len(order)
    assert hits.rows[0].tolist() == order + [-1] * padding
    expected = [np.float32(scores[row]) for row in order] + [-np.inf] * padding
    assert hits.scores[0].tolist() == expected


@pytest.mark.parametrize("device", DEVICES)
def test_without_names_and_without_queries(device):
    none, two = np.empty((0, DIM), dtype=np.float32), unit(2)
    assert moved(none, device).search(two, 3).rows.tolist() == [[-1] * 3] * 2
    assert moved(two, device).search(none, 3).rows.shape == (0, 3)


@pytest.mark.parametrize("device", DEVICES)
def test_fewer_queries_at_once_where_memory_does_not_suffice(device, monkeypatch):
    flat, queries, sizes = moved(unit(500), device), unit(600, 1), []
    expected, search = flat.search(queries, 4), flat._search

    def small(queries: torch.Tensor, *rest: object) -> torch.Tensor:
        sizes.append(len(queries))
        if len(queries) > 100:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return search(queries, *rest)

    monkeypatch.setattr(flat, "_search", small)
    np.testing.assert_array_equal(flat.search(queries, 4).rows, expected.rows)
    assert sizes[:4] == [512, 256, 128, 64]


def test_an_index_moves_where_its_vectors_fit(monkeypatch):
    """The device is the processor's own, which the rule would never choose."""
    vectors, queries = unit(700), unit(9, 1)
    index = indexed(vectors)
    asked = []
    monkeypatch.setattr(devices, "fits", lambda size, device: asked.append(size) or True)
    expected = index.search(queries, 5)
    assert index.move(devices.CPU)._moved is not None
    assert asked == [4 * 700 * DIM]
    np.testing.assert_array_equal(index.search(queries, 5).rows, expected.rows)
    with pytest.raises(MedlinkError, match="E208"):
        index.search(np.full((1, DIM), np.nan, dtype=np.float32), 1)
    monkeypatch.setattr(devices, "fits", lambda size, device: False)
    assert index.move(devices.CPU)._moved is None


def test_an_index_of_codes_and_whole_vectors_moves(monkeypatch):
    vectors, queries = unit(700), unit(9, 1)
    index = DenseIndex.build(blocks(vectors), 700, DIM, f"PQ{DIM // 2}x4fs,RFlat")
    monkeypatch.setattr(devices, "fits", lambda size, device: True)
    assert index.move(devices.CPU)._moved is not None
    expected = indexed(vectors).search(queries, 5)
    np.testing.assert_array_equal(index.search(queries, 5).rows, expected.rows)
    np.testing.assert_allclose(index.search(queries, 5).scores, expected.scores, atol=1e-6)


@pytest.mark.parametrize("spec", ["HNSW16", "SQ8", "IVF4,Flat", "IVF4,PQ8x4,RFlat"])
def test_other_indices_stay_with_faiss(spec, monkeypatch):
    monkeypatch.setattr(devices, "fits", lambda size, device: True)
    index = DenseIndex.build(blocks(unit(400)), 400, DIM, spec)
    assert index.move(devices.CPU)._moved is None
    assert not index.is_flat


def test_without_memory_the_index_stays_where_it_is(monkeypatch):
    def full(self: DenseIndex, device: torch.device) -> None:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(devices, "fits", lambda size, device: True)
    monkeypatch.setattr(DenseIndex, "_move", full)
    index = indexed(unit(50))
    assert index.move(devices.CPU).place == "cpu"
    assert index.search(unit(2), 1).rows.tolist() == [[0], [1]]


def test_a_mapped_index_gives_its_vectors(tmp_path, monkeypatch):
    vectors = unit(300)
    indexed(vectors).save(tmp_path / "flat.faiss")
    monkeypatch.setattr(devices, "fits", lambda size, device: True)
    index = DenseIndex.load(tmp_path / "flat.faiss").move(devices.CPU)
    assert index._moved is not None
    np.testing.assert_array_equal(index._moved._vectors[:300].numpy(), vectors)
    assert isinstance(index._index, faiss.IndexFlat)


@pytest.mark.parametrize(("free", "wanted", "expected"), [(100, 75, True), (100, 76, False)])
def test_a_gpu_keeps_a_quarter_of_its_free_memory(monkeypatch, free, wanted, expected):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, 200))
    assert devices.fits(wanted, torch.device("cuda")) is expected
    assert not devices.fits(1, devices.CPU)
