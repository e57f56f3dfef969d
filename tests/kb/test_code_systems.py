"""The addresses of code systems, and codes as these write them."""

import pytest

from spacy_medlink.kb.code_systems import (
    ConceptPages,
    coded,
    codings,
    concept_url,
    curie,
    system_of,
    vocabulary_of,
)
from tests.tables import table


@table(__file__, "vocabularies")
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


UTS = "https://uts.nlm.nih.gov/uts/umls/concept/"


@table(__file__, "pages_by_id")
def test_pages_by_id(id: str, url: str) -> None:
    assert concept_url(id) == url


def test_codes_tell_the_vocabulary_of_a_bare_id() -> None:
    assert concept_url("22298006") == ""
    assert "ihtsdotools" in concept_url("22298006", {"SNOMEDCT_US": ("22298006",)})
    # Six digits are OMIM's by shape, but the codes know better.
    assert "orpha.net" in concept_url("154700", {"ORPHA": ("154700",)})


def test_an_id_without_a_page_gets_that_of_a_code() -> None:
    assert concept_url("LOCAL-7", {"UMLS": ("C0011849",)}) == UTS + "C0011849"
    assert concept_url("LOCAL-7", {"LOCAL": ("7",)}) == ""
    assert concept_url("LOCAL-7", {"UMLS": ()}) == ""


def test_pages_for_displacy() -> None:
    codes = {"22298006": {"SNOMEDCT_US": ("22298006",)}}
    pages = ConceptPages(lambda id: codes.get(id, {}))
    page = "https://browser.ihtsdotools.org/?perspective=full&amp;conceptId1=22298006"
    assert pages.format("22298006") == page, "an attribute of HTML"
    assert [pages.format(id) for id in ("NIL", "", "X:1", "X:<script>")] == ["#"] * 4
