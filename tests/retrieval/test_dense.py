"""The dense tier against products of matrices."""

import faiss
import numpy as np
import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.retrieval import dense, tuning
from spacy_medlink.retrieval.dense import DenseIndex
from spacy_medlink.retrieval.index_size import default_size, default_spec
from spacy_medlink.retrieval.mask import Mask
from spacy_medlink.retrieval.tuning import SearchSettings, tune
from tests.children import python_forks
from tests.mutants import damages, refused
from tests.retrieval.vectors import DIM, blocks, unit

TOLERANCE = 1e-6  # float32 products of 16 numbers
# How far a compressed vector's cosine may be from the true one, and the share of true neighbours
# that a search of five must find.
SPECS = {
    "Flat": (1e-6, 1.0), "HNSW16": (1e-6, 0.9), "SQ8": (0.02, 0.9), "HNSW16,SQ8": (0.02, 0.9),
    "IVF4,Flat": (1e-6, 1.0), "IVF4,SQ8": (0.02, 0.9), "IVF4,PQ8x4": (0.5, 0.2),
    "OPQ8,IVF4,PQ8x4": (0.5, 0.2), "IVF4,PQ8x4,RFlat": (1e-6, 0.75),
    "OPQ8,IVF4,PQ8x4,Refine(SQ8)": (0.02, 0.75), "PQ8x4,RFlat": (1e-6, 0.75),
    "PQ8x4fs,RFlat": (1e-6, 0.9), "IVF4,PQ8x4fs,RFlat": (1e-6, 0.75),
}  # fmt: skip


NAMES = unit(400)
QUERIES = np.concatenate([NAMES[:20], unit(20, seed=1)])


@pytest.fixture(scope="module")
def flat():
    return DenseIndex.build(blocks(NAMES), len(NAMES), DIM, "Flat")


def test_flat_search_is_the_product_of_matrices(flat):
    hits = flat.search(QUERIES, 10)
    cosines = QUERIES @ NAMES.T
    want = np.argsort(-cosines, axis=1, kind="stable")[:, :10]
    np.testing.assert_array_equal(hits.rows, want)
    np.testing.assert_allclose(
        hits.scores, np.take_along_axis(cosines, want, axis=1), atol=TOLERANCE
    )
    assert hits.scores.dtype == np.float32
    assert hits.rows.dtype == np.int64
    assert (len(flat), flat.dim) == (400, DIM)


def test_score_is_the_product_of_matrices(flat):
    rows = np.random.default_rng(2).integers(-1, 400, (len(QUERIES), 7))
    want = np.where(rows >= 0, np.einsum("nd,nmd->nm", QUERIES, NAMES[rows]), 0)
    scores = flat.score(QUERIES, rows)
    np.testing.assert_allclose(scores, want, atol=TOLERANCE)
    assert (scores[rows < 0] == 0).all()


@pytest.mark.parametrize("spec", SPECS)
def test_each_kind_of_index(tmp_path, spec):
    error, share = SPECS[spec]
    built = DenseIndex.build(blocks(NAMES), len(NAMES), DIM, spec)
    built.save(tmp_path / "index.faiss")
    index = DenseIndex.load(tmp_path / "index.faiss")
    assert (len(index), index.dim) == (400, DIM)
    hits = index.search(QUERIES, 5)
    np.testing.assert_array_equal(hits.rows, built.search(QUERIES, 5).rows)
    cosines = QUERIES @ NAMES.T
    want = np.argsort(-cosines, axis=1)[:, :5]
    found = [len(set(own) & set(true)) / 5 for own, true in zip(hits.rows, want, strict=True)]
    assert np.mean(found) >= share
    # What search and score say of the same name is the same, and near the truth.
    scores = index.score(QUERIES, hits.rows)
    np.testing.assert_allclose(scores, hits.scores, atol=1e-5)
    np.testing.assert_allclose(scores, np.take_along_axis(cosines, hits.rows, axis=1), atol=error)
    assert (hits.rows[:20, 0] == np.arange(20)).mean() >= share


def test_a_name_is_found_in_whatever_list_it_is():
    """A single probe would see one list in 64."""
    vectors = unit(64 * 40)
    index = DenseIndex.build(blocks(vectors), len(vectors), DIM, "IVF64,Flat")
    want = np.argsort(-(QUERIES @ vectors.T), axis=1)[:, :5]
    rows = index.search(QUERIES, 5).rows
    assert np.mean([len(set(own) & set(true)) for own, true in zip(rows, want, strict=True)]) > 4.5


