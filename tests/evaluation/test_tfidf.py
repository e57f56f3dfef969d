import numpy as np
import pytest

from spacy_medlink.evaluation.tfidf import TfidfRanker
from spacy_medlink.types import Mention

NAMES = ["Asthma", "bronchial asthma", "Fever", "fevers", "Hypertension", "Pulmonary hypertension"]
CONCEPTS = np.array([0, 0, 1, 1, 2, 3], dtype=np.int32)
QUERIES = ["asthma", "FEVER", "hypertensive", "pulmonal", "qqq", "", "asthma"]


def _cosines(query: str) -> list[float]:
    """TF-IDF as scikit-learn documents it: smoothed idf, length 1; by plain dicts."""
    documents = [_grams(name) for name in NAMES]
    frequency = {gram: sum(gram in own for own in documents) for own in documents for gram in own}
    weights = {gram: np.log((1 + len(NAMES)) / (1 + df)) + 1 for gram, df in frequency.items()}

    def vector(counts: dict[str, int]) -> dict[str, float]:
        own = {gram: n * weights[gram] for gram, n in counts.items() if gram in weights}
        length = sum(value**2 for value in own.values()) ** 0.5
        return {gram: value / length for gram, value in own.items()}

    wanted = vector(_grams(query))
    return [
        sum(value * wanted.get(gram, 0.0) for gram, value in vector(own).items())
        for own in documents
    ]


def _grams(text: str) -> dict[str, int]:
    text = " ".join(text.lower().split())
    grams = [*text, *(text[place : place + 2] for place in range(len(text) - 1))]
    return {gram: grams.count(gram) for gram in grams}


@pytest.fixture(scope="module")
def ranker() -> TfidfRanker:
    return TfidfRanker(NAMES, CONCEPTS)


def test_names_against_plain_dicts(ranker: TfidfRanker) -> None:
    for query, ranking in zip(QUERIES, ranker.rank_names(QUERIES, 10), strict=True):
        expected = {row: score for row, score in enumerate(_cosines(query)) if score > 0}
        assert dict(ranking) == pytest.approx(expected, abs=1e-5)
        scores = [score for _, score in ranking]
        assert scores == sorted(scores, reverse=True)
    assert len(ranker.rank_names(QUERIES, 2)[0]) == 2


def test_concepts_are_ranked_by_their_best_name(ranker: TfidfRanker) -> None:
    mentions = [Mention(query) for query in QUERIES]
    for query, ranking in zip(QUERIES, ranker.rank(mentions, 3), strict=True):
        cosines = _cosines(query)
        best = {
            int(concept): max(cosines[row] for row in np.flatnonzero(concept == CONCEPTS))
            for concept in CONCEPTS
        }
        expected = sorted((score for score in best.values() if score > 0), reverse=True)[:3]
        assert [one.score for one in ranking] == pytest.approx(expected, abs=1e-4)
        assert [best[one.row] for one in ranking] == pytest.approx(expected, abs=1e-4)


def test_of_an_abbreviation_the_long_form_is_searched(ranker: TfidfRanker) -> None:
    (ranking,) = ranker.rank([Mention("FEVER", long_form="pulmonary hypertension")], 1)
    assert ranking[0].row == 3


def test_many_mentions(ranker: TfidfRanker) -> None:
    texts = [f"{query} {number}" for number in range(300) for query in QUERIES]
    together = ranker.rank_names(texts, 3)
    (alone,) = ranker.rank_names(texts[-1:], 3)
    assert [row for row, _ in together[-1]] == [row for row, _ in alone]
    assert dict(together[-1]) == pytest.approx(dict(alone), abs=1e-6)
    assert len(together) == len(texts)
    assert ranker.rank_names([], 3) == ranker.rank([], 3) == []


def test_thousands_of_names_against_a_full_product() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    random = np.random.default_rng(0)
    names = ["".join(random.choice(list("abcdefg "), 9)) for _ in range(5000)]
    queries = [*names[:40], "abc", "gg", "zzz", ""]
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2))
    vectors = vectorizer.fit_transform(names)
    expected = (vectorizer.transform(queries) @ vectors.T).toarray()
    ranker = TfidfRanker(names, np.arange(5000, dtype=np.int32), n_names=15)
    for ranking, scores in zip(ranker.rank_names(queries, 15), expected, strict=True):
        best = np.sort(scores[scores > 0])[::-1][:15]
        assert [score for _, score in ranking] == pytest.approx(best.tolist(), abs=1e-5)
        assert [scores[row] for row, _ in ranking] == pytest.approx(best.tolist(), abs=1e-5)
