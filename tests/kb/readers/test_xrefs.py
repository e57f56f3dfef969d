from pathlib import Path

import pytest

from spacy_medlink.kb.readers.xrefs import (
    CrossReferences,
    code_by_shape,
    code_of,
    source_of,
)


@pytest.mark.parametrize(
    ("xref", "expected"),
    [
        ("UMLS:C0011849", ("UMLS", "C0011849")),
        ("UMLS_CUI:C0011849", ("UMLS", "C0011849")),
        ("SCTID:73211009", ("SNOMEDCT_US", "73211009")),
        ("MSH:D003920", ("MESH", "D003920")),
        ("Orphanet:558", ("ORPHA", "558")),
        ("FOO:1:2", ("FOO", "1:2")),
        ("https://example.org/a:b", ("URL", "https://example.org/a:b")),
        ("https://example.org/HP_0000118", ("URL", "https://example.org/HP_0000118")),
        ("http://snomed.info/id/73211009", ("SNOMEDCT_US", "73211009")),
        ("https://identifiers.org/mesh:D003920", ("MESH", "D003920")),
        ("http://purl.bioontology.org/ontology/ICD10CM/E11.9", ("ICD10CM", "E11.9")),
        ("http://linkedlifedata.com/resource/umls/id/C0011849", ("UMLS", "C0011849")),
        ("http://www.orpha.net/ORDO/Orphanet_558", ("ORPHA", "558")),
        ("https://www.omim.org/entry/222100", ("OMIM", "222100")),
        ("http://purl.obolibrary.org/obo/NCBITaxon_Union_0000000", ("NCBITaxon_Union", "0000000")),
        ("http", None),
        (":1", None),
        ("UMLS:", None),
    ],
)
def test_cross_references(xref: str, expected: tuple[str, str] | None) -> None:
    assert code_of(xref) == expected


@pytest.mark.parametrize(
    ("id", "vocabulary"),
    [
        ("C0011849", "UMLS"), ("C565588", "MESH"), ("D003920", "MESH"), ("C000657245", "MESH"),
        ("125853", "OMIM"), ("OMIM:125853", "OMIM"), ("73211009", None), ("X1", None),
    ],
)  # fmt: skip
def test_shapes(id: str, vocabulary: str | None) -> None:
    found = code_by_shape(id)
    assert (found and found[0]) == vocabulary


def test_collection() -> None:
    matches = [("MSH:D2", "related"), ("UMLS:C3", "exact")]
    xrefs = ["UMLS:C2", "UMLS:C1", "UMLS:C2", "none", "MSH:D1"]
    assert CrossReferences().codes_of(xrefs, matches) == {
        "UMLS": ("C3", "C2", "C1"), "MESH": ("D1", "D2"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("ontology", "source"),
    [
        ("hp", "HP"),
        ("hp.obo", "HP"),
        ("hp/hp-base.owl", "HP"),
        ("http://purl.obolibrary.org/obo/hp.owl", "HP"),
        ("http://purl.obolibrary.org/obo/mondo/releases/2024-01-01/mondo.owl", "MONDO"),
        ("http://www.ebi.ac.uk/efo/efo.owl", "EFO"),
        ("https://example.org/onto/", "ONTO"),
        ("", "DOID"),
        ("  ", "DOID"),
    ],
)
def test_an_ontology_names_its_names(ontology: str, source: str) -> None:
    assert source_of(ontology, "DOID:1", Path("x.obo")) == source


@pytest.mark.parametrize("id", ["1", "http://example.org/1", ":1"])
def test_the_file_names_what_has_no_ontology(id: str) -> None:
    assert source_of("", id, Path("my.terms.obo")) == "MY"
