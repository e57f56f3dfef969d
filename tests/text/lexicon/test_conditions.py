"""Conditions of a lexicon: how they are written, and when they are met."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.text.lexicon.conditions import KINDS, Conditions, Surroundings
from tests.tables import table

FLAGS = ("mixed", "heading")


def weight(conditions: str, marked: str, label: str = "") -> int:
    start = marked.index("[")
    text = marked.replace("[", "").replace("]", "")
    place = Surroundings(text).at(start, marked.index("]") - 1, label)
    return Conditions.parse(conditions).weigh(place)


@table(__file__, "they_are_met")
def test_they_are_met(conditions: str, marked: str, expected: int) -> None:
    assert weight(conditions, marked) == expected


def test_labels() -> None:
    assert weight("label: CHEMICAL, drug", "[MS]", "DRUG") == 2
    assert weight("label: CHEMICAL", "[MS]", "DISEASE") == 0


@pytest.mark.parametrize(
    "text", ["close: valve", "near:", "near", "mixed: yes", "before: on*", "valve"]
)
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="is no condition"):
        Conditions.parse(text)


_PHRASES = st.lists(st.text("abz#%", min_size=1, max_size=8), min_size=1, unique=True)


@given(st.lists(st.tuples(st.sampled_from(KINDS), _PHRASES), max_size=4))
def test_they_are_read_as_written(parts: list[tuple[str, list[str]]]) -> None:
    own = Conditions(tuple((kind, () if kind in FLAGS else tuple(its)) for kind, its in parts))
    assert Conditions.parse(own.dump()).parts == own.parts


@given(st.text(alphabet="aA. :\n-1%MS", max_size=200), st.data())
def test_any_text_can_be_asked(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    place = Surroundings(text).at(start, end, "X")
    every = Conditions.parse("near: a; before: a; after: a; section: a; label: y; mixed; heading")
    assert every.weigh(place) >= 0
