"""Expressions over the hierarchy, against plain sets over random graphs with cycles."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.hierarchy import Hierarchy, concepts_of
from spacy_medlink.types import Concept, Retired
from tests.tables import table
from tests.tiny import kb_of

IDS = ("HP:0000118", "404684003", "C0012634", "D-1.2_x", "e/f#g", "Ä")
SIGNS = ("", "<", "<<", ">", ">>")
# What is above what; the last three are a cycle, and one of them is its own parent.
PARENTS = {
    "root": (), "left": ("root",), "right": ("root",), "leaf": ("left", "right", "gone"),
    "a": ("c",), "b": ("a", "b"), "c": ("b",),
}  # fmt: skip


def built(path: Path, parents: dict[str, tuple[str, ...]]) -> KnowledgeBase:
    records = [Concept(id, f"name of {id}", parents=above) for id, above in parents.items()]
    return kb_of(path, [*records, Retired("old", "left"), Retired("lost")])


def ids_of(kb: KnowledgeBase, expression: str) -> set[str]:
    mask = concepts_of(expression, kb, Hierarchy(kb))
    assert mask.shape == (len(kb),)
    ids = list(kb.iter_ids())
    return {ids[row] for row in np.flatnonzero(mask)}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    return built(tmp_path_factory.mktemp("expression") / "kb", PARENTS)


@table(__file__, "expressions")
def test_expressions(kb: KnowledgeBase, expression: str, ids: str) -> None:
    assert ids_of(kb, expression) == set(ids.split())


@table(__file__, "what_is_no_expression")
def test_what_is_no_expression(kb, expression: str, place: int, found: str, expected: str) -> None:
    with pytest.raises(MedlinkError, match="E224") as caught:
        ids_of(kb, expression)
    assert f"at character {place} comes {found}, but {expected}" in caught.value.message


@pytest.mark.parametrize("id", ["nobody", "lost", "gone", "*", "!", "AN"])
def test_unknown_ids_are_named(kb: KnowledgeBase, id: str) -> None:
    with pytest.raises(MedlinkError, match="E106") as caught:
        ids_of(kb, f"<< root OR << {id}")
    assert repr(id) in caught.value.message


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> tuple[str, str]:
    """Draw an expression, and the same as Python over sets."""
    space = draw(st.sampled_from(["", " ", "\t\n"]))
    if depth == 0 or draw(st.booleans()):
        sign, id = draw(st.sampled_from(SIGNS)), draw(st.sampled_from(IDS))
        term = draw(st.sampled_from(["", "||", " |of (it) << AND|"]))
        return f"{sign}{space}{id}{term}", f"of({sign!r}, {id!r})"
    word, sign = draw(st.sampled_from([("AND", "&"), ("or", "|"), ("MINUS", "-")]))
    parts = draw(st.lists(expressions(depth - 1), min_size=1, max_size=3))
    text = f" {word} ".join(f"({space}{part[0]}{space})" for part in parts)
    return text, f" {sign} ".join(f"({part[1]})" for part in parts)


EDGES = st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from(IDS)), max_size=9)


@settings(max_examples=30)
@given(EDGES, st.lists(expressions(), min_size=1, max_size=4))
def test_random_expressions_over_random_graphs(tmp_path_factory, edges, drawn) -> None:
    parents = {id: tuple(above for below, above in edges if below == id) for id in IDS}
    kb = built(tmp_path_factory.mktemp("graph") / "kb", parents | {"left": ()})
    children = {id: tuple(below for below, above in edges if above == id) for id in IDS}

    def reached(id: str, steps: dict[str, tuple[str, ...]]) -> set[str]:
        found: set[str] = set()
        waiting = [id]
        while waiting:
            new = set(steps[waiting.pop()]) - found
            found |= new
            waiting += new
        return found - {id}

    def of(sign: str, id: str) -> set[str]:
        around = reached(id, children if "<" in sign else parents) if sign else set()
        return around | ({id} if len(sign) != 1 else set())

    for text, python in drawn:
        assert ids_of(kb, text) == eval(python, {"of": of})
    for id in IDS:
        assert set(kb.descendants(id)) == of("<", id)
        assert set(kb.ancestors(id)) == of(">", id)


@given(st.text(alphabet="ab<>()| ORNAD", max_size=12))
def test_any_text_is_an_expression_or_an_error_with_a_place(kb: KnowledgeBase, text: str) -> None:
    try:
        ids_of(kb, text)
    except MedlinkError as error:
        assert error.code in ("E106", "E224")
        if error.code == "E224":
            place = re.search(r"at character (\d+) ", error.message)
            assert place is not None
            assert 1 <= int(place[1]) <= len(text) + 1
