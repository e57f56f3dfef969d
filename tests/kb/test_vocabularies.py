"""Vocabularies: their spellings, and the releases that a spelling may name."""

import time

import pytest

from spacy_medlink.kb.vocabularies import VOCABULARIES, canonical, is_known


@pytest.mark.parametrize(
    ("name", "spellings"),
    [
        (
            "SNOMEDCT_US",
            "SNOMEDCT SNOMED SCTID SNOMED_CT SNOMED-CT snomedct SNOMEDCT_US_2025_09_01"
            " SNOMEDCT_2010_1_31 SNOMEDCT_2013_01_31 SCTID_2010_1_31 SNOMEDCT_US_20250901",
        ),
        ("ICD9CM", "ICD9CM_2006 ICD-9-CM icd9cm ICD9CM2012"),
        ("ICD10", "ICD-10 ICD10_2010 ICD10WHO icd10 ICD-10-2019"),
        ("ICD10CM", "ICD-10-CM ICD10CM_2021 ICD10-CM"),
        ("NCIT", "NCI NCI2009_04D NCI_2023_06D NCIt NCIt_20.06e"),
        ("MESH", "MSH MeSH mesh MSH2010_2010_02_22 MESH_2024"),
        ("ORPHA", "ORDO Orphanet ORPHANET ORPHA"),
        ("UMLS", "UMLS_CUI CUI umls UMLS_2020AA"),
        ("MEDDRA", "MedDRA MDR23_1 MedDRA_17.1"),
        ("HP", "HPO hp HPO2020_10_12"),
        ("ICDO", "ICD-O ICD-O-3 ICDO3"),
    ],
)
def test_spellings(name: str, spellings: str) -> None:
    assert {spelling: canonical(spelling) for spelling in spellings.split()} == dict.fromkeys(
        spellings.split(), name
    )
    assert all(map(is_known, spellings.split()))


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("NDFRT_2010_03_02", "NDFRT"), ("RXN_20250901", "RXN"), ("OURS_2020", "OURS_2020"),
        ("SNOMEDCT_VET_2018_04_01", "SNOMEDCT_VET"),  # another one than SNOMED CT
        ("ICPC2", "ICPC2"), ("CTV3", "CTV3"), ("Fyler", "Fyler"), ("EFOpat_id", "EFOpat_id"),
        ("icd11.foundation", "icd11.foundation"), ("OMIMPS", "OMIMPS"), ("X2010", "X2010"),
    ],
)  # fmt: skip
def test_what_is_not_known_keeps_its_name_without_the_release(spelling: str, name: str) -> None:
    assert canonical(spelling) == name
    assert not is_known(spelling)


def test_each_spelling_and_address_is_of_one_vocabulary() -> None:
    rows = VOCABULARIES.values()
    assert all(canonical(word) == row.name for row in rows for word in row.spellings.split())
    for column in ([row.address for row in rows], [row.codes for row in rows]):
        said = list(filter(None, column))
        assert len(said) == len(set(said)) > 0
    assert all("{code}" in row.page for row in rows if row.page)


def test_a_long_name_takes_no_quadratic_time() -> None:
    start = time.process_time()
    assert canonical("_" * 300_000) == "_" * 300_000
    canonical("a" + "_2010" * 100_000)
    canonical("a" + "_2010" * 100_000 + "!")
    assert time.process_time() - start < 5
