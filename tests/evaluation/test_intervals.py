import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.evaluation.intervals import Bootstrap, interval_of

DOCS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=20)


def _interval(values: list[float], docs: list[str]) -> list[float]:
    column = np.array(values, dtype=float)[:, None]
    (interval,) = Bootstrap(docs).intervals(column, np.ones(len(docs), dtype=bool))
    assert interval is not None
    return interval


def test_documents_are_drawn_not_mentions() -> None:
    hits = [float(number % 2) for number in range(400)]
    low, high = _interval(hits, [str(number) for number in range(400)])
    # The binomial's: 0.5 -/+ 1.96 x sqrt(0.25 / 400).
    assert low == pytest.approx(0.451, abs=0.01)
    assert high == pytest.approx(0.549, abs=0.01)
    assert _interval(hits, [str(hit) for hit in hits]) == [0.0, 1.0]
    assert _interval(hits, ["one"] * 400) == [0.5, 0.5]


@given(st.data(), DOCS)
def test_against_drawing_by_hand(data: st.DataObject, docs: list[str]) -> None:
    size = {"min_size": len(docs), "max_size": len(docs)}
    values = np.array(data.draw(st.lists(st.floats(0, 1), **size)))
    kept = np.array(data.draw(st.lists(st.booleans(), **size)))
    (found,) = Bootstrap(docs, samples=50, seed=3).intervals(values[:, None], kept)
    random = np.random.default_rng(3)
    names = list(dict.fromkeys(docs))
    means = []
    for _ in range(50):
        drawn = [names[place] for place in random.integers(0, len(names), len(names))]
        own = [values[n] for name in drawn for n, doc in enumerate(docs) if doc == name and kept[n]]
        if own:
            means.append(sum(own) / len(own))
    if not kept.any():
        assert found is None
    else:
        assert found == pytest.approx(np.percentile(means, (2.5, 97.5)).tolist(), abs=1e-5)


def test_a_figure_of_sums() -> None:
    # One document is right, the other wrong: their ratio is 0, 1/2 or 1, or not to be computed.
    totals = Bootstrap(["a", "b"]).totals(np.array([[1.0, 1.0], [0.0, 1.0]]))
    assert interval_of(totals[:, 0] / totals[:, 1]) == [0.0, 1.0]
    assert interval_of(np.array([np.nan, 0.5])) == [0.5, 0.5]
    assert interval_of(np.array([np.nan])) is None


def test_nothing_to_draw_from() -> None:
    assert Bootstrap([]).intervals(np.zeros((0, 2)), np.zeros(0, dtype=bool)) == [None, None]
