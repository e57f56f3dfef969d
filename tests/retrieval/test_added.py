"""Added names are found where the text is the name, dropped ones nowhere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_medlink.linking.tiers import Tiers
from spacy_medlink.retrieval.added import AddedNames, exact_index
from spacy_medlink.retrieval.dense import DenseIndex
from spacy_medlink.retrieval.mask import Mask
from tests.trigrams import ngram_index

WORDS = st.sampled_from(["fever", "Fever", "high fever", "heart attack", "attacks", "ab", "血圧"])
NAMES = st.lists(WORDS, min_size=1, max_size=8)
DIM = 8


def vectors_of(texts):
    """Make a vector of length 1 of each text, the same one each time."""
    seeds = (sum(text.encode()) for text in texts)
    found = np.stack([np.random.default_rng(seed).normal(size=DIM) for seed in seeds])
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def dense_of(names):
    return DenseIndex.build([vectors_of(names)], len(names), DIM, "Flat")


def _of(tier, index):
    return {"exact": index} if tier == "exact" else {"others": {tier: index}}


def search(tier, index, added, asked, k, mask=None):
    """Search one tier, as a linker with added names does."""
    tiers = Tiers(np.arange(100, dtype=np.int32), added=added, **_of(tier, index))
    texts, vectors = (asked, None) if tier != "dense" else ([""] * len(asked), asked)
    return tiers.search(texts, vectors, k, mask).hits[tier]


def found(hits):
    """List the (row, score) of each query; of rows that tie, which are found is a matter of k."""
    return [
        sorted((row, round(score, 4)) for row, score in zip(rows, scores, strict=True) if row >= 0)
        for rows, scores in zip(hits.rows.tolist(), hits.scores.tolist(), strict=True)
    ]


@settings(max_examples=100)
@given(NAMES, st.lists(WORDS, max_size=4), st.data())
def test_the_exact_tier_is_as_one_index_and_no_tier_finds_what_was_dropped(built, added, data):
    names, queries = [*built, *added], ["fever", "heart attacks", "ab"]
    rows = range(len(names))
    dropped = data.draw(st.sets(st.sampled_from(range(len(built)))))
    allowed = np.array([row not in dropped and data.draw(st.booleans()) for row in rows])
    tiers = {"exact": exact_index, "ngram": ngram_index, "dense": dense_of}
    own = AddedNames(added, len(built), dropped)
    left = np.array([row not in dropped for row in rows])
    for tier, make in tiers.items():
        known = names if tier == "exact" else built  # the others know added names after a build
        whole, first = make(known), make(built)
        asked = vectors_of(queries) if tier == "dense" else queries
        for mask in (left, allowed):
            expected = whole.search(asked, len(names), Mask.of(mask[: len(known)]))
            given_mask = None if mask is left else Mask.of(mask)
            hits = search(tier, first, own, asked, len(names), given_mask)
            assert found(hits) == found(expected)
        if tier != "exact":
            wanted = np.tile(np.array([-1, *rows]), (len(queries), 1))
            scores = own.scored(first.score(asked, own.built_rows(wanted)), wanted)
            expected = first.score(asked, np.where(wanted < len(built), wanted, -1))
            assert np.allclose(scores, np.where(wanted < len(built), expected, 1), atol=1e-5)


def test_dropped_names_cost_no_place():
    names = [f"fever {n}" for n in range(40)]
    own = AddedNames([], len(names), range(20))
    hits = search("ngram", ngram_index(names), own, ["fever"], 10)
    assert hits.rows.shape == (1, 10) and hits.rows.min() >= 20


@pytest.mark.parametrize("k", [1, 3])
def test_at_most_as_many_as_wanted(k):
    own = AddedNames(["fever"], 2)
    hits = search("exact", exact_index(["fever", "Fever"]), own, ["fever"], k)
    assert hits.rows.tolist() == [[0, 1, 2][:k]], "letter case makes no difference"
