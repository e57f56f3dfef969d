"""Orphadata: invented disorders in the form of products 1 and 4."""

from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import read
from spacy_medlink.terminologies.orphadata import release_of
from spacy_medlink.types import CodeMap, Concept, Name, Relation, Retired

PRODUCT = """<?xml version="1.0" encoding="{}"?>
<JDBOR date="2026-06-01 04:00:00" version="1.3">
<DisorderList count="3">
<Disorder id="1"><OrphaCode>7</OrphaCode><Name lang="fr">Maladie sucrée</Name>
 <SynonymList count="1"><Synonym lang="fr">MS</Synonym></SynonymList>
 <DisorderType id="2"><Name lang="en">Disease</Name></DisorderType>
 <ExternalReferenceList count="2">
  <ExternalReference><Source>ICD-10</Source><Reference>E74.8</Reference><DisorderMappingRelation>
   <Name lang="en">NTBT (narrower term maps to a broader one)</Name></DisorderMappingRelation>
  </ExternalReference>
  <ExternalReference><Source>OMIM</Source><Reference>100000</Reference><DisorderMappingRelation>
   <Name lang="en">E (exact mapping)</Name></DisorderMappingRelation></ExternalReference>
 </ExternalReferenceList>
 <SummaryInformationList><SummaryInformation><TextSectionList><TextSection>
  <TextSectionType><Name>Definition</Name></TextSectionType><Contents>Le sang est sucré.</Contents>
 </TextSection></TextSectionList></SummaryInformation></SummaryInformationList>
 <HPODisorderAssociationList><HPODisorderAssociation><HPO><HPOId>HP:0000001</HPOId></HPO>
  <HPOFrequency><Name>Frequent (79-30%)</Name></HPOFrequency></HPODisorderAssociation>
  <HPODisorderAssociation><HPO><HPOId>HP:0000002</HPOId></HPO>
  <HPOFrequency><Name>Excluded (0%)</Name></HPOFrequency></HPODisorderAssociation>
 </HPODisorderAssociationList></Disorder>
<Disorder id="3"><OrphaCode>8</OrphaCode><Name lang="fr">OBSOLETE: Miel</Name>
 <DisorderDisorderAssociationList><DisorderDisorderAssociation><TargetDisorder id="1">
 <OrphaCode>7</OrphaCode></TargetDisorder></DisorderDisorderAssociation>
 </DisorderDisorderAssociationList></Disorder>
<Disorder id="4"><OrphaCode>9</OrphaCode><Name lang="fr">NON RARE IN EUROPE: Sirop</Name></Disorder>
</DisorderList></JDBOR>
"""


@pytest.mark.parametrize("encoding", ["UTF-8", "ISO-8859-1"])
def test_orphadata(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "fr_product1.xml"
    path.write_bytes(PRODUCT.format(encoding).encode(encoding))
    maps = (
        CodeMap("ICD10", "E74.8", "broader", "ORPHA"),
        CodeMap("OMIM", "100000", "exact", "ORPHA"),
    )
    assert list(read("orphadata", path)) == [
        Concept(
            "ORPHA:7", "Maladie sucrée",
            (Name("Maladie sucrée", "fr", "ORPHA", "PT"), Name("MS", "fr", "ORPHA", "SY")),
            ("Disease",), "Le sang est sucré.",
            {"ORPHA": ("7",), "ICD10": ("E74.8",), "OMIM": ("100000",)},
            relations=(Relation("has_phenotype", "HP:0000001", "ORPHA"),), maps=maps,
        ),
        Retired("ORPHA:8", "ORPHA:7", "obsolete"),
        Concept("ORPHA:9", "Sirop", (Name("Sirop", "fr", "ORPHA", "PT"),), codes={"ORPHA": ("9",)}),
    ]  # fmt: skip
    assert release_of(path) == "2026-06-01"


@pytest.mark.parametrize(
    "text, problem",
    [
        (PRODUCT.format("UTF-8").replace("<OrphaCode>9</OrphaCode>", ""), "E105.*line 26.*''"),
        (PRODUCT.format("UTF-8")[:-9], "E105.*not well-formed"),
        ("<JDBOR/>", "E160.*no Disorder"),
    ],
)
def test_what_is_wrong_has_a_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "x.xml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MedlinkError, match=problem):
        list(read("orphadata", path))
