from pathlib import Path

import pytest

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import read
from spacy_medlink.kb.readers.icd import read as read_icd
from spacy_medlink.types import BadLine, Concept, Name
from tests.kb import samples


def _read(path: Path, text: str, **options: str) -> list[Concept]:
    path.write_text(text, encoding="utf8")
    return [record for record in read_icd(path, **options) if isinstance(record, Concept)]


def test_order_file(tmp_path: Path) -> None:
    concepts = _read(tmp_path / "icd10cm_order_2024.txt", samples.ICD_ORDER)
    assert [(concept.id, concept.parents, concept.types) for concept in concepts] == [
        ("A00", (), ("category",)),
        ("A00.0", ("A00",), ("code",)),
        ("E11", (), ("category",)),
        ("E11.3", ("E11",), ("category",)),
        ("E11.36", ("E11.3",), ("code",)),
    ]
    assert concepts[-1].names == (
        Name("Type 2 diabetes with diabetic cataract", "en", "ICD10CM", "PT"),
        Name("Type 2 diabetes w cataract", "en", "ICD10CM", "AB"),
    )
    assert concepts[-1].codes == {"ICD10CM": ("E11.36",)}


def test_procedures_have_no_dots(tmp_path: Path) -> None:
    line = f"00001 B00B0ZZ 1 {'Imaging of the brain':<60} Imaging of the brain"
    (concept,) = _read(tmp_path / "icd10pcs_order_2024.txt", line)
    assert (concept.id, concept.names[0].source) == ("B00B0ZZ", "ICD10PCS")


def test_code_file(tmp_path: Path) -> None:
    first, second = _read(tmp_path / "icd10cm_codes_2024.txt", samples.ICD_CODES)
    assert (first.id, first.name) == ("A00.0", "Cholera due to Vibrio cholerae 01")
    assert (second.id, second.parents) == ("E11.36", ())


def test_morphologies(tmp_path: Path) -> None:
    first, second = _read(tmp_path / "Morphenglish.txt", samples.ICDO_MORPHOLOGY)
    assert (first.id, second.id) == ("8000/0", "8001/3")
    assert first.names == (
        Name("Neoplasm, benign", "en", "ICDO3", "PT"),
        Name("Tumor, benign", "en", "ICDO3", "SY"),
    )  # the note is no name
    assert second.name == "Tumor cells, malignant"


def test_topographies(tmp_path: Path) -> None:
    lip, upper = _read(tmp_path / "Topoenglish.txt", samples.ICDO_TOPOGRAPHY)
    assert (lip.id, upper.id, upper.parents) == ("C00", "C00.0", ("C00",))
    assert [(name.text, name.tty) for name in upper.names] == [
        ("External upper lip", "PT"),
        ("Upper lip, NOS", "SY"),
    ]
    assert upper.codes == {"ICDO3": ("C00.0",)}


@pytest.mark.parametrize("text", ["A000\tCólera\n", "name,code\nCólera,A000\n", "A000;Cólera\n"])
def test_tables(tmp_path: Path, text: str) -> None:
    (concept,) = _read(tmp_path / "x.csv", text, lang="es", source="CIE10ES")
    assert concept == Concept(
        "A00.0", "Cólera", (Name("Cólera", "es", "CIE10ES", "PT"),), codes={"CIE10ES": ("A00.0",)}
    )


def test_a_wide_table_needs_a_header(tmp_path: Path) -> None:
    with pytest.raises(MedlinkError, match="E161"):
        _read(tmp_path / "x.csv", "A00,x,Cholera\n")


@pytest.mark.parametrize(
    ("sample", "line"),
    [
        (samples.ICD_ORDER + "\n", "00006 Z99 what is this"),
        (samples.ICD_ORDER + "\n", f"00006 Z99     1 {'':<60} "),
        (samples.ICD_CODES, "no code here"),
        (samples.ICDO_MORPHOLOGY, "8002/3\ttitle"),
        (samples.ICDO_MORPHOLOGY, "\ttitle\tTumor"),
        (samples.ICDO_BARE, "8002/3\t"),
    ],
)
def test_bad_lines(tmp_path: Path, sample: str, line: str) -> None:
    path, number = tmp_path / "x.txt", sample.count("\n") + 1
    path.write_text(f"{sample}{line}\n")
    with pytest.raises(MedlinkError, match=f"E105.*x.txt, line {number}: "):
        list(read("icd", path))
    bad: list[BadLine] = []
    assert list(read("icd", path, bad))
    assert [bad_line.line for bad_line in bad] == [number]


def test_a_damaged_first_line_does_not_hide_the_layout(tmp_path: Path) -> None:
    path = tmp_path / "icd10cm_order_2024.txt"
    path.write_text("garbage\n" + samples.ICD_ORDER)
    bad: list[BadLine] = []
    assert len(list(read("icd", path, bad))) == 5
    assert [bad_line.line for bad_line in bad] == [1]
