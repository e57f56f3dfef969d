"""Relations: what each reader makes of a source, and what the knowledge base says of them."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, schema
from spacy_medlink.kb.browse import verify
from spacy_medlink.kb.hierarchy import Hierarchy
from spacy_medlink.kb.readers import read
from spacy_medlink.kb.rekey import rekey
from spacy_medlink.types import CodeMap, Concept, Name, Record, Relation, Retired
from tests.kb import samples
from tests.kb.samples import DIABETES, DISEASE, TYPE_2, table, write_rf2
from tests.kb.umls_release import (
    BLOOD_PRESSURE,
    BRAND,
    DRUG,
    HYPERTENSION,
    TABLES,
    relation,
    write_release,
)
from tests.mutants import alter
from tests.tiny import kb_of

RELATIONSHIPS = "Terminology/sct2_Relationship_Snapshot_INT_20240101.txt"
DESCRIPTIONS = "Terminology/sct2_Description_Snapshot-en_INT_20240101.txt"


def concept(id: str, *relations: Relation, parents: tuple[str, ...] = ()) -> Concept:
    return Concept(id, f"name of {id}", parents=parents, relations=relations)


def build(path: Path, *records: Record) -> KnowledgeBase:
    return kb_of(path, records)


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    return build(
        tmp_path / "kb",
        concept("lung", Relation("part_of", "body", "A")),
        concept("asthma", Relation("finding_site", "lung", "A"), Relation("isa", "disease", "B"),
                Relation("finding_site", "gone", "A"), parents=("disease", "finding", "gone")),
        concept("disease", Relation("isa", "asthma", "C", True)),
        concept("finding"), concept("body"),
    )  # fmt: skip


def test_relations_of_a_concept(kb: KnowledgeBase) -> None:
    assert kb.relations("asthma") == [
        Relation("finding_site", "lung", "A"), Relation("isa", "disease", "B"),
        Relation("isa", "disease", "C"), Relation("isa", "finding", ""),
    ]  # fmt: skip
    assert kb.relations("asthma", "finding_site") == [Relation("finding_site", "lung", "A")]
    assert kb.relations("lung", inverse=True) == [Relation("finding_site", "asthma", "A", True)]
    assert kb.relations("disease", "isa") == kb.relations("body") == []
    assert {relation.id for relation in kb.relations("disease", "isa", inverse=True)} == {"asthma"}
    with pytest.raises(KeyError, match="'gone'"):
        kb.relations("gone")
    rows = list(kb.iter_ids())
    assert [(rows[a], said, rows[b], by) for a, said, b, by in kb.iter_relations()] == [
        ("lung", "part_of", "body", "A"), ("asthma", "finding_site", "lung", "A"),
        ("asthma", "isa", "disease", "B"), ("asthma", "isa", "disease", "C"),
        ("asthma", "isa", "finding", ""),
    ]  # fmt: skip
    assert kb.manifest["by_relation"] == {"finding_site": 1, "isa": 3, "part_of": 1}
    assert kb.manifest["missing_parents"] == 1
    verify(kb)


def damaged(kb: KnowledgeBase, path: Path, statement: str) -> KnowledgeBase:
    return KnowledgeBase(alter(path, statement, source=kb.path))


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("INSERT INTO relation VALUES (99, 1, 0, 1)", "relations that lead nowhere"),
        ("UPDATE hierarchy SET edges = x'0100000002000000'", "steps of the hierarchy that its"),
    ],
)
def test_strays_are_found(kb: KnowledgeBase, tmp_path, statement: str, problem: str) -> None:
    with pytest.raises(MedlinkError, match=problem):
        verify(damaged(kb, tmp_path / "bad.kb", statement))


@pytest.mark.parametrize(
    "edges", ["x'00'", "x'0900000000000000'", "x'00000000000000ff'", "x'0000000009000000'", "7"]
)
def test_a_damaged_hierarchy_is_an_error_with_a_code(kb: KnowledgeBase, tmp_path, edges) -> None:
    bad = damaged(kb, tmp_path / "bad.kb", f"UPDATE hierarchy SET edges = {edges}")
    for direction in (Hierarchy(bad).below, Hierarchy(bad).above):
        with pytest.raises(MedlinkError, match="E102"):
            direction(np.array([0]))


def _read_all(kb: KnowledgeBase) -> str:
    rows = range(len(kb))
    return repr([
        list(kb), list(kb.iter_names()), list(kb.iter_ids()), list(kb.iter_codes()), kb.labels,
        [(kb.brief_at(row), kb.concept_at(row)) for row in rows], list(kb.retired()),
        [[kb.relations(id, inverse) for inverse in (True, False)] for id in kb.iter_ids()],
        [(kb.maps(id), kb.children(id), kb.descendants(id)) for id in kb.iter_ids()],
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("table", "column"),
    [
        (table, column)
        for table, columns in schema.expected_columns().items()
        for column, type in columns
        if type == "TEXT" and table != "meta"
    ],
)
def test_bytes_in_place_of_texts_are_read_as_texts_or_found(
    tmp_path: Path, table: str, column: str
) -> None:
    """SQLite takes bytes in any column; a linker that meets them would fail somewhere else."""
    kb = build(
        tmp_path / "kb",
        Concept("body", "body"),
        Concept("lung", "lung", parents=("body",), codes={"X": ("1",)},
                relations=(Relation("part_of", "body", "A"),),
                maps=(CodeMap("X", "1", "exact", "A", "a note"),)),
        Retired("old", "lung", "merged"),
    )  # fmt: skip
    assert "b'" not in _read_all(kb)
    text = damaged(
        kb, tmp_path / "text.kb", f"UPDATE {table} SET {column} = CAST({column} AS BLOB)"
    )
    with suppress(MedlinkError):  # bytes as an id, or as a list of codes
        assert "b'" not in _read_all(text)
    bad = damaged(
        kb, tmp_path / "bad.kb", f"UPDATE {table} SET {column} = CAST({column} || x'ff' AS BLOB)"
    )
    with pytest.raises(MedlinkError, match="E102"):
        _read_all(bad)


def test_pieces_of_a_concept_bring_their_relations(tmp_path: Path) -> None:
    kb = build(
        tmp_path / "kb", concept("a", Relation("r", "b", "A")), concept("b"),
        concept("a", Relation("s", "b", "B"), Relation("r", "b", "A"), parents=("b",)),
    )  # fmt: skip
    assert [(relation.relation, relation.source) for relation in kb.relations("a")] == [
        ("isa", ""), ("r", "A"), ("s", "B"),
    ]  # fmt: skip


IDS = st.sampled_from("abcde")
LINKS = st.builds(
    Relation, st.sampled_from(["isa", "r", "s"]), st.sampled_from("abcdex"),
    st.sampled_from(["", "A"]), st.booleans(),
)  # fmt: skip


@settings(max_examples=30)
@given(st.dictionaries(IDS, st.lists(LINKS, max_size=5), min_size=1))
def test_relations_are_those_of_both_ends(tmp_path_factory, said) -> None:
    kb = build(
        tmp_path_factory.mktemp("kb") / "kb", *(concept(id, *own) for id, own in said.items())
    )
    expected = {
        (record.id, record.relation, id, record.source)
        if record.inverse else (id, record.relation, record.id, record.source)
        for id, own in said.items() for record in own if record.id in said
    }  # fmt: skip
    assert expected == {
        (id, relation.relation, relation.id, relation.source)
        for id in said
        for relation in kb.relations(id)
    }
    assert expected == {
        (relation.id, relation.relation, id, relation.source)
        for id in said for relation in kb.relations(id, inverse=True)
    }  # fmt: skip
    assert len(list(kb.iter_relations())) == len(expected)


# Readers


def test_mrrel_reads_from_the_second_concept_to_the_first(tmp_path: Path) -> None:
    rows = [
        relation(HYPERTENSION, "PAR", BLOOD_PRESSURE, "inverse_isa"),
        relation(HYPERTENSION, "RO", DRUG, "may_treat"),
        relation(HYPERTENSION, "RO", DRUG, "may_be_treated_by", suppress="O"),
        relation(HYPERTENSION, "SIB", BRAND),
        relation(BLOOD_PRESSURE, "CHD", HYPERTENSION, "isa"),
        relation(BLOOD_PRESSURE, "CHD", DRUG, "part_of"),
        relation(DRUG, "RO", HYPERTENSION, "may_be_treated_by"),
        relation(DRUG, "PAR", BLOOD_PRESSURE, "has_part"),
        relation(DRUG, "RN", BRAND),
        relation(BRAND, "RB", DRUG),
    ]
    release = write_release(tmp_path / "META", TABLES | {"MRREL": sorted(rows)})
    kb = build(tmp_path / "kb", *read("umls", release))
    said = {
        (concept.id, other.relation, other.id)
        for concept in kb for other in kb.relations(concept.id) if other.source == "SNOMEDCT_US"
    }  # fmt: skip
    assert said == {
        (HYPERTENSION, "isa", BLOOD_PRESSURE), (DRUG, "may_treat", HYPERTENSION),
        (HYPERTENSION, "may_be_treated_by", DRUG), (DRUG, "isa", BLOOD_PRESSURE),
        (DRUG, "part_of", BLOOD_PRESSURE), (BLOOD_PRESSURE, "has_part", DRUG),
        (BRAND, "RN", DRUG), (DRUG, "RB", BRAND),  # the brand is narrower
    }  # fmt: skip
    assert kb[DRUG].parents == (BLOOD_PRESSURE,)


def test_rf2_attributes_are_called_as_their_types(tmp_path: Path) -> None:
    site, old = "363698007", "255234002"
    row = ("20240101", "1", "900000000000207008", TYPE_2)
    kind = ("900000000000011006", "900000000000451002")
    write_rf2(
        tmp_path,
        {
            RELATIONSHIPS: samples.RF2[RELATIONSHIPS]
            + table(" ".join(("400010", *row, DIABETES, "1", site, *kind)))
            + table(" ".join(("400011", *row, DIABETES, "2", site, *kind)))
            + table(" ".join(("400012", *row, DISEASE, "1", old, *kind))),
            DESCRIPTIONS: samples.RF2[DESCRIPTIONS]
            + samples.description(100020, site, "Finding site (attribute)", samples.FSN, "en")
            + "\r\n",
        },
    )
    bad: list = []  # the attribute itself is in no concept file
    records = {record.id: record for record in read("snomed", tmp_path, bad)}
    assert records[TYPE_2].relations == (
        Relation("isa", DIABETES, "SNOMEDCT"), Relation(old, DISEASE, "SNOMEDCT"),
        Relation("finding_site", DIABETES, "SNOMEDCT"),
    )  # fmt: skip
    assert records[TYPE_2].parents == (DIABETES,)


def test_ids_of_relations_become_those_of_the_scheme() -> None:
    def coded(id: str, code: str, *relations: Relation, parents: tuple[str, ...] = ()) -> Concept:
        codes = {"UMLS": (code,)} if code else {}
        return Concept(id, id, (Name(id),), codes=codes, parents=parents, relations=relations)

    records = rekey(
        [
            coded("A:1", "C1", Relation("isa", "A:2", "A"), Relation("site", "A:3"),
                  Relation("site", "A:2"), parents=("A:2",)),
            coded("A:2", "", Relation("isa", "A:3", "A"), parents=("A:3",)),
            coded("A:3", "C3", Relation("site", "A:1", "A", True)),
        ],
        "UMLS",
    )  # fmt: skip
    assert {record.id: record.relations for record in records if isinstance(record, Concept)} == {
        "C1": (Relation("isa", "C3", "A"), Relation("site", "C3")),
        "C3": (Relation("site", "C1", "A", True),),
    }
