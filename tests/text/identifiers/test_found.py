"""Where texts write identifiers: spellings of vocabularies and codes, and what is no identifier."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.text.identifiers import find_identifiers
from tests.timing import cpu_seconds


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("Fabry disease (OMIM 301500)", "OMIM:301500"),
        ("Fabry disease (MIM #301500)", "OMIM:301500"),
        ("Fabry disease (OMIM: 301500)", "OMIM:301500"),
        ("Fabry disease (McKusick 301500)", "OMIM:301500"),
        ("Fabry disease (McK 301, 500)", "OMIM:301500"),
        ("Fabry disease (MIM number 301500)", "OMIM:301500"),
        ("seizures (HP:0001250)", "HP:0001250"),
        ("seizures, HPO 0001250", "HP:0001250"),
        ("diabetes (ICD-10: E11.9)", "ICD10:E119"),
        ("diabetes (ICD-10-CM code E11.9)", "ICD10:E119"),
        ("diabetes ICD10 E119", "ICD10:E119"),
        ("diabetes (ICD-9 250.00)", "ICD9:25000"),
        ("adenocarcinoma (ICD-O-3 8140/3)", "ICDO:81403"),
        ("diabetes (SNOMED CT 73211009)", "SNOMEDCT:73211009"),
        ("diabetes SCTID: 73211009", "SNOMEDCT:73211009"),
        ("diabetes (MeSH D003920)", "MESH:D003920"),
        ("diabetes (UMLS CUI C0011849)", "UMLS:C0011849"),
        ("diabetes C0011849", "UMLS:C0011849"),
        ("Fabry disease (ORPHA:324)", "ORPHA:324"),
        ("Fabry disease, Orphanet 324", "ORPHA:324"),
        ("Fabry disease (DOID:14499)", "DOID:14499"),
        ("Fabry disease (MONDO:0010526)", "MONDO:0010526"),
        ("carcinoma (NCIT:C2916)", "NCIT:C2916"),
        ("headache (MedDRA 10019211)", "MEDDRA:10019211"),
        ("COVID-19 (U07.1)", "ICD10:U071"),
        ("diabetes (CIE-10: E11.9)", "ICD10:E119"),
        ("diabète (CIM-10 E11.9)", "ICD10:E119"),
        ("Diabetes (ICD-10-GM-Kode: E11.90 G)", "ICD10:E1190"),
        ("Diabetes (ICD\u201110 E11.90G)", "ICD10:E1190"),
        ("Diabetes [E11.90V]", "ICD10:E1190"),
        ("fracture (S72.001A)", "ICD10:S72001A"),
        ("diabetes (icd-10: E11.9)", "ICD10:E119"),
        ("Fabry disease (Omim no 301500)", "OMIM:301500"),
        # A terminology of one's own.
        ("chest pain (LOCAL:00123)", "LOCAL:00123"),
        # ICD-10 by its looks, where it stands out.
        ("diabetes (E11.9)", "ICD10:E119"),
        ("diabetes [E11.9]", "ICD10:E119"),
        ("1. E11.9 - Type 2 diabetes", "ICD10:E119"),
        ("Diagnoses:\n- E11.9 Type 2 diabetes", "ICD10:E119"),
    ],
)
def test_identifiers(text: str, identifier: str) -> None:
    (found,) = find_identifiers(text)
    assert f"{found.vocabulary}:{found.code}" == identifier
    code = "".join(filter(str.isalnum, text[found.start : found.end].upper()))
    assert found.code in code


@pytest.mark.parametrize(
    "text",
    [
        "no digits at all, OMIM",
        "at 10:30 and 12:4500, ratio 1:2000",
        "a depth of T12.5 mm, vitamin B12, L4.5 with a grade of E11.9",
        "fracture (T12)",
        "COMIM 301500, XC0011849, C00118491",
        "see https://example.org:8080/x and doi:10.1000/182",
        "OMIM 3015001, MeSH D12",
        "uptake (F18.FDG)",
        "ICD-10",
    ],
)
def test_what_is_none(text: str) -> None:
    assert find_identifiers(text) == []


def test_all_of_a_text_in_its_order() -> None:
    text = (
        "seizures (HP:0001250, HP:0002069), diabetes (E10.9; E11.9) and Fabry disease, MIM 301500"
    )
    found = find_identifiers(text)
    assert [one.code for one in found] == ["0001250", "0002069", "E109", "E119", "301500"]
    assert [text[one.start : one.end] for one in found] == [
        "HP:0001250", "HP:0002069", "E10.9", "E11.9", "MIM 301500",
    ]  # fmt: skip


@given(st.text(alphabet="OMIHPCDE:.#(1209,) \n-é", max_size=80))
def test_any_text_is_read(text: str) -> None:
    found = find_identifiers(text)
    assert all(0 <= one.start < one.end <= len(text) and one.code for one in found)
    assert [one.end for one in found] == sorted({one.end for one in found})


def test_a_long_text_takes_its_time_by_length() -> None:
    def seconds(size: int) -> float:
        return min(cpu_seconds(lambda: find_identifiers("C" * size + "1" * size)) for _ in range(3))

    assert seconds(400_000) < 8 * seconds(100_000) + 0.05
