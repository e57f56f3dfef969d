"""Identifiers of texts and knowledge bases compare, however each is written."""

import pytest

from spacy_medlink.text.identifiers import identifies, spellings


@pytest.mark.parametrize(
    ("identifier", "id", "codes"),
    [
        ("HP:0001250", "HP:0001250", {}),
        ("OMIM:301500", "301500", {}),
        ("MESH:D003920", "D003920", {}),
        ("OMIM:301500", "C1", {"OMIM": ["301500"]}),
        ("OMIM:301500", "C1", {"MIM": ["301500"]}),
        ("ICD10:E119", "C1", {"ICD10CM": ["E11.9"]}),
        ("ICD10:E119", "E11.9", {}),
        ("SNOMEDCT:73211009", "C1", {"SNOMEDCT_US": ["1", "73211009"]}),
        ("MESH:D003920", "C1", {"MSH": ["MSH:D003920"]}),
        ("UMLS:C0011849", "HP:0000819", {"UMLS": ["C0011849"]}),
        ("LOCAL:00123", "local:00123", {}),
        ("ICD10:E119", "C1", {"CIE10": ["E11.9"]}),
    ],
)
def test_the_same(identifier: str, id: str, codes: dict[str, list[str]]) -> None:
    assert identifies(identifier, spellings(id, codes))


@pytest.mark.parametrize(
    ("identifier", "id", "codes"),
    [
        ("HP:0001250", "MP:0001250", {}),
        ("HR:110", "110", {}),
        ("OMIM:301500", "301501", {"ORPHA": ["301500"]}),
        ("ICD10:E119", "C1", {"ICD10CM": ["E11.8"], "ICD9CM": ["E119"]}),
    ],
)
def test_others(identifier: str, id: str, codes: dict[str, list[str]]) -> None:
    assert not identifies(identifier, spellings(id, codes))