@pytest.mark.parametrize("spec", ["IVF4,SQ8", "IVF4,PQ8x4", "HNSW16,SQ8", "IVF4,PQ8x4,RFlat"])
def test_training_can_be_taken_over(tmp_path, spec):
    old = DenseIndex.build(blocks(NAMES), len(NAMES), DIM, spec)
    old.save(tmp_path / "old.faiss")
    few = NAMES[100:120]  # too few to train on
    index = DenseIndex.build(blocks(few), len(few), DIM, spec, like=tmp_path / "old.faiss")
    assert len(index) == 20
    assert len(DenseIndex.load(tmp_path / "old.faiss")) == 400
    np.testing.assert_allclose(
        index.vectors(np.arange(20)), old.vectors(np.arange(100, 120)), atol=TOLERANCE
    )


@pytest.mark.parametrize("spec", ["IVF8,Flat", "OPQ8,IVF8,PQ8x4,RFlat", "IVF8,PQ8x4fs,Refine(SQ8)"])
def test_a_graph_finds_the_lists_of_many(tmp_path, monkeypatch, spec):
    monkeypatch.setattr(tuning, "_MANY_LISTS", 8)
    index = DenseIndex.build(blocks(NAMES), len(NAMES), DIM, spec)
    index.save(tmp_path / "index")
    index = DenseIndex.load(tmp_path / "index")
    lists = faiss.extract_index_ivf(index._index)
    exact = faiss.downcast_index(lists.quantizer)
    assert isinstance(exact, faiss.IndexFlat)  # not the graph, which served the build
    # The graph of eight centroids finds the nearest one, except by rare chance.
    wanted = exact.search(transformed(index._index, NAMES), 1)[1][:, 0]
    given = np.full(len(NAMES), -1)
    for number in range(lists.nlist):
        size = lists.invlists.list_size(number)
        given[faiss.rev_swig_ptr(lists.invlists.get_ids(number), size)] = number
    assert (given == wanted).mean() > 0.97
    index.tune(SearchSettings(nprobe=8, k_factor=40))
    assert (index.search(NAMES, 1).rows[:, 0] == np.arange(len(NAMES))).mean() > 0.97


def transformed(index, vectors):
    index = faiss.downcast_index(index)
    if isinstance(index, faiss.IndexRefine):
        return transformed(index.base_index, vectors)
    is_rotated = isinstance(index, faiss.IndexPreTransform)
    return index.chain.at(0).apply(vectors) if is_rotated else vectors


def test_training_with_too_few_vectors_for_many_lists(monkeypatch):
    monkeypatch.setattr(tuning, "_MANY_LISTS", 8)
    with pytest.raises(MedlinkError, match="E209"):
        DenseIndex.build(blocks(NAMES[:5]), 5, DIM, "IVF8,Flat")


def test_a_refinement_that_scores_all_anew_is_exact(flat):
    index = DenseIndex.build(blocks(NAMES), 400, DIM, "IVF4,PQ8x4,RFlat")
    assert index.settings == SearchSettings(nprobe=4, k_factor=8)
    want = flat.search(QUERIES, 5)
    index.tune(SearchSettings(k_factor=1))
    assert (index.search(QUERIES, 5).rows == want.rows).mean() < 0.9
    index.tune(SearchSettings(k_factor=80))
    assert index.settings == SearchSettings(nprobe=4, k_factor=80)
    np.testing.assert_array_equal(index.search(QUERIES, 5).rows, want.rows)


@pytest.mark.parametrize("spec", ["IVF4,PQ8x4,RFlat", "OPQ8,IVF4,PQ8x4", "OPQ8,HNSW8"])
def test_filters_within_rotation_and_refinement(monkeypatch, spec):
    monkeypatch.setattr(dense, "_FEW", 10)
    asked = []
    monkeypatch.setattr(dense, "search_rows", lambda *given: asked.append(given))
    index = DenseIndex.build(blocks(NAMES), 400, DIM, spec)
    mask = Mask.of(np.arange(400) % 3 == 0)
    hits = index.search(QUERIES, 5, mask)
    assert mask.passes(hits.rows).all()
    assert not asked, "faiss left nothing out"
    cosines = np.where(mask.passes(np.arange(400)), QUERIES @ NAMES.T, -1)
    best = np.argsort(-cosines, axis=1)[:, :5]
    share = np.mean([len(set(a) & set(b)) / 5 for a, b in zip(hits.rows, best, strict=True)])
    assert share > {"IVF4,PQ8x4,RFlat": 0.75, "OPQ8,IVF4,PQ8x4": 0.2, "OPQ8,HNSW8": 0.3}[spec]


@pytest.mark.parametrize("spec", ["Flat", "IVF1,PQ8x4fs,RFlat", "IVF2,PQ8x4,Refine(SQ8)"])
def test_k_larger_than_the_index(spec):
    index = DenseIndex.build([NAMES[:20]], 20, DIM, spec)
    hits = index.search(QUERIES[:2], 30)
    assert hits.rows.shape == (2, 30)
    assert (np.sort(hits.rows[:, :20]) == np.arange(20)).all()
    assert (hits.rows[:, 20:] == -1).all()
    assert np.isneginf(hits.scores[:, 20:]).all()
    assert np.isfinite(hits.scores[:, :20]).all()


