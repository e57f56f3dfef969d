import gzip
from pathlib import Path
from shutil import make_archive

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import build_kb, build_knowledge_base
from spacy_medlink.kb.code_systems import concept_url
from spacy_medlink.kb.filters import Filters
from spacy_medlink.kb.readers import read
from spacy_medlink.kb.rekey import rekey
from spacy_medlink.terminologies import omop
from spacy_medlink.types import BadLine, Concept, Name, Record, Relation, Retired
from tests.kb import samples
from tests.kb.samples import write_omop
from tests.tiny import kb_of

SYNONYMS, RELATIONSHIPS = "CONCEPT_SYNONYM.csv", "CONCEPT_RELATIONSHIP.csv"


def _by_id(records: list[Record]) -> dict[str, Record]:
    return {record.id: record for record in records}


def _concept(records: dict[str, Record], id: str) -> Concept:
    record = records[id]
    assert isinstance(record, Concept)
    return record


def test_all_valid_concepts_on_request(tmp_path: Path) -> None:
    records = _by_id(list(omop.read(write_omop(tmp_path), lang="de", standard=False)))
    illness = _concept(records, "200")
    assert illness.names[0] == Name("Sugar illness", "de", "ICD10CM", "PT")
    assert illness.relations == (Relation("maps_to", "100", "OMOP"),)
    assert len(_concept(records, "100").names) == 5  # the invalid one of ICD9CM still gives its own
    assert "0" not in records and records["202"] == Retired("202", "100", "maps to 100")


_HEADER = (
    "concept_id\tconcept_name\tdomain_id\tvocabulary_id\tconcept_class_id\tstandard_concept"
    "\tconcept_code\tinvalid_reason\n"
)


def test_exports_say_that_a_row_is_valid(tmp_path: Path) -> None:
    rows = "1\ta\tx\tX\tx\tS\tK1\tValid\n2\tb\tx\tX\tx\tStandard\tK2\tV\n3\tc\tx\tX\tx\tS\tK3\tD\n"
    (tmp_path / "CONCEPT.csv").write_text(_HEADER + rows)
    records = list(omop.read(tmp_path))
    assert [type(record) for record in records] == [Concept, Concept, Retired]


def test_a_classification_needs_all(tmp_path: Path) -> None:
    file = tmp_path / "CONCEPT.csv"
    file.write_text(f"{_HEADER}1\tBiguanides\tDrug\tATC\tATC 4th\tC\tA10BA\t\n")
    built = {"out": tmp_path / "x.kb", "sources": [("omop", file)]}
    with pytest.raises(MedlinkError, match=r"E104.*`--all` reads those of classifications"):
        build_knowledge_base(**built)
    assert len(build_knowledge_base(**built, options={"standard": False}).kb) == 1


def test_an_archive_of_athena(tmp_path: Path) -> None:
    directory = write_omop(tmp_path / "vocabulary")
    archive = Path(make_archive(str(tmp_path / "athena"), "zip", directory))
    assert list(omop.read(archive)) == list(omop.read(directory))
    assert omop.release_of(archive) == "v5.0 01-JAN-26" and omop.files_of(archive) == [archive]


def test_release_and_files(tmp_path: Path) -> None:
    write_omop(tmp_path)
    assert omop.release_of(tmp_path) == "v5.0 01-JAN-26"
    (tmp_path / "DRUG_STRENGTH.csv").write_text("drug_concept_id\n")
    assert {file.name for file in omop.files_of(tmp_path)} == set(samples.OMOP)
    (tmp_path / "VOCABULARY.csv").unlink()
    assert omop.release_of(tmp_path) == ""


def test_concepts_are_enough(tmp_path: Path) -> None:
    """File names may have any case, columns any order, files may be compressed."""
    header, row = "vocabulary_id concept_code concept_id concept_name", "SNOMED\tS1\t7\tThing"
    header += " invalid_reason standard_concept concept_class_id domain_id more"
    text = header.upper().replace(" ", "\t") + f"\n{row}\t\tS\tC\tD\tx\n"
    (tmp_path / "concept.csv.gz").write_bytes(gzip.compress(text.encode()))
    (concept,) = read("omop", tmp_path)
    assert isinstance(concept, Concept)
    assert (concept.id, concept.name, concept.types) == ("7", "Thing", ("D", "C"))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"CONCEPT.csv": ""}, "no CONCEPT.csv"),
        ({"CONCEPT.csv": "concept_id,concept_name\n1,a\n"}, "no domain_id"),
        ({SYNONYMS: "concept_id\tname\n"}, "no concept_synonym_name"),
        ({RELATIONSHIPS: "\n"}, "no concept_id_1"),
    ],
)
def test_other_files(tmp_path: Path, changes: dict[str, str], problem: str) -> None:
    with pytest.raises(MedlinkError, match=f"E160.*{problem}.*Athena"):
        list(read("omop", write_omop(tmp_path, changes)))
    with pytest.raises(MedlinkError, match=r"E160.*not a directory"):
        list(read("omop", Path(__file__)))


