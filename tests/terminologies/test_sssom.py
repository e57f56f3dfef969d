"""Mapping sets: read from SSSOM, put on concepts, written."""

import csv
import gzip
import io
import json
import random
from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import build_knowledge_base
from spacy_medlink.terminologies.sssom import MappingSets
from spacy_medlink.types import BadLine, CodeMap, Concept, Name, Record, Retired
from tests.kb.samples import SSSOM
from tests.mutants import mutate, told
from tests.tables import table

OBO = "http://purl.obolibrary.org/obo/"
CONCEPTS: list[Record] = [
    Concept("HP:1", "sweet disease", codes={"MESH": ("D0",)}),
    Retired("HP:3", "HP:1"),
    Concept("HP:2", "sweet foot"),
    Concept("C0000001", "foot, sweet"),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "download.sssom.tsv"
    path.write_text(SSSOM)
    return path


def _applied(
    path: Path, records: list[Record] = CONCEPTS, bad: list[BadLine] | None = None
) -> dict[str, Concept]:
    found = MappingSets([path]).apply(records, bad)
    return {record.id: record for record in found if isinstance(record, Concept)}


def test_either_side_may_be_the_concept(path: Path) -> None:
    found = _applied(path)
    assert found["HP:1"].maps == (
        CodeMap("MESH", "D1", "exact", "sweet"),
        CodeMap("SNOMEDCT_US", "100001", "broader", "sweet", "confidence 0.8"),
        CodeMap("OMIM", "7", "broader", "sweet"),  # the concept is narrower than OMIM's
        CodeMap("NCIT", "C1", "", "sweet"),
    )
    assert found["HP:1"].codes == {
        "MESH": ("D0", "D1"), "SNOMEDCT_US": ("100001",), "OMIM": ("7",), "NCIT": ("C1",),
    }  # fmt: skip
    # Both sides are concepts; the one without a prefix is known by its shape.
    assert found["HP:2"].maps == (CodeMap("UMLS", "C0000001", "related", "sweet"),)
    assert found["C0000001"].maps == (CodeMap("HP", "2", "related", "sweet"),)


def test_ids_without_a_prefix_are_of_the_source_of_their_names(path: Path) -> None:
    path.write_text("subject_id\tpredicate_id\tobject_id\nSCTID:100001\tskos:exactMatch\tX:1\n")
    names = (Name("sweet", "en", "SNOMEDCT"),)
    same = Concept("100001", "sweet", names)
    # An OMOP concept has an id of its own, which may be that of something else in SNOMED CT.
    other = Concept("100001", "sweet", names, codes={"SNOMEDCT": ("5",)})
    assert _applied(path, [same])["100001"].codes == {"X": ("1",)}
    assert _applied(path, [other])["100001"] == other


def test_a_map_of_a_retired_id_is_passed_over_and_counted(path: Path) -> None:
    path.write_text(
        "subject_id\tpredicate_id\tobject_id\nHP:3\tskos:exactMatch\tMESH:D3\n"
        "MESH:D4\tskos:exactMatch\tHP:3\nHP:1\tskos:exactMatch\tMESH:D1\n"
    )
    sets = MappingSets([path])
    found = [record for record in sets.apply(CONCEPTS) if isinstance(record, Concept)]
    assert [one.codes.get("MESH") for one in found] == [("D0", "D1"), None, None]
    assert (sets.lines, sets.used) == ([3], [1])


def test_build(path: Path, tmp_path: Path) -> None:
    source = tmp_path / "x.jsonl"
    lines = [{"concept_id": one.id, "canonical_name": one.name}
             for one in CONCEPTS if isinstance(one, Concept)]  # fmt: skip
    source.write_text("\n".join(map(json.dumps, [*lines, lines[0]])))
    zipped = tmp_path / "more.sssom.tsv.gz"
    zipped.write_bytes(
        gzip.compress(SSSOM.partition("subject_id")[2].join(["subject_id", ""]).encode())
    )
    sources = [("jsonl", source)]
    built = build_knowledge_base(out=tmp_path / "a.kb", sources=sources, maps=[path, zipped])
    first, second = built.kb.manifest["maps"]
    assert (first["name"], first["lines"], first["used"]) == ("download.sssom.tsv", 6, 5)
    assert (second["name"], second["used"]) == ("more.sssom.tsv.gz", 5)  # "hpo" is known
    assert CodeMap("MESH", "D1", "exact", "more") in built.kb.maps("HP:1")
    build_knowledge_base(out=tmp_path / "b.kb", sources=sources, maps=[path, zipped])
    assert (tmp_path / "a.kb").read_bytes() == (tmp_path / "b.kb").read_bytes()
    # Codes of a mapping set can become the ids.
    keyed = build_knowledge_base(
        out=tmp_path / "c.kb", sources=sources, maps=[path], id_scheme="MESH"
    )
    assert [concept.id for concept in keyed.kb] == ["D1"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("predicate_id", "predicate", "line 6: no column predicate_id"),
        ("#  hpo: ", "# [hpo: ", "line 2: no prefix and address"),
        ("MESH:D1\t", "MESH:D1", "line 8: 5 columns"),
        ("MESH:D1\t", "D1\t", "line 8: the id 'D1'"),
        ("MESH:D1\t", "\t", "line 8: an empty object_id"),
        (SSSOM, "", "line 1: no column subject_id"),
        (SSSOM, "#a: b\n#c", "line 1: no column subject_id"),
    ],
)
def test_bad_lines(path: Path, tmp_path: Path, old: str, new: str, problem: str) -> None:
    assert old in SSSOM
    path.write_text(SSSOM.replace(old, new))
    with pytest.raises(MedlinkError, match=f"E105.*download.sssom.tsv, {problem}"):
        _applied(path)
    bad: list[BadLine] = []
    assert set(_applied(path, bad=bad)) == {"HP:1", "HP:2", "C0000001"}
    assert len(bad) == 1
    source = tmp_path / "x.jsonl"
    source.write_text('{"concept_id": "HP:1", "canonical_name": "sweet"}')
    with pytest.raises(MedlinkError, match=f"E105.*{problem}"):
        build_knowledge_base(out=tmp_path / "x.kb", sources=[("jsonl", source)], maps=[path])
    assert not (tmp_path / "x.kb").exists()