def test_nothing_in_nothing_out(flat):
    none = np.empty((0, DIM), np.float32)
    assert flat.search(none, 5).rows.shape == (0, 5)
    assert flat.score(none, np.empty((0, 5), np.int64)).shape == (0, 5)
    assert flat.score(QUERIES, np.empty((40, 0), np.int64)).shape == (40, 0)
    assert (flat.score(QUERIES[:1], np.array([[-1, -1]])) == 0).all()


def test_a_vector_scores_the_same_alone_and_among_others(flat):
    together = flat.search(QUERIES, 10)
    for place, query in enumerate(QUERIES):
        alone = flat.search(query[None], 10)
        np.testing.assert_array_equal(alone.rows[0], together.rows[place])
        np.testing.assert_allclose(alone.scores[0], together.scores[place], atol=TOLERANCE)


@pytest.mark.parametrize("spec", ["nonsense", "IVF4000,Flat", "PQ7", "", "LSH"])
def test_strings_that_faiss_refuses(spec):
    with pytest.raises(MedlinkError, match=r"E209.*400 names of 16 dimensions"):
        DenseIndex.build(blocks(NAMES), 400, DIM, spec)


def test_an_error_of_the_encoder_is_not_blamed_on_the_string():
    def broken():
        yield NAMES
        raise RuntimeError("out of memory")

    for spec in ("Flat", "SQ8"):
        with pytest.raises(RuntimeError, match=r"^out of memory"):
            DenseIndex.build(broken(), 800, DIM, spec)


@damages(("dense.faiss", ("gone", "empty", "half", "cut", "long garbage")))
def test_damaged_files(tmp_path, flat, file, how):
    flat.save(tmp_path / file)
    refused(tmp_path / file, how, DenseIndex.load, tmp_path / file)


def test_a_place_that_cannot_be_written(tmp_path, flat):
    with pytest.raises(OSError, match="could not open"):
        flat.save(tmp_path / "missing" / "dense.faiss")


ASK = """
import faiss
import numpy as np
from spacy_medlink.retrieval.dense import DenseIndex
vectors = np.random.default_rng(0).normal(size=(5000, 16)).astype(np.float32)
index = DenseIndex.build([vectors], 5000, 16, "Flat")
rows = np.zeros((300, 8), dtype=np.int64)
def ask():
    for n in (1, 30, 300):
        index.search(vectors[:n], 8)
        index.score(vectors[:n], rows[:n])
    return True
"""


def test_a_forked_child_can_search_after_its_parent_has():
    python_forks(ASK)


def test_training_takes_a_sample():
    seen = []

    def stream():
        for chunk in blocks(NAMES, 50):
            seen.append(len(chunk))
            yield chunk

    index = DenseIndex.build(stream(), 400, DIM, "IVF4,SQ8", training_sample=200)
    assert len(index) == sum(seen) == 400
    rows = np.arange(400)
    assert np.abs(index.vectors(rows) - NAMES).mean() < 0.01


@pytest.mark.parametrize(
    ("names", "dim", "spec"),
    [(1, 384, "Flat"), (20_000, 384, "Flat"), (20_001, 384, "PQ96x4fs,RFlat"),
     (500_000, 384, "PQ96x4fs,RFlat"), (500_000, 50, "Flat"), (500_001, 768, "HNSW32,SQ8"),
     (2_000_001, 384, "IVF8192,PQ96x4fs,Refine(SQ8)"), (2_000_001, 50, "HNSW32,SQ8")],
)  # fmt: skip
def test_the_default_index_follows_the_number_of_names(names: int, dim: int, spec: str) -> None:
    assert default_spec(names, dim) == spec
    faiss.index_factory(dim, spec, faiss.METRIC_INNER_PRODUCT)


@pytest.mark.parametrize(
    ("names", "dim"), [(3_000, 384), (20_001, 8), (600_000, 8), (2_000_001, 8)]
)
def test_the_size_of_the_default_index_is_known_beforehand(names: int, dim: int) -> None:
    size = default_size(names, dim)
    assert size.memory <= size.disk
    if names < 30_000:
        vectors = np.random.default_rng(0).standard_normal((names, dim), dtype=np.float32)
        index = DenseIndex.build([vectors], names, dim, size.spec)
        assert size.disk == pytest.approx(len(faiss.serialize_index(index._index)), rel=0.01)


@pytest.mark.parametrize(("lists", "read"), [(8, 8), (64, 64), (2048, 128)])
def test_the_lists_that_are_read_follow_their_number(lists: int, read: int) -> None:
    index = faiss.index_factory(4, f"IVF{lists},Flat", faiss.METRIC_INNER_PRODUCT)
    tune(index, SearchSettings(), keep=False)
    assert SearchSettings.of(index).nprobe == read
