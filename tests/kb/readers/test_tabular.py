import codecs
import csv
import gzip
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import read
from spacy_medlink.kb.readers.fields import cell
from spacy_medlink.kb.readers.tabular import numbered
from spacy_medlink.kb.readers.tabular import read as read_table
from spacy_medlink.types import BadLine, Concept, Name
from tests.tables import table
from tests.training.corpora.workbook import write_workbook


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf8", newline="")
    return path


def _concepts(path: Path, **options: object) -> list[Concept]:
    return [record for record in read_table(path, **options) if isinstance(record, Concept)]


def test_a_cell_that_never_ends(tmp_path):
    bad: list[BadLine] = []
    assert not list(read("tsv", _write(tmp_path / "x", f'id,name\n1,"{"x" * 200_000}"\n'), bad))
    assert [line.line for line in bad] == [2] and "field larger" in bad[0].problem


@pytest.mark.parametrize(
    "mark", ["nan", "NULL", "#N/A", "None", "#REF!", "<NA>", "N/A", "-", "n.a."]
)
def test_marks_of_a_missing_value_are_no_values(tmp_path, mark):
    header = "id\tname\tsynonyms\ttype\tlang\tdefinition\tparents\ticd10"
    row = "\t".join(["1", "Fever", f"Pyrexia|{mark}", *[mark] * 5])
    bare = f"2\tFlu\t{mark}\t\t\t\t\t"
    path = _write(tmp_path / "x.tsv", f"{header}\n{row}\n{bare}\n3\t{mark}{chr(9) * 6}\n")
    bad: list[BadLine] = []
    fever, flu = read("tsv", path, bad)
    assert fever == Concept(
        "1", "Fever", (Name("Fever", "en", "", "PT"), Name("Pyrexia", "en", "", "SY"))
    )
    assert isinstance(flu, Concept) and len(flu.names) == 1
    assert [(line.line, line.problem) for line in bad] == [(4, f"{mark!r} for an empty name")]


@table(__file__, "ids_that_a_spreadsheet_has_changed")
def test_ids_that_a_spreadsheet_has_changed(tmp_path, id, expected):
    in_a_list = [] if "," in id else [f"1\tFever\t{id}\n"]
    for text in (f"{id}\tFever\t\n", *in_a_list):
        path = _write(tmp_path / "x.tsv", f"id\tname\ticd10\n{text}")
        bad: list[BadLine] = []
        concepts = _concepts(path, bad_lines=bad)
        if expected is None:
            assert not concepts and "a spreadsheet has rewritten" in bad[0].problem
        else:
            assert expected in (concepts[0].id, *concepts[0].codes.get("ICD10", ()))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
@pytest.mark.parametrize("suffix", [".txt", ".txt.gz"])
def test_unicode_text_of_a_spreadsheet(tmp_path, encoding, suffix):
    path = tmp_path / f"x{suffix}"
    mark = codecs.BOM_UTF16_BE if encoding == "utf-16-be" else b""
    rows = "".join(f"{n}\tHuſten 🤒 {n}\r\n" for n in range(9000))
    data = mark + f"id\tname\r\n{rows}".encode(encoding)
    path.write_bytes(gzip.compress(data) if suffix.endswith("gz") else data)
    concepts = _concepts(path)
    assert len(concepts) == 9000 and concepts[-1].name == "Huſten 🤒 8999"


def test_damaged_unicode_text(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes("id\tname\n1\ta\ud800\n2\tb\n".encode("utf-16", "surrogatepass"))
    bad: list[BadLine] = []
    assert [one.id for one in _concepts(path, bad_lines=bad)] == ["2"]
    assert [line.line for line in bad] == [2]
    path.write_bytes("id\tname\n1\ta\n".encode("utf-16-le"))
    with pytest.raises(MedlinkError, match=r"E105.*UTF-16 without its mark"):
        _concepts(path)


CELL = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='|"'), min_size=1
).filter(lambda text: bool(text) and cell(text, is_name=True) == cell(text) == text)
ID = CELL.filter(str.isprintable)
TEXT = CELL | CELL.map(lambda text: f'{text} "x", {text}')


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(st.tuples(ID, TEXT, st.lists(TEXT, max_size=3)), min_size=1, max_size=5))
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_what_the_csv_module_writes_is_read(tmp_path, delimiter, rows):
    path = tmp_path / "x.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows(
            [("id", "name", "synonyms"), *((id, name, "|".join(more)) for id, name, more in rows)]
        )
    with path.open(newline="", encoding="utf-8") as file:
        _, *independent = csv.reader(file, delimiter=delimiter)
    found = [one for _, one in numbered(path, delimiter=delimiter, separator="|")]
    assert [[one.id, one.name, "|".join(name.text for name in one.names[1:])] for one in found] == (
        independent
    )


@table(__file__, "headers_of_seven_languages")
def test_headers_of_seven_languages(tmp_path, header):
    path = _write(tmp_path / "x.csv", f"{header}\nK1;Fieber;Pyrexie\nK2;Husten\nK3;Gicht;;;\n")
    assert [(one.id, [name.text for name in one.names]) for one in _concepts(path)] == [
        ("K1", ["Fieber", "Pyrexie"]), ("K2", ["Husten"]), ("K3", ["Gicht"]),
    ]  # fmt: skip


def test_the_first_sheet_of_a_workbook(tmp_path):
    rows = [["Lokalcode", "Diagnose", "ICD-10"], [7, "Fieber", "R50"], ["K2", "Husten"]]
    path = tmp_path / "x.xlsx"
    write_workbook(path, {"A": rows, "B": [["id", "name"], ["1", "other"]]})
    found = [(one.id, one.name, one.codes) for one in _concepts(path)]
    assert found == [("7", "Fieber", {"ICD10": ("R50",)}), ("K2", "Husten", {})]


@table(__file__, "encodings")
def test_encodings(tmp_path, text, encoding, option, told):
    path = tmp_path / "x.csv"
    path.write_bytes(f"id,name,Größe\n1,{text},x\n".replace("Größe", text).encode(encoding))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (one,) = read_table(path, None, encoding=option)
    assert one.name == text
    said = [str(each.message) for each in caught if "not known" not in str(each.message)]
    assert len(said) == bool(told) and all(told in message for message in said)


def test_an_unknown_encoding(tmp_path):
    for encoding in ("klingon", "base64"):
        with pytest.raises(MedlinkError, match=rf"E108.*'{encoding}'"):
            _concepts(_write(tmp_path / "x.csv", "id,name\n1,a\n"), encoding=encoding)