@pytest.mark.parametrize("name", ["download.sssom.tsv", "download.sssom.csv", "download.csv.gz"])
@pytest.mark.parametrize("delimiter", ["\t", ",", ";"])
def test_spreadsheets(path: Path, tmp_path: Path, name: str, delimiter: str) -> None:
    """They fill all rows up, quote what holds the delimiter, and write a byte-order mark."""
    text = SSSOM.replace("#license: ", "#comment: a, b; c\td\n#license: ")
    rows = [[line] if line[0] == "#" else line.split("\t") for line in text.splitlines()]
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL).writerows(
        row + [""] * (8 - len(row)) for row in rows
    )
    saved = tmp_path / "saved" / name
    saved.parent.mkdir()
    data = ("\ufeff" + file.getvalue() + delimiter * 7 + "\r\n").encode()
    saved.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    assert _applied(saved) == _applied(path)


@table(__file__, "a_bad_line_of_the_header_spoils_nothing_else")
def test_a_bad_line_of_the_header_spoils_nothing_else(path: Path, bad: str, line: int) -> None:
    expected = _applied(path)
    path.write_text(SSSOM.replace("#mapping_set_id", f"{bad}#mapping_set_id"))
    with pytest.raises(MedlinkError, match=f"E105.*download.sssom.tsv, line {line}: "):
        _applied(path)
    bad_lines: list[BadLine] = []
    assert _applied(path, bad=bad_lines) == expected
    assert [bad_line.line for bad_line in bad_lines] == [line]


@pytest.mark.parametrize(
    "more",
    ["# Mappings\n#\n", "#comment: a: b\n", "#comment: [a\n", '#creator_id:\n#  - "x\n',
     "#curie_map: {}\n"],
)  # fmt: skip
def test_what_the_header_says_beside_prefixes_is_not_read(path: Path, more: str) -> None:
    expected = _applied(path)
    path.write_text(more + SSSOM)
    assert _applied(path) == expected


