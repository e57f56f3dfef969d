"""Maps: what each reader makes of what a source says of codes, and what the knowledge base has."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase
from spacy_medlink.kb.browse import verify
from spacy_medlink.kb.readers import obo, read
from spacy_medlink.kb.rekey import rekey
from spacy_medlink.kb.second_process import read_apart
from spacy_medlink.types import CodeMap, Concept
from tests.kb import samples
from tests.kb.samples import DIABETES, write_rf2
from tests.tiny import kb_of

MAPS = "Refset/Map/der2_iisssccRefset_ExtendedMapSnapshot_INT_20240101.txt"
OBO = """ontology: mondo

[Term]
id: MONDO:1
name: diabetes
xref: OMIM:1
xref: MESH:D1 {source="DOID:1", source="MONDO:equivalentTo"}
xref: NCIT:C1 {source="MONDO:mondoIsNarrowerThanSource"}
property_value: skos:exactMatch Orphanet:1
property_value: closeMatch http://purl.obolibrary.org/obo/DOID_1
property_value: skos:broadMatch http://identifiers.org/snomedct/1
property_value: seeAlso "x" xsd:string
"""
EXPECTED = (
    CodeMap("MESH", "D1", "exact", "MONDO"), CodeMap("NCIT", "C1", "broader", "MONDO"),
    CodeMap("ORPHA", "1", "exact", "MONDO"), CodeMap("DOID", "1", "related", "MONDO"),
    CodeMap("SNOMEDCT_US", "1", "broader", "MONDO"),
)  # fmt: skip


def test_obo(tmp_path: Path) -> None:
    path = tmp_path / "x.obo"
    path.write_text(OBO)
    (concept,) = obo.read(path)
    assert isinstance(concept, Concept)
    assert concept.maps == EXPECTED
    assert {name: [*own] for name, own in concept.codes.items()} == {
        "MESH": ["D1"], "ORPHA": ["1"], "OMIM": ["1"], "NCIT": ["C1"], "DOID": ["1"],
        "SNOMEDCT_US": ["1"],
    }  # fmt: skip
    assert list(read_apart("spacy_medlink.kb.readers.obo:read", path, None)) == [concept]
    kb = kb_of(tmp_path / "kb", [concept])
    assert set(kb.maps("MONDO:1")) == {*EXPECTED, CodeMap("OMIM", "1")}
    assert kb["MONDO:1"].codes.get("MESH", ()) == ("D1",)
    (coded,) = rekey([concept], "MESH")
    assert isinstance(coded, Concept)
    assert coded.maps == EXPECTED
    with pytest.raises(KeyError):
        kb.maps("MONDO:2")


def test_rf2(tmp_path: Path) -> None:
    """Of a "narrow to broad" map the concept is the narrow one."""
    text = samples.RF2[MAPS].replace("IF ...\tE10.9\t1", "IF TYPE 1\tE10.9\t447558009")
    records = read("snomed", write_rf2(tmp_path / "rf2", {MAPS: text}))
    kb = kb_of(tmp_path / "kb", records)
    assert [code_map for code_map in kb.maps(DIABETES) if code_map.vocabulary == "ICD10"] == [
        CodeMap("ICD10", "E10.9", "broader", "SNOMEDCT", "IF TYPE 1"),
        CodeMap("ICD10", "E14.9", "", "SNOMEDCT", "ALWAYS E14.9"),
    ]
    assert CodeMap("CTV3", "C10..") in kb.maps(DIABETES)
    verify(kb)


def test_pieces_of_a_concept(tmp_path: Path) -> None:
    said = CodeMap("X", "1", "exact", "A"), CodeMap("X", "2", "narrower", "B", "some")
    pieces = [
        Concept("a", "a", codes={"X": ("1",)}, maps=said[:1]),
        Concept("a", "a", codes={"X": ("2", "3")}, maps=said[1:]),
    ]
    kb = kb_of(tmp_path / "kb", pieces)
    assert kb.maps("a") == [*said, CodeMap("X", "3")]
    with closing(sqlite3.connect(kb.path)) as db, db:
        db.execute("INSERT INTO map VALUES (7, 0, '1', 0, 0, '')")
    with pytest.raises(MedlinkError, match="maps of no concept"):
        verify(KnowledgeBase(kb.path))
