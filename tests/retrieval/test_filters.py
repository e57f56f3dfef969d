"""Filters inside the search, in every tier, against plain loops over all names."""

from functools import cache, lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, build_kb
from spacy_medlink.retrieval import dense
from spacy_medlink.retrieval.dense import DenseIndex
from spacy_medlink.retrieval.exact import ExactIndex
from spacy_medlink.retrieval.facets import Facets
from spacy_medlink.retrieval.filters import Filter, NameFilters, select
from spacy_medlink.retrieval.mask import Mask
from spacy_medlink.types import Concept, Name, Retired
from spacy_medlink.util.files import OwnedDirectory
from tests.tables import table
from tests.trigrams import ngram_index

WORDS = ("fever", "cough", "pain", "ache", "acute", "mild", "head", "knee")
TYPES, LANGS, SOURCES = ("T047", "T184", "T121"), ("en", "de", "es"), ("A", "B", "C")
DIM = 8

NAMES = st.builds(
    lambda words, lang, sources: Name(" ".join(words), lang, "|".join(sources)),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
    st.sampled_from(LANGS),
    st.lists(st.sampled_from(SOURCES), min_size=1, max_size=2, unique=True),
)
CONCEPTS = st.lists(
    st.tuples(
        st.lists(NAMES, min_size=1, max_size=4, unique_by=lambda name: (name.text, name.lang)),
        st.lists(st.sampled_from(TYPES), max_size=2, unique=True),
    ),
    min_size=2, max_size=9,
)  # fmt: skip


def some(values):
    return st.lists(st.sampled_from(values), max_size=2)


# Concepts hang in a heap: X:3 and X:4 below X:1, that and X:2 below X:0.
WITHIN = {
    "<< X:1": {1, 3, 4, 7, 8}, "< X:0 MINUS < X:1": {1, 2, 5, 6}, "> X:1 OR X:1": {0, 1},
}  # fmt: skip
FILTERS = st.builds(
    Filter.of, types=some((*TYPES[:2], "CHEM", "DISO")), languages=some(LANGS),
    sources=some(SOURCES), allow=some([f"X:{n}" for n in range(9)]),
    deny=some([f"X:{n}" for n in range(9)]), within=st.sampled_from(["", *WITHIN]),
)  # fmt: skip
GROUPS = {"CHEM": "T121", "DISO": ("T047", "T184")}


class World:
    """A knowledge base with every tier over it."""

    def __init__(self, concepts):
        self.directory = OwnedDirectory("filters-")
        path = self.directory.path / "kb"
        records = [
            Concept(f"X:{row}", names[0].text, tuple(names), tuple(types),
                    parents=(f"X:{(row - 1) // 2}",) if row else ())
            for row, (names, types) in enumerate(concepts)
        ]  # fmt: skip
        build_kb(path, records)
        self.kb = KnowledgeBase(path)
        texts = list(self.kb.iter_texts())
        self.facets = Facets.of(self.kb)
        self.concept = self.kb.name_concepts()
        self.filters = NameFilters(self.kb, self.facets, self.concept)
        self.exact = ExactIndex.build(self.kb.lookup_table(), texts)
        self.ngram = ngram_index(texts)
        self.vectors = np.stack([vector(text) for text in texts])

    def passes(self, one, row):
        """What the filter means, in plain words."""
        concept = self.kb.concept_at(int(self.concept[row]))
        name = self.kb.name_at(row)
        wanted = {type for text in one.types for type in GROUPS.get(text, (text,))}
        wanted |= {"T121"} if "CHEM" in one.types else set()
        return (
            (not one.types or not wanted.isdisjoint(concept.types))
            and (not one.languages or name.lang in one.languages)
            and (not one.sources or not set(one.sources).isdisjoint(name.source.split("|")))
            and (not one.allow or concept.id in one.allow)
            and concept.id not in one.deny
            and (not one.within or concept.row in WITHIN[one.within])
        )


@lru_cache(maxsize=10_000)
def vector(text):
    own = np.random.default_rng(list(text.encode()))
    values = own.normal(size=DIM).astype(np.float32)
    return values / np.linalg.norm(values)


