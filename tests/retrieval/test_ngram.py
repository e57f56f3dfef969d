"""The n-gram tier against TF-IDF computed name by name."""

import math
import zlib
from collections import Counter

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from spacy_medlink.text.normalisation import normalise
from tests.trigrams import ngram_index

WORDS = st.one_of(
    st.sampled_from(
        ["fever", "Fever", "high fever", "fever, high", "heart attack", "attacks", "a", "ab",
         "血圧", "", "---", "😀", "aaaaaa", "x" * 300, "a\ud800"]
    ),
    st.text("abc é-", max_size=8),
)  # fmt: skip
NAMES = st.lists(WORDS, min_size=1, max_size=10)
TOLERANCE = 1e-5  # float32 sums


def grams(text):
    """Bucket of every trigram of every word, the word padded by spaces."""
    found = Counter()
    for word in normalise(text).split():
        padded = f" {word} "
        for start in range(max(1, len(padded) - 2)):
            trigram = padded[start : start + 3].encode("utf-8", "surrogatepass")
            found[zlib.crc32(trigram) % (1 << 18)] += 1
    return found


def cosines(names, text):
    """Cosine of a text with each name, weights tf x (ln((1 + n) / (1 + df)) + 1)."""
    documents = [grams(name) for name in names]
    frequency = Counter(gram for document in documents for gram in document)

    def weighted(counts):
        weights = {
            gram: count * (math.log((1 + len(names)) / (1 + frequency[gram])) + 1)
            for gram, count in counts.items()
        }
        norm = math.sqrt(sum(weight**2 for weight in weights.values())) or 1.0
        return {gram: weight / norm for gram, weight in weights.items()}

    query = weighted(grams(text))
    return np.array(
        [
            sum(query.get(gram, 0) * weight for gram, weight in weighted(document).items())
            for document in documents
        ]
    )


@given(NAMES, st.lists(WORDS, min_size=1, max_size=4), st.integers(1, 15))
@example(["fever"] * 3 + ["cough"], ["fever"], 2)
def test_search_agrees_with_tfidf_by_hand(names, texts, k):
    hits = ngram_index(names).search(texts, k)
    assert hits.rows.shape == hits.scores.shape == (len(texts), k)
    for rows, scores, text in zip(hits.rows, hits.scores, texts, strict=True):
        want = cosines(names, text)
        found = rows >= 0
        assert (found == np.isfinite(scores)).all()
        assert found.tolist() == sorted(found.tolist(), reverse=True)
        rows, scores = rows[found], scores[found]
        assert len(rows) == min(k, (want > 0).sum())
        assert len(set(rows.tolist())) == len(rows)
        np.testing.assert_allclose(scores, want[rows], atol=TOLERANCE)
        best = np.sort(want)[::-1][: len(rows)]
        np.testing.assert_allclose(scores, best, atol=TOLERANCE)
        assert (np.diff(scores) <= 0).all()
        for before, after, same in zip(rows, rows[1:], np.diff(scores) == 0, strict=False):
            assert not same or before < after, "ties are in the order of rows"


@given(NAMES, st.lists(WORDS, max_size=4), st.data())
def test_score_agrees_with_tfidf_by_hand(names, texts, data):
    width = data.draw(st.integers(0, 6))
    row = st.integers(-1, len(names) - 1)
    drawn = data.draw(
        st.lists(
            st.lists(row, min_size=width, max_size=width),
            min_size=len(texts), max_size=len(texts),
        )
    )  # fmt: skip
    rows = np.array(drawn, dtype=np.int64).reshape(len(texts), width)
    scores = ngram_index(names).score(texts, rows)
    assert scores.shape == rows.shape
    assert scores.dtype == np.float32
    for own, found, text in zip(rows, scores, texts, strict=True):
        want = np.where(own >= 0, cosines(names, text)[own], 0)
        np.testing.assert_allclose(found, want, atol=TOLERANCE)


def test_ties_at_the_end_are_the_same_each_time():
    index = ngram_index(["cough"] * 5 + ["fever"] * 200)
    first = index.search(["fever"], 7).rows
    assert all((index.search(["fever", "cough"], 7).rows[0] == first).all() for _ in range(5))
