"""The n-gram tier for many names against the one that compares a text with all of them."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.retrieval import similar_words, word_ngram
from spacy_medlink.retrieval.mask import Mask
from spacy_medlink.retrieval.word_ngram import WordNgramIndex
from tests.mapped import is_mapped
from tests.mutants import damages, refused
from tests.retrieval.test_ngram import NAMES, WORDS
from tests.timing import cpu_seconds
from tests.trigrams import ngram_index

TOLERANCE = 1e-5  # float32 sums
SYLLABLES = [a + b + c for a in "bcdfglmnprstv" for b in "aeiou" for c in ("", "n", "r", "st")]


@pytest.fixture(scope="module")
def invented():
    """8,000 names of one to five words, of which some are frequent, and indices of both kinds."""
    random = np.random.default_rng(3)
    words = ["".join(random.choice(SYLLABLES, 2 + number % 3)) for number in range(3000)]
    weights = 1 / np.arange(1, len(words) + 1)
    names = [
        " ".join(random.choice(words, random.integers(1, 6), p=weights / weights.sum()))
        for _ in range(20_000)
    ]
    return names, ngram_index(names), WordNgramIndex.build(names)


def recall(wanted, found, k):
    """Count the names that are as similar as the k most similar ones: a share of them."""
    shares = []
    for best, own in zip(wanted.scores[:, :k], found.scores[:, :k], strict=True):
        best = best[np.isfinite(best)]
        if len(best):
            shares.append((own >= best[-1] - TOLERANCE).sum() / len(best))
    return np.mean(shares)


def check_scores(other, texts, found):
    """Compare scores with those of the other index."""
    scores = np.where(found.rows >= 0, found.scores, 0)
    np.testing.assert_allclose(scores, other.score(texts, found.rows), atol=TOLERANCE)


def misspelt(names):
    """Leave out, double or change a letter of every name."""
    random = np.random.default_rng(5)
    for name in names:
        at = int(random.integers(len(name)))
        yield name[:at] + random.choice(["", name[at] * 2, "o"]) + name[at + 1 :]


def test_a_text_that_is_a_name_finds_names_of_its_words_without_a_search_for_words(invented):
    names, other, index = invented
    rows = np.arange(0, len(names), 97)
    texts = [names[row] for row in rows]
    best = other.search(texts, 20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similar_words.SimilarWords, "find", lambda *_: pytest.fail("a word searched"))
        found = index.search(texts, 20, None, rows)
    check_scores(other, texts, found)
    assert (found.scores[:, 0] > 1 - TOLERANCE).all()  # the name itself
    assert recall(best, found, 20) > 0.8
    mixed = index.search(texts, 20, None, np.where(rows % 2, rows, -1))
    without = index.search(texts, 20)
    assert (mixed.rows[rows % 2 == 0] == without.rows[rows % 2 == 0]).all()
    assert (mixed.rows[rows % 2 == 1] == found.rows[rows % 2 == 1]).all()


@given(NAMES, st.data())
def test_a_name_finds_itself_within_any_filter(names, data):
    row = data.draw(st.sampled_from(range(len(names))))
    allowed = data.draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names)))
    allowed[row] = True
    index = WordNgramIndex.build(names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_ngram, "_FEW", 0)
        own = index.search([names[row]], len(names), Mask.of(np.array(allowed)), np.array([row]))
    norm = index.score([names[row]], np.array([[row]]))[0, 0]
    assert row in own.rows[0].tolist() or norm == 0
    assert all(allowed[one] for one in own.rows[0].tolist() if one >= 0)


@given(NAMES, st.lists(WORDS, min_size=1, max_size=4), st.integers(1, 12), st.data())
def test_what_is_found_is_scored_as_by_the_other_index(names, texts, k, data):
    allowed = data.draw(
        st.none() | st.lists(st.booleans(), min_size=len(names), max_size=len(names))
    )
    mask = None if allowed is None else Mask.of(np.array(allowed))
    index, other = WordNgramIndex.build(names), ngram_index(names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_ngram, "_FEW", data.draw(st.sampled_from([0, 100])))
        hits = index.search(texts, k, mask)
    assert hits.rows.shape == hits.scores.shape == (len(texts), k)
    is_found = hits.rows >= 0
    assert (is_found == np.isfinite(hits.scores)).all()
    assert mask is None or mask.passes(hits.rows[is_found]).all()
    scores = np.where(is_found, hits.scores, 0)
    np.testing.assert_allclose(scores, other.score(texts, hits.rows), atol=TOLERANCE)
    np.testing.assert_allclose(scores, index.score(texts, hits.rows), atol=TOLERANCE)
    best = other.search(texts, k, mask)
    for rows, own, wanted in zip(hits.rows, hits.scores, best.scores, strict=True):
        rows = rows[rows >= 0]
        assert len(set(rows.tolist())) == len(rows)
        assert (np.diff(own[: len(rows)]) <= 0).all()
        for before, after, same in zip(
            rows, rows[1:], np.diff(own[: len(rows)]) == 0, strict=False
        ):
            assert not same or before < after, "ties are in the order of rows"
        similar = wanted[wanted >= 0.7]
        np.testing.assert_allclose(own[: len(similar)], similar, atol=TOLERANCE)


def test_misspelt_names_of_thousands(invented):
    names, other, index = invented
    texts = list(misspelt(names[::100]))
    wanted, found = other.search(texts, 20), index.search(texts, 20)
    assert recall(wanted, found, 20) > 0.93
    assert recall(wanted, found, 1) == 1


def test_less_is_read_where_there_is_a_limit(invented, monkeypatch):
    names, other, index = invented
    texts = list(misspelt(names[::100]))
    wanted = other.search(texts, 20)
    monkeypatch.setattr(word_ngram, "_READ", 300)
    monkeypatch.setattr(word_ngram, "_EACH", 1 << 40)
    monkeypatch.setattr(word_ngram, "_NARROWED", 3)
    found = index.search(texts, 20)
    assert recall(wanted, found, 1) > 0.8
    assert 0.5 < recall(wanted, found, 20) < 0.97
    check_scores(other, texts, found)


def test_names_that_share_a_place_of_the_sums_are_told_apart(invented, monkeypatch):
    names, other, index = invented
    texts = list(misspelt(names[::100]))
    monkeypatch.setattr(similar_words, "_SLOTS", 12)  # 4,096 for 8,000 names
    found = index.search(texts, 20)
    assert recall(other.search(texts, 20), found, 1) > 0.97
    check_scores(other, texts, found)


@pytest.mark.parametrize("share", [0.9, 0.3, 0.05, 0.001, 0])
def test_filters_act_inside_the_search(invented, share):
    names, other, index = invented
    texts = list(misspelt(names[::200]))
    mask = Mask.of(np.random.default_rng(7).random(len(names)) < share)
    wanted, found = other.search(texts, 20, mask), index.search(texts, 20, mask)
    assert mask.passes(found.rows[found.rows >= 0]).all()
    if share:
        assert recall(wanted, found, 20) > 0.9
    again = index.search(texts, 20, mask)
    np.testing.assert_array_equal(found.rows, again.rows)
    check_scores(other, texts, index.search(texts, 20))


@pytest.fixture
def index(invented):
    """The n-gram tier."""
    return invented[2]


def test_a_text_scores_the_same_alone_and_among_others(invented, index):
    texts = [*misspelt(invented[0][:150]), "", "---"]
    together = index.search(texts, 10)
    for place in (0, 63, 64, 149, 150, 151):
        alone = index.search([texts[place]], 10)
        np.testing.assert_array_equal(alone.rows[0], together.rows[place])
        np.testing.assert_allclose(alone.scores[0], together.scores[place], rtol=1e-6)


@pytest.mark.parametrize("workers", [2, 3, 16])
def test_several_threads_find_what_one_finds(invented, monkeypatch, workers):
    names, _, index = invented
    texts = [*misspelt(names[:100]), *names[100:150]]
    same = np.array([-1] * 100 + list(range(100, 150)))
    found = []
    for number in (1, workers):
        monkeypatch.setattr(word_ngram, "threads", lambda number=number: number)
        found.append(index.search(texts, 10, same=same))
    np.testing.assert_array_equal(found[1].rows, found[0].rows)
    np.testing.assert_allclose(found[1].scores, found[0].scores, rtol=1e-6)
    # Every text has its own names: the last ones find themselves.
    np.testing.assert_allclose(found[1].scores[100:, 0], 1, atol=TOLERANCE)


def test_threads_do_not_disturb_each_other(invented):
    names, _, index = invented
    texts = list(misspelt(names[::300]))
    wanted = index.search(texts, 10)
    found = {}

    def search(number):
        found[number] = [index.search([text], 10).rows[0] for text in texts]

    threads = [threading.Thread(target=search, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    for rows in found.values():
        np.testing.assert_array_equal(rows, wanted.rows)


def test_a_search_that_fails_leaves_no_trace(invented, monkeypatch):
    names, _, index = invented
    wanted = index.search(names[:5], 10)
    with monkeypatch.context() as patch:
        patch.setattr(word_ngram, "distinct", lambda items: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            index.search(["abdi carlo"], 10)
    np.testing.assert_array_equal(index.search(names[:5], 10).rows, wanted.rows)


def test_nothing_in_nothing_out(index):
    assert index.search([], 5).rows.shape == (0, 5)
    assert index.search(["fever"], 0).rows.shape == (1, 0)
    assert index.score([], np.empty((0, 3), np.int64)).shape == (0, 3)
    assert index.score(["fever"], np.empty((1, 0), np.int64)).shape == (1, 0)
    assert (index.search(["", "---", "😀"], 5).rows[:2] == -1).all()
    assert (type(index).build([]).search(["fever"], 5).rows == -1).all()


def test_disk_keeps_it(tmp_path, invented):
    names, _, index = invented
    index.save(tmp_path)
    loaded = WordNgramIndex.load(tmp_path, len(names))
    texts = list(misspelt(names[::500]))
    for before, after in zip(index.search(texts, 8), loaded.search(texts, 8), strict=True):
        np.testing.assert_array_equal(before, after)
    assert is_mapped(loaded._names.words.items)
    with pytest.raises(MedlinkError, match="E202"):
        WordNgramIndex.load(tmp_path, len(names) + 1)


FILES = (
    "idf rows ranks norms word_norms word_grams_offsets word_grams_items word_grams_weights"
    " gram_words_items name_words_items name_words_offsets word_names_items"
)


@damages((FILES, ("gone", "one less", "one negative", "one huge")))
def test_damaged_arrays(tmp_path, file, how):
    WordNgramIndex.build(["fever", "dry cough", "cough"] * 50).save(tmp_path)
    refused(tmp_path / f"{file}.npy", how, WordNgramIndex.load, tmp_path, match=r"E202.*\.npy")


@pytest.mark.parametrize(
    "text", ["x" * 10_000, "abdi carlo " * 900, "fever and pain " * 670, "é血😀" * 3000]
)
def test_a_mention_of_ten_thousand_characters_takes_little_time(index, text):
    assert cpu_seconds(lambda: index.search([text], 64)) < 1
    assert cpu_seconds(lambda: index.score([text], np.arange(40)[None])) < 1