def usable(world, one):
    """Leave out of a filter the languages, sources and types that this knowledge base has not."""
    sources = {part for many in world.facets.sources for part in many.split("|")}
    return Filter.of(
        types=one.types, allow=one.allow, deny=one.deny, within=one.within,
        languages=[lang for lang in one.languages if lang in world.facets.langs],
        sources=[source for source in one.sources if source in sources],
    )  # fmt: skip


@settings(max_examples=40)
@given(CONCEPTS, FILTERS, FILTERS, st.integers(1, 12))
def test_every_tier_equals_brute_force(concepts, one, other, k):
    world = World(concepts)
    one, other = usable(world, one), usable(world, other)
    rows = range(world.kb.n_names)
    passing = [row for row in rows if world.passes(one, row) and world.passes(other, row)]
    mask = world.filters.mask(select(one, other))
    if mask is None:
        assert not one and not other
        return
    assert mask.rows().tolist() == passing
    assert mask.count == len(passing)
    texts = ["fever", "mild head ache", "knee", *list(world.kb.iter_texts())[:3]]
    n = world.kb.n_names
    for index, everything in ((world.exact, world.exact.search(texts, n)),
                              (world.ngram, world.ngram.search(texts, n))):  # fmt: skip
        found = index.search(texts, k, mask)
        for own, scores, all_rows, all_scores in zip(*found, *everything, strict=True):
            score_of = dict(zip(all_rows.tolist(), all_scores.tolist(), strict=True))
            want = [score for row, score in score_of.items() if row in passing][:k]
            got = own[own >= 0].tolist()
            # Which of those that tie for the last place are in is open.
            assert scores[own >= 0].tolist() == pytest.approx(want)
            assert [score_of[row] for row in got] == pytest.approx(want)
            assert set(got) <= set(passing)
    index = DenseIndex.build([world.vectors], n, DIM, "Flat")
    queries = np.stack([vector(text) for text in texts])
    hits = index.search(queries, k, mask)
    assert hits.rows.shape == (len(texts), k)
    for own, query in zip(hits.rows, queries, strict=True):
        cosines = world.vectors[passing] @ query if passing else np.empty(0)
        order = np.lexsort((passing, -cosines))[:k]
        got = own[own >= 0]
        assert len(got) == min(k, len(passing)), "k answers come back whenever k exist"
        np.testing.assert_allclose(world.vectors[got] @ query, cosines[order], atol=1e-6)


