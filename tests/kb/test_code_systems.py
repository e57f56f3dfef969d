"""The addresses of code systems, and codes as these write them."""

import pytest

from spacy_medlink.kb.code_systems import (
    coded,
    codings,
    curie,
    system_of,
    vocabulary_of,
)


@pytest.mark.parametrize(
    ("system", "vocabulary"),
    [
        ("http://snomed.info/sct", "SNOMEDCT_US"),
        ("http://loinc.org", "LNC"),
        ("http://human-phenotype-ontology.org", "HP"),
        ("http://hl7.org/fhir/sid/icd-10-cm", "ICD10CM"),
        ("http://fhir.de/CodeSystem/bfarm/icd-10-gm", "ICD10GM"),
        ("http://www.nlm.nih.gov/research/umls/rxnorm/", "RXNORM"),
        ("urn:oid:2.16.840.1", "2.16.840.1"),
        ("", ""),
    ],
)
def test_vocabularies(system: str, vocabulary: str) -> None:
    assert vocabulary_of(system) == vocabulary


@pytest.mark.parametrize("spelled", ["SNOMED_CT", "MSH", "LOINC", "HPO", "Orphanet", "NCI", "MIM"])
def test_spellings_have_one_address(spelled: str) -> None:
    assert system_of(vocabulary_of(system_of(spelled))) == system_of(spelled)
    assert system_of(spelled).startswith("http")


def test_what_has_no_address_gets_a_name() -> None:
    assert system_of("our list") == "urn:spacy-medlink:vocabulary:our%20list"


def test_codes_have_the_prefix_of_their_system() -> None:
    assert coded("MONDO", "0004975").code == "MONDO:0004975"
    assert coded("HPO", "HP:0001945").code == "HP:0001945"
    assert coded("ORPHA", "ORPHA:558").code == "558"


def test_the_id_comes_first_and_each_once() -> None:
    codes = {"UMLS": ["C1"], "HP": ["HP:1"], "ICD10CM": ["E11", "E10"]}
    assert [one.code for one in codings("HP:1", codes)] == ["HP:1", "E11", "E10", "C1"]
    assert codings("D003920", {"MESH": ["D003920"]})[0].system.endswith("/msh")
    assert codings("8000/3", {})[0].system == "urn:spacy-medlink:vocabulary:ID"


def test_names_of_concepts_for_others() -> None:
    assert curie("D003920", {"MESH": ["D003920"]}) == "MESH:D003920"
    assert curie("HP:0001945", {}) == "HP:0001945"
