"""What fuzzing and reading OBO 1.4 closely found; facts of the whole HPO are tested elsewhere."""

import time

import pytest

from spacy_medlink.types import CodeMap
from tests.kb import samples
from tests.kb.reading import FormatFile
from tests.tables import table

TERM = "[Term]\nid: A:1\nname: a\n"


@pytest.fixture
def obo(tmp_path):
    return FormatFile("obo", tmp_path / "x.obo")


@pytest.mark.parametrize("header", ["ontology: hp", "ontology: hp.obo ! HPO", ""])
def test_names_come_from_the_ontology_not_from_the_file(obo, header):
    """A download may be called anything; what filters and ties name must not change with it."""
    concepts = obo.concepts(f"{header}\n{samples.OBO}")
    assert {name.source for concept in concepts for name in concept.names} == {"HP"}


SKOS = "http://www.w3.org/2004/02/skos/core#"


@pytest.mark.parametrize(
    "property", ["skos:{}", "{}", SKOS + "{}", r"http\://www.w3.org/2004/02/skos/core#{}"]
)
@table(__file__, "obo_matches")
@table(__file__, "matches")
def test_matches(obo, property, word, relation, value, code):
    concept = obo.concept(f"{TERM}property_value: {property.format(word)} {value}\n")
    assert concept.maps == (CodeMap(*code, relation, "A"),)
    assert concept.codes == {code[0]: (code[1],)}


@table(__file__, "relations_that_need_not_hold")
def test_relations_that_need_not_hold(obo, qualifiers, holds):
    for tag in ("relationship", "intersection_of"):
        concept = obo.concept(f"{TERM}{tag}: has_part B:1 {qualifiers}\n")
        assert bool(concept.relations) == holds


def test_a_long_run_of_spaces_takes_no_quadratic_time(obo):
    text = f"[Term]\nid: A:1\nname: a{' ' * 300_000}b\nis_a: B:2{' ' * 300_000}! x\n"
    start = time.process_time()
    assert obo.concept(text).parents == ("B:2",)
    assert time.process_time() - start < 5  # a few 10^10 steps otherwise
