import pytest

from spacy_medlink.kb.code_systems import ConceptPages, concept_url

UTS = "https://uts.nlm.nih.gov/uts/umls/concept/"


@pytest.mark.parametrize(
    ("id", "url"),
    [
        ("HP:0001250", "https://hpo.jax.org/browse/term/HP:0001250"),
        ("C0011849", UTS + "C0011849"),
        ("D003924", "https://meshb.nlm.nih.gov/record/ui?ui=D003924"),
        ("MESH:C538288", "https://meshb.nlm.nih.gov/record/ui?ui=C538288"),
        ("OMIM:154700", "https://omim.org/entry/154700"),
        ("154700", "https://omim.org/entry/154700"),
        ("Orphanet:558", "https://www.orpha.net/en/disease/detail/558"),
        ("MONDO:0005148", "http://purl.obolibrary.org/obo/MONDO_0005148"),
        ("SCTID:22298006", "https://browser.ihtsdotools.org/?perspective=full&conceptId1=22298006"),
        ("http://x.org/1", ""),
        ("X:<script>", ""),
        ("HP:\"><b>'", "https://hpo.jax.org/browse/term/HP:%22%3E%3Cb%3E%27"),
        ("", ""),
    ],
)
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
