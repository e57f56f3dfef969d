"""The index of a next release: it finds what an index finds that is filled anew."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.retrieval.dense import DenseIndex
from spacy_medlink.retrieval.tuning import SearchSettings
from spacy_medlink.types import Floats2d, Ints1d
from tests.retrieval.vectors import DIM, unit

SPECS = ["IVF4,PQ4x4fs,Refine(SQ8)", "IVF4,PQ4x4fs,RFlat"]
ALL = SearchSettings(nprobe=4, k_factor=1000)


@pytest.fixture(scope="module", params=SPECS)
def spec(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def old(spec: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("old") / "dense.faiss"
    DenseIndex.build([unit(200, 0)], 200, DIM, spec).save(path)
    return path


def _changes(rows: list[int], new: Floats2d, cuts: list[int]) -> Iterator[tuple[Ints1d, Floats2d]]:
    used = 0
    for start, end in pairwise([0, *cuts, len(rows)]):
        own = np.array(rows[start:end], dtype=np.int64)
        added = int((own < 0).sum())
        yield own, new[used : used + added]
        used += added


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(200)), st.integers(0, 200), st.integers(0, 60), st.randoms())
def test_it_finds_what_an_index_filled_anew_finds(
    spec, old, tmp_path_factory, order, kept, added, rng
):
    rows = [*order[:kept], *[-1] * added]
    rng.shuffle(rows)
    new = unit(added, 1)
    cuts = sorted(rng.sample(range(len(rows) + 1), min(2, len(rows))))
    index = DenseIndex.renumbered(old, _changes(rows, new, cuts), len(rows))
    assert len(index) == len(rows)
    if not rows:
        return
    vectors = np.empty((len(rows), DIM), np.float32)
    is_new = np.array(rows) < 0
    vectors[is_new] = new
    vectors[~is_new] = DenseIndex.load(old).vectors(np.array(rows)[~is_new])
    anew = DenseIndex.build([vectors], len(rows), DIM, spec, like=old)
    every = np.arange(len(rows))
    assert np.allclose(index.vectors(every), anew.vectors(every), atol=1e-6)

    path = tmp_path_factory.mktemp("new") / "dense.faiss"
    index.save(path)
    anew.tune(ALL)
    wanted = anew.search(unit(8, 2), 5)
    for own in (index, DenseIndex.load(path)):
        own.tune(ALL)
        hits = own.search(unit(8, 2), 5)
        assert hits.rows.max() < len(rows)
        assert np.allclose(hits.scores, wanted.scores, atol=1e-5)


def test_only_refined_lists_are_renumbered(tmp_path: Path) -> None:
    for spec in ["Flat", "SQ8", "HNSW8,SQ8", "IVF4,Flat", "PQ4x4fs,RFlat", "IVF4,Flat,RFlat"]:
        assert not DenseIndex.build([unit(200, 0)], 200, DIM, spec).can_renumber
    for spec in SPECS:
        assert DenseIndex.build([unit(200, 0)], 200, DIM, spec).can_renumber


def test_a_search_of_the_old_one_goes_on(old: Path) -> None:
    opened = DenseIndex.load(old)
    opened.tune(ALL)
    queries = unit(4, 3)
    before = opened.search(queries, 5)
    made = DenseIndex.renumbered(old, _changes([*range(100, 200)], unit(0, 1), []), 100)
    assert len(made) == 100
    assert (opened.search(queries, 5).rows == before.rows).all()
    assert faiss.downcast_index(opened._index).ntotal == 200


def test_a_damaged_old_one_is_refused(spec: str, tmp_path: Path) -> None:
    old = DenseIndex.build([unit(200, 0)], 200, DIM, spec)
    lists = faiss.downcast_index(faiss.downcast_index(old._index).base_index).invlists
    number = max(range(4), key=lists.list_size)
    for row in (-3, 4000):
        ids = faiss.rev_swig_ptr(lists.get_ids(number), lists.list_size(number))
        ids[0] = row
        old.save(tmp_path / "dense.faiss")
        with pytest.raises(MedlinkError, match=r"E202.*only 200 names"):
            DenseIndex.renumbered(
                tmp_path / "dense.faiss", _changes([*range(200)], unit(0, 1), []), 200
            )