BAD = [
    ("CONCEPT.csv", "500\tname", "2 columns"),
    ("CONCEPT.csv", "x1\tn\tD\tV\tC\tS\tc\t1\t2\t", "the concept id 'x1'"),
    ("CONCEPT.csv", "500\t \tD\tV\tC\tS\tc\t1\t2\t", "an empty name"),
    ("CONCEPT.csv", "500\tn\tD\t\tC\tS\tc\t1\t2\t", "an empty vocabulary_id"),
    ("CONCEPT.csv", "500\tn\tD\tV\tC\tS\t\t1\t2\t", "an empty concept_code"),
    (SYNONYMS, "100\t\t4180186", "an empty name"),
    (SYNONYMS, f"{'1' * 19}\tn\t4180186", "the concept id"),
    (RELATIONSHIPS, "100\t101\t\t1\t2\t", "an empty relationship_id"),
    (RELATIONSHIPS, "100\t\tIs a\t1\t2\t", "the concept id ''"),
]


@pytest.mark.parametrize(("file", "line", "problem"), BAD)
def test_bad_lines(tmp_path: Path, file: str, line: str, problem: str) -> None:
    whole = list(read("omop", write_omop(tmp_path)))
    write_omop(tmp_path, {file: f"{samples.OMOP[file]}\n{line}\n"})
    number = samples.OMOP[file].count("\n") + 2
    with pytest.raises(MedlinkError, match=f"E105.*{file}, line {number}: .*{problem}"):
        list(read("omop", tmp_path))
    bad: list[BadLine] = []
    assert list(read("omop", tmp_path, bad)) == whole
    assert [(Path(bad_line.path).name, bad_line.line) for bad_line in bad] == [(file, number)]


def test_circles(tmp_path: Path) -> None:
    """Concepts that replace each other, and a hierarchy that bites its tail."""
    text = samples.OMOP[RELATIONSHIPS].replace("300\t100\tConcept", "300\t301\tConcept")
    text += "301\t300\tConcept replaced by\t1\t2\t\n100\t101\tIs a\t1\t2\t\n"
    records = list(read("omop", write_omop(tmp_path / "omop", {RELATIONSHIPS: text})))
    kb = kb_of(tmp_path / "kb", records)
    assert kb.resolve("300") is None
    assert kb.resolve("200") == "100"
    assert set(kb.ancestors("100")) <= {"100", "101"}


def test_filters_know_domains_classes_and_mapped_names(tmp_path: Path) -> None:
    records = list(read("omop", write_omop(tmp_path)))
    found = list(Filters(types=("Ingredient",), term_types=("PT", "SY")).apply(records))
    assert [one.id for one in found if isinstance(one, Concept)] == ["400"]
    (kept, *_) = Filters(types=("Condition",), sources=("ICD10CM",)).apply(records)
    assert isinstance(kept, Concept) and kept.name == "Sugar illness"


def test_ids_are_of_omop(tmp_path: Path) -> None:
    """Not of the vocabulary that a name comes from, nor of what ids of six digits look like."""
    records = list(read("omop", write_omop(tmp_path)))
    concept = _concept(_by_id(records), "101")
    assert concept_url("200100", {**concept.codes, "OMOP": ("200100",)}).endswith("/terms/200100")
    keyed = {one.id: one for one in rekey(records, "SNOMED") if isinstance(one, Concept)}
    assert keyed["S2"].codes["OMOP"] == ("101",) and keyed["S2"].parents == ("S1",)


def test_same_bytes_from_rows_in_any_order(tmp_path: Path) -> None:
    for name, step in (("a", 1), ("b", -1)):
        changes = {}
        for file in samples.OMOP:
            header, *rows = samples.OMOP[file].splitlines(keepends=True)
            shuffled = rows[::step] if file == "CONCEPT.csv" else rows
            changes[file] = "".join([header, *shuffled])
        build_kb(tmp_path / f"{name}.kb", read("omop", write_omop(tmp_path / name, changes)))
    assert (tmp_path / "a.kb").read_bytes() == (tmp_path / "b.kb").read_bytes()


def test_merged_with_another_source(tmp_path: Path) -> None:
    (tmp_path / "more.jsonl").write_text('{"concept_id": "100", "canonical_name": "Candy fever"}\n')
    sources = [("omop", write_omop(tmp_path / "omop")), ("jsonl", tmp_path / "more.jsonl")]
    built = build_knowledge_base(out=tmp_path / "x.kb", sources=sources)
    assert built.report.merged == 1
    assert "Candy fever" in {name.text for name in built.kb["100"].names}
