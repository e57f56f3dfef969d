from pathlib import Path

import pytest

from spacy_medlink.kb.readers.xrefs import (
    CrossReferences,
    code_by_shape,
    code_of,
    source_of,
)
from tests.tables import table


@table(__file__, "cross_references")
def test_cross_references(xref: str, expected: tuple[str, str] | None) -> None:
    assert code_of(xref) == expected


@table(__file__, "shapes")
def test_shapes(id: str, vocabulary: str | None) -> None:
    found = code_by_shape(id)
    assert (found and found[0]) == vocabulary


def test_collection() -> None:
    matches = [("MSH:D2", "related"), ("UMLS:C3", "exact")]
    xrefs = ["UMLS:C2", "UMLS:C1", "UMLS:C2", "none", "MSH:D1"]
    assert CrossReferences().codes_of(xrefs, matches) == {
        "UMLS": ("C3", "C2", "C1"), "MESH": ("D1", "D2"),
    }  # fmt: skip


@table(__file__, "an_ontology_names_its_names")
def test_an_ontology_names_its_names(ontology: str, source: str) -> None:
    assert source_of(ontology, "DOID:1", Path("x.obo")) == source


@pytest.mark.parametrize("id", ["1", "http://example.org/1", ":1"])
def test_the_file_names_what_has_no_ontology(id: str) -> None:
    assert source_of("", id, Path("my.terms.obo")) == "MY"
