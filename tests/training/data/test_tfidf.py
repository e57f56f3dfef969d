"""The papers' sparse vectors, against those of scikit-learn's documentation."""

import numpy as np
import pytest

from training.data.tfidf import TfidfIndex

NAMES = ["Asthma", "bronchial asthma", "Fever", "fevers", "Hypertension", "Pulmonary hypertension"]
QUERIES = ["asthma", "FEVER", "hypertensive", "pulmonal", "qqq", "", "asthma"]


def _cosines(query: str) -> list[float]:
    """TF-IDF as scikit-learn documents it: smoothed idf, length 1; by plain dicts."""
    documents = [_grams(name) for name in NAMES]
    frequency = {gram: sum(gram in own for own in documents) for own in documents for gram in own}
    weights = {gram: np.log((1 + len(NAMES)) / (1 + df)) + 1 for gram, df in frequency.items()}

    def vector(counts: dict[str, int]) -> dict[str, float]:
        weighted = {gram: n * weights[gram] for gram, n in counts.items() if gram in weights}
        length = sum(value**2 for value in weighted.values()) ** 0.5
        return {gram: value / length for gram, value in weighted.items()}

    wanted = vector(_grams(query))
    return [
        sum(value * wanted.get(gram, 0.0) for gram, value in vector(grams).items())
        for grams in documents
    ]


def _grams(text: str) -> dict[str, int]:
    text = " ".join(text.lower().split())
    grams = [*text, *(text[place : place + 2] for place in range(len(text) - 1))]
    return {gram: grams.count(gram) for gram in grams}


def test_names_against_plain_dicts():
    index = TfidfIndex.of(NAMES)
    hits = index.search(QUERIES, 10)
    every = np.tile(np.arange(len(NAMES)), (len(QUERIES), 1))
    for at, query in enumerate(QUERIES):
        cosines = _cosines(query)
        expected = {row: score for row, score in enumerate(cosines) if score > 0}
        ranked = dict(zip(hits.rows[at].tolist(), hits.scores[at].tolist(), strict=True))
        ranked.pop(-1, None)
        assert ranked == pytest.approx(expected, abs=1e-5)
        assert list(ranked.values()) == sorted(ranked.values(), reverse=True)
        assert index.score(QUERIES, every)[at].tolist() == pytest.approx(cosines, abs=1e-5)