@pytest.mark.parametrize("mark", ['"', "'", ""])
def test_prefixes_may_be_quoted_and_have_comments(path: Path, mark: str) -> None:
    expected = _applied(path)
    address = f"{mark}{OBO}HP_{mark}"
    path.write_text(SSSOM.replace(f"hpo: {OBO}HP_", f"{mark}hpo{mark}:   {address} # of HPO"))
    assert _applied(path) == expected


def test_ids_stay_what_the_curie_map_says(path: Path) -> None:
    """ "FEVER_HIGH" is no id of an ontology FEVER, and two vocabularies stay apart."""
    path.write_text(
        "# curie_map:\n#   LOCAL: http://example.org/a/\n#   ex_2: http://example.org/b#\n"
        f"#   OURS: {OBO}OUR_OWN_\n#   obo: {OBO}\n"
        "subject_id\tpredicate_id\tobject_id\n"
        "LOCAL:FEVER_HIGH\tskos:exactMatch\tHP:1\n"
        "ex_2:FEVER_HIGH\tskos:exactMatch\tHP:2\n"
        "LOCAL:COUGH\tskos:exactMatch\thttp://example.org/b#COUGH\n"
        f"OURS:PAIN_LOW\tskos:exactMatch\t<{OBO}HP_3>\n"
    )
    ids = ["LOCAL:FEVER_HIGH", "ex_2:FEVER_HIGH", "http://example.org/b#FEVER_HIGH", "HP:1",
           "LOCAL:COUGH", "http://example.org/b#COUGH", "OUR_OWN:PAIN_LOW"]  # fmt: skip
    found = _applied(path, [Concept(id, "a") for id in ids])
    assert [dict(one.codes) for one in found.values()] == [
        {"HP": ("1",)}, {"HP": ("2",)}, {"HP": ("2",)}, {"LOCAL": ("FEVER_HIGH",)},
        {"URL": ("http://example.org/b#COUGH",)}, {"LOCAL": ("COUGH",)},
        {"HP": ("3",)},
    ]  # fmt: skip


def test_predicates_across_species_are_related(path: Path) -> None:
    path.write_text(
        "subject_id\tpredicate_id\tobject_id\nHP:1\tsemapv:crossSpeciesExactMatch\tMP:1\n"
        "HP:1\tskos: closeMatch\tMP:2\n"
    )
    assert [code_map[:3] for code_map in _applied(path)["HP:1"].maps] == [
        ("MP", "1", "related"), ("MP", "2", "related"),
    ]  # fmt: skip


def test_a_text_is_no_concept(path: Path) -> None:
    path.write_text(
        "subject_id\tpredicate_id\tobject_id\tobject_type\nHP:1\tskos:exactMatch\tX:1\t\n"
        "HP:1\tskos:exactMatch\t\trdfs literal\nHP:1\tskos:exactMatch\tX:2\trdfs literal\n"
    )
    assert _applied(path)["HP:1"].codes == {"MESH": ("D0",), "X": ("1",)}


def test_mutants(path: Path) -> None:
    """Whatever the file holds, concepts come out whole, or the error names file and line."""
    rng = random.Random("sssom")
    for _ in range(250):
        path.write_bytes(mutate(SSSOM.encode(), rng))
        bad: list[BadLine] = []
        found = _applied(path, bad=bad)
        assert list(found) == ["HP:1", "HP:2", "C0000001"]
        said = f"{path}, line {bad[0].line}: {bad[0].problem}" if bad else ""
        assert told(lambda: _applied(path), {"E105"} if bad else (), said)[0] == (
            None if bad else found
        )


def test_no_such_file(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"concept_id": "1", "canonical_name": "sweet"}')
    sources = [("jsonl", tmp_path / "x.jsonl")]
    with pytest.raises(MedlinkError, match="E107"):
        build_knowledge_base(out=tmp_path / "kb", sources=sources, maps=[tmp_path / "none"])
    (tmp_path / "kb").write_text(SSSOM)
    with pytest.raises(MedlinkError, match="E122"):
        build_knowledge_base(out=tmp_path / "kb", sources=sources, maps=[tmp_path / "kb"])