@cache
def index_of(spec):
    vectors = np.random.default_rng(5).normal(size=(1500, DIM)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors, DenseIndex.build([vectors], len(vectors), DIM, spec)


@table(__file__, "every_kind_of_index_fills_k")
@pytest.mark.parametrize("share", [0.002, 0.1, 0.9])
@pytest.mark.parametrize("few", [0, 10_000])
def test_every_kind_of_index_fills_k(monkeypatch, spec, share, few):
    """Asked through faiss or compared one by one: always k answers, and only those that may be."""
    monkeypatch.setattr(dense, "_FEW", few)
    vectors, index = index_of(spec)
    allowed = np.random.default_rng(6).random(1500) < share
    hits = index.search(vectors[:20], 25, Mask.of(allowed))
    wanted = min(25, int(allowed.sum()))
    assert ((hits.rows >= 0).sum(axis=1) == wanted).all()
    assert allowed[hits.rows[hits.rows >= 0]].all()
    stored = index.vectors(np.arange(1500))
    cosines = np.where(allowed, vectors[:20] @ stored.T, -np.inf)
    best = -np.sort(-cosines, axis=1)[:, :wanted]
    if few or spec in ("Flat", "SQ8", "PQ8x4"):
        np.testing.assert_allclose(hits.scores[:, :wanted], best, atol=1e-3)
    else:
        near = np.isclose(hits.scores[:, :wanted], best, atol=1e-3).mean() if wanted else 1
        assert near > 0.6


@pytest.fixture(scope="module")
def tiny_filters(tiny_kb):
    facets = Facets.of(tiny_kb)
    return NameFilters(tiny_kb, facets, tiny_kb.name_concepts())


@table(__file__, "what_nothing_has_is_refused_with")
def test_what_nothing_has_is_refused_with_the_near_ones(tiny_filters, given_filter, what):
    with pytest.raises(MedlinkError, match=rf"E213.*{what}"):
        tiny_filters.mask(select(Filter.of(**given_filter)))


def test_types_of_the_umls_and_unknown_ids_leave_nothing(tiny_filters):
    for given_filter in ({"types": ["GEOG"]}, {"types": ["T116"]}, {"allow": ["no such id"]}):
        mask = tiny_filters.mask(select(Filter.of(**given_filter)))
        assert (mask.count, mask.rows().tolist()) == (0, [])


@pytest.mark.parametrize(
    ("name", "code"),
    [("Disease or Syndrome", "T047"), ("disease or syndrome", "T047"), ("Disorders", "DISO"),
     ("Geographic Area", "T083")],
)  # fmt: skip
def test_types_by_name(tiny_filters, name, code):
    by_name, by_code = (tiny_filters.mask(select(Filter.of(types=[one]))) for one in (name, code))
    assert (by_name.bits == by_code.bits).all() and by_name.count == by_code.count


def test_retired_ids_are_followed(tiny_filters, tiny_kb):
    retired = next(one for one in tiny_kb.retired() if isinstance(one, Retired))
    old, new = (tiny_filters.mask(select(Filter.of(allow=[id]))) for id in retired[:2])
    assert old.count == len(tiny_kb[retired.replaced_by].names)
    assert (old.bits == new.bits).all()


def test_masks_are_made_once_and_bounded(tiny_filters, monkeypatch):
    one = select(Filter.of(languages=["de"]))
    assert tiny_filters.mask(one) is tiny_filters.mask(select(Filter.of(languages=["de", "de"])))
    assert tiny_filters.mask(()) is None
    for n in range(200):
        tiny_filters.mask(select(Filter.of(deny=[f"X:{n}"])))
    assert len(tiny_filters._masks) <= 64


def test_facets_survive_saving(tiny_kb, tmp_path):
    facets = Facets.of(tiny_kb)
    facets.save(tmp_path / "facets")
    loaded = Facets.load(tmp_path / "facets")
    for before, after in zip(facets, loaded, strict=True):
        np.testing.assert_array_equal(before, after)
    (tmp_path / "facets" / "labels.json").write_text("{")
    with pytest.raises(MedlinkError, match="E202"):
        Facets.load(tmp_path / "facets")


def test_concepts_of_many_names_come_first_then_the_alphabet_of_ids(tiny_kb):
    places = Facets.of(tiny_kb).concept_order
    ids = list(tiny_kb.iter_ids())

    def rule(id):
        names = tiny_kb[id].names
        return (
            -len(names),
            -len({source for name in names for source in name.source.split("|")}),
            id,
        )

    wanted = sorted(ids, key=rule)
    assert wanted != sorted(ids)
    assert [id for _, id in sorted(zip(places, ids, strict=True))] == wanted


def test_vectors_that_are_not_finite_are_refused():
    vectors = np.eye(4, dtype=np.float32)
    index = DenseIndex.build([vectors], 4, 4, "Flat")
    broken = vectors.copy()
    broken[2, 1] = np.nan
    with pytest.raises(MedlinkError, match=r"E208.*1 vectors.*number 3"):
        index.search(broken, 2)
    with pytest.raises(MedlinkError, match="E208"):
        DenseIndex.build([broken], 4, 4, "Flat")


@pytest.mark.parametrize("rows", [[], [2], [0, 8], [*range(9)]])
def test_a_mask_without_some_rows_allows_the_others(rows: list[int]) -> None:
    mask = Mask.without(rows, 9)
    allowed = [row for row in range(9) if row not in rows]
    assert mask.rows().tolist() == [row for row in range(9) if row in mask] == allowed
