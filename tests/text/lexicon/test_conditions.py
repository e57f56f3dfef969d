"""Conditions of a lexicon: how they are written, and when they are met."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.text.lexicon.conditions import KINDS, Conditions, Surroundings

FLAGS = ("mixed", "heading")


def weight(conditions: str, marked: str, label: str = "") -> int:
    start = marked.index("[")
    text = marked.replace("[", "").replace("]", "")
    place = Surroundings(text).at(start, marked.index("]") - 1, label)
    return Conditions.parse(conditions).weigh(place)


@pytest.mark.parametrize(
    ("conditions", "marked", "expected"),
    [
        ("near: valve", "the valve, XX [MS] here", 1),
        ("near: valve", "valves with [MS]", 0),
        ("near: valv*", "valves with [MS]", 1),
        ("near: valve, murmur", "a murmur: [MS] of the valve", 2),
        ("near: chest pain", "[PE] and CHEST PAIN", 1),
        ("near: valve", "The valve is fine. He has [MS].", 0),  # another sentence
        ("near: valve", "[MS].\n\nvalve", 0),
        ("near: valve", "[MS]\n- valve", 0),  # another item
        ("near: valve", "[MS]\nvalve", 1),  # a wrapped line
        ("near: valve", "[MS] " + "word " * 20 + "valve", 0),
        ("near: %", "98% [RA]", 1),
        ("before: on", "98 on [RA]", 2),
        ("before: on", "onwards [RA]", 0),
        ("before: #", "81 [mg]", 2),
        ("before: #", "2.5 [mg]", 2),
        ("after: contin", "[MS] Contin", 2),
        ("after: contin", "[MS] and contin", 0),
        ("after: change*", "[MS] changes", 2),
        ("section: medications", "Discharge medications:\n[MS] 15", 1),
        ("section: medications", "Medications:\nx\nHistory:\n[MS]", 0),
        ("section: medications", "DISCHARGE MEDICATIONS\n1. [MS]", 1),
        ("section: history", "History: MS. Medications: [MS]", 0),
        ("section: medications", "[MS]", 0),
        ("heading", "x\n[PE]: clear", 3),
        ("heading", "had [PE]: small", 0),
        ("heading", "[PE] clear", 0),
        ("mixed", "a car [HIT] him", 1),
        ("mixed", "THE CAR [HIT] HIM", 0),
        ("mixed", "[HIT]", 1),
        ("near: valve; before: on; mixed", "on [MS] valve", 4),
    ],
)  # fmt: skip
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
