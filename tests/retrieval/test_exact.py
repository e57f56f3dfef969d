"""The exact tier against a plain loop over all names."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.retrieval.exact import ExactIndex
from spacy_medlink.text.normalisation import hash_key, is_short_form, key
from spacy_medlink.util.hashes import positions
from tests.mapped import is_mapped
from tests.mutants import damages, refused

WORDS = st.sampled_from(
    ["fever", "Fever", "fevers", "FÉVER", "PE", "pe", "ALL", "all", "MI", "血圧", "type-2",
     "type 2", "Crohn's", "crohn", "---", "", "a b c", "a, b c", "😀", "a\ud800"]
)  # fmt: skip
NAMES = st.lists(WORDS, max_size=12)


def build(names):
    entries = [(hash_key(key(name)), row) for row, name in enumerate(names) if key(name)]
    signed = [(hash - (1 << 64) if hash >= 1 << 63 else hash, row) for hash, row in entries]
    return ExactIndex.build(iter(sorted(signed)), iter(names))


def expected(names, text, k):
    def score(name):
        if name == text or (name.casefold() == text.casefold() and not is_short_form(text)):
            return 1.0
        return 0.99 if name.casefold() == text.casefold() else 0.95

    found = [
        (score(name), row)
        for row, name in enumerate(names)
        if key(text) and key(name) == key(text) and (name == text or not is_short_form(name))
    ]
    return [(row, score) for score, row in sorted(found, key=lambda one: (-one[0], one[1]))][:k]


def as_lists(hits):
    return [
        [(row, round(score, 4)) for row, score in zip(rows, scores, strict=True) if row >= 0]
        for rows, scores in zip(hits.rows.tolist(), hits.scores.tolist(), strict=True)
    ]


@given(NAMES, st.lists(WORDS, max_size=5), st.integers(1, 4))
@example(["PE", "pe", "PE"], ["PE", "pe", "Pe"], 2)
@example([], ["fever"], 1)
def test_search_agrees_with_a_plain_loop(names, texts, k):
    hits = build(names).search(texts, k)
    assert as_lists(hits) == [expected(names, text, k) for text in texts]
    assert hits.rows.dtype == np.int64
    assert hits.scores.dtype == np.float32
    assert hits.rows.shape == hits.scores.shape == (len(texts), hits.rows.shape[1])
    assert ((hits.rows == -1) == np.isneginf(hits.scores)).all()
    for rows in (hits.rows >= 0).tolist():
        assert rows == sorted(rows, reverse=True), "padding before names"


@pytest.mark.parametrize("text", ["diabetes", "Diabetes", "DIABETES", "dIABETES"])
def test_letter_case_counts_for_short_forms_alone(text):
    assert as_lists(build(["diabetes", "Diabetes", "DIABETES"]).search([text])) == [
        [(0, 1.0), (1, 1.0), (2, 1.0)]
    ]
    short = build(["ALL", "all", "Fever"])
    assert as_lists(short.search(["ALL", "all", "All"])) == [
        [(0, 1.0), (1, 0.99)], [(1, 1.0)], [(1, 1.0)]
    ]  # fmt: skip
    assert as_lists(short.search(["FEVER"])) == [[(2, 0.99)]]


@given(NAMES, WORDS)
def test_rows_of_agrees_with_search(names, text):
    index = build(names)
    (position,) = index.find(np.array([hash_key(key(text))], dtype=np.uint64)).tolist()
    found = index.rows_of(position, text) if position >= 0 else []
    assert sorted(found) == sorted(expected(names, text, 100))


@given(NAMES, st.lists(WORDS, min_size=1, max_size=5))
@settings(max_examples=25)
def test_disk_keeps_it(tmp_path_factory, names, texts):
    index = build(names)
    directory = tmp_path_factory.mktemp("exact")
    index.save(directory)
    index.save_names(directory)
    want = as_lists(index.search(texts))
    assert as_lists(ExactIndex.load(directory).search(texts)) == want


def test_arrays_are_mapped_not_read(tmp_path):
    index = build(["fever"] * 1000)
    index.save(tmp_path)
    index.save_names(tmp_path)
    loaded = ExactIndex.load(tmp_path)
    assert is_mapped(loaded._row)


def test_a_mention_of_ten_thousand_characters():
    index = build(["fever", "x" * 10_000])
    assert as_lists(index.search(["x" * 10_000, "fever " * 2000])) == [[(1, 1.0)], []]


@damages(("hash start row check", ("gone", "cut", "garbage", "objects")))
def test_damaged_arrays(tmp_path, file, how):
    build(["fever", "cough"] * 100).save(tmp_path)
    path = tmp_path / f"{file}.npy"
    refused(path, how, ExactIndex.load, tmp_path, match=rf"E202.*{path.name}")


def test_a_dictionary_without_names_is_damaged(tmp_path):
    build(["fever"]).save(tmp_path)
    with pytest.raises(MedlinkError, match=r"E202.*name_text"):
        ExactIndex.load(tmp_path)


HASHES = st.integers(0, (1 << 64) - 1)


@given(st.lists(HASHES, max_size=20), st.lists(HASHES, max_size=10))
@example([0, (1 << 64) - 1], [0, (1 << 64) - 1, 1 << 63])
def test_positions_in_small_arrays(present, absent):
    ascending = np.array(sorted(present), dtype=np.uint64)
    wanted = np.array([*present, *absent], dtype=np.uint64)
    found = positions(ascending, wanted)
    for value, place in zip(wanted.tolist(), found.tolist(), strict=True):
        assert (place >= 0) == (value in present)
        assert place < 0 or ascending[place] == value


EVEN = np.random.default_rng(0).integers(0, 1 << 64, 5000, dtype=np.uint64)
ARRAYS = {
    "even": EVEN,
    "low end": EVEN >> np.uint64(30),
    "high end": ~(EVEN >> np.uint64(40)),
    "two heaps": np.concatenate([EVEN[:2500] >> np.uint64(20), ~(EVEN[2500:] >> np.uint64(20))]),
    "repeats": np.repeat(EVEN[:500], 10),
    "all the same": np.full(3000, 7, dtype=np.uint64),
    "a gap": np.where(EVEN % np.uint64(2), EVEN >> np.uint64(8), EVEN),
    "both ends": np.concatenate([EVEN, np.array([0, (1 << 64) - 1], dtype=np.uint64)]),
}


@pytest.mark.parametrize("values", ARRAYS.values(), ids=ARRAYS)
def test_positions_in_large_arrays(values):
    ascending = np.sort(values)
    near = np.concatenate([ascending + np.uint64(1), ascending - np.uint64(1)])
    ends = np.array([0, 1, (1 << 64) - 1, (1 << 63), (1 << 63) - 1], dtype=np.uint64)
    wanted = np.concatenate([ascending[::-1], near, ends])
    found = positions(ascending, wanted)
    present = np.isin(wanted, ascending)
    assert ((found >= 0) == present).all()
    assert (ascending[found[present]] == wanted[present]).all()
