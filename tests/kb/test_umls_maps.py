"""Maps of the UMLS: which rows of MRMAP give a concept codes, and what is said of these."""

from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import read
from spacy_medlink.kb.readers.umls import files_of
from spacy_medlink.kb.second_process import read_apart
from spacy_medlink.types import BadLine, CodeMap, Concept
from tests.kb.umls_release import BLOOD_PRESSURE, HYPERTENSION, TABLES, atom, mapping, write_release
from tests.tables import table
from tests.tiny import kb_of

pytestmark = pytest.mark.filterwarnings("ignore:.W110")  # most have no types

SET, OTHER = "C9000001", "C9000002"
NAME = "SNOMEDCT_US_2020_09_01 to ICD10CM_2021 Mappings"


def release(directory: Path, rows: list[str], name: str = NAME, other: str = "x") -> Path:
    sets = [atom(cui, text, TTY="XM") for cui, text in ((SET, name), (OTHER, other))]
    return write_release(directory, TABLES | {"MRCONSO": TABLES["MRCONSO"] + sets, "MRMAP": rows})


def concepts_of(path: Path, bad_lines: list[BadLine] | None = None) -> dict[str, Concept]:
    records = read("umls", path, bad_lines)
    return {record.id: record for record in records if isinstance(record, Concept)}


def targets(path: Path, vocabulary: str = "ICD10CM") -> tuple[str, ...]:
    return concepts_of(path)[HYPERTENSION].codes.get(vocabulary, ())


def test_codes_with_relation_source_and_note(tmp_path: Path) -> None:
    rows = [
        mapping(SET, "38341003", "Q2", MAPRANK="10", MAPRES="IFA X CHOOSE Q2"),
        mapping(SET, "38341003", "Q1", MAPRANK="9", MAPRES="ALWAYS Q1"),
        mapping(SET, "38341003", "Q1", MAPRANK="9", MAPRES="ALWAYS Q1", MAPID="AT2"),
        mapping(SET, "38341003", "B1", "RB", MAPSUBSETID="2"),
        mapping(SET, "999", "S1", "SY"),
        mapping(SET, "D006973", "Z1"),
        mapping(OTHER, "C3117", "D006973", "RQ", FROMTYPE="CODE", MAPSETSAB="NCI"),
    ]
    path = release(tmp_path, rows, other="NCI_2024 to MSH2021 Mappings")
    found = concepts_of(path)
    assert found[HYPERTENSION].maps == (
        CodeMap("ICD10CM", "S1", "exact", "SNOMEDCT_US"),
        CodeMap("MESH", "D006973", "related", "NCI"),
        CodeMap("ICD10CM", "Q1", "related", "SNOMEDCT_US", "ALWAYS Q1"),
        CodeMap("ICD10CM", "Q2", "related", "SNOMEDCT_US", "IFA X CHOOSE Q2"),
        CodeMap("ICD10CM", "B1", "related", "SNOMEDCT_US", "REL RB"),
    )
    codes = found[HYPERTENSION].codes
    assert codes["ICD10CM"] == ("S1", "Q1", "Q2", "B1")
    assert codes["MESH"] == ("D006973",)
    assert found[BLOOD_PRESSURE].maps == ()
    assert "ICD10CM" not in found[BLOOD_PRESSURE].codes
    apart = read_apart("spacy_medlink.kb.readers.umls:read_here", path, None)
    assert {one.id: one for one in apart if isinstance(one, Concept)} == found
    assert "MRMAP.RRF" in {file.name for file in files_of(path)}
    kb = kb_of(tmp_path / "kb", read("umls", path))
    assert {code_map for code_map in kb.maps(HYPERTENSION) if code_map.relation} == {
        *found[HYPERTENSION].maps
    }
    assert kb.count_codes()["ICD10CM"] == 1


@pytest.mark.parametrize(
    "row",
    [
        mapping(SET, "38341003", "", TOID="100051"),
        mapping(SET, "38341003", "100051"),
        mapping(SET, "38341003", "Q1", "XR"),
        mapping(SET, "38341003", "Q1", MAPATV="0"),
        mapping(SET, "38341003", "<Q1> AND <Q2>", TOTYPE="BOOLEAN_EXPRESSION_SDUI"),
        mapping(SET, HYPERTENSION, "Q1", FROMTYPE="CUI"),
        mapping("C9000003", "38341003", "Q1"),
        mapping(OTHER, "38341003", "Q1"),
    ],
)
def test_rows_that_map_nothing(tmp_path: Path, row: str) -> None:
    path = release(tmp_path, [row])
    assert concepts_of(path)[HYPERTENSION].maps == ()
    assert targets(path) == ()


@table(__file__, "vocabularies_are_those_of_the_set")
def test_vocabularies_are_those_of_the_set(tmp_path: Path, name: str, vocabulary: str) -> None:
    path = release(tmp_path, [mapping(SET, "38341003", "Q1")], name)
    assert "Q1" in targets(path, vocabulary)


def test_bad_rows_are_reported_as_those_of_other_tables(tmp_path: Path) -> None:
    good = mapping(SET, "38341003", "Q1")
    path = release(tmp_path, [good, "C9000001|x|", mapping(SET, " ", "Q2")])
    with pytest.raises(MedlinkError, match=r"E105.*MRMAP.RRF, line 2: 2 columns"):
        concepts_of(path)
    bad_lines: list[BadLine] = []
    assert concepts_of(path, bad_lines)[HYPERTENSION].codes["ICD10CM"] == ("Q1",)
    assert [bad.problem for bad in bad_lines] == ["2 columns", "FROMEXPR is empty"]
