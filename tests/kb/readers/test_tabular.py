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
from tests.kb import samples
from tests.training.corpora.workbook import write_workbook


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf8", newline="")
    return path


def _concepts(path: Path, **options: object) -> list[Concept]:
    return [record for record in read_table(path, **options) if isinstance(record, Concept)]


def test_columns_by_their_usual_headers(tmp_path):
    diabetes, pressure = read("tsv", _write(tmp_path / "x.tsv", samples.TSV))
    assert diabetes == Concept(
        id="D1",
        name="Diabetes mellitus",
        names=(
            Name("Diabetes mellitus", "en", "MINE", "PT"),
            Name("DM", "en", "MINE", "SY"),
            Name("sugar diabetes", "en", "MINE", "SY"),
            Name("Diabetes", "de", "MINE", "PT"),
        ),
        types=("T047", "T033"),
        codes={"ICD10CM": ("E11", "E10")},
    )
    assert isinstance(pressure, Concept)
    assert pressure.name == 'Blood "pressure", high'


def test_comma_separated_cells_may_hold_separators_and_line_ends(tmp_path):
    diabetes, pressure = read("csv", _write(tmp_path / "x.csv", samples.CSV))
    assert isinstance(diabetes, Concept) and isinstance(pressure, Concept)
    assert [name.text for name in diabetes.names] == [
        "Diabetes mellitus", "DM", '"sugar" diabetes',
    ]  # fmt: skip
    assert diabetes.parents == ("E1",)
    assert [name.text for name in pressure.names] == ["Hypertension; arterial", "HTN"]


def test_column_map_by_header_and_number(tmp_path):
    path = _write(tmp_path / "x.csv", "Was,Nr,Noch,ICD\nDiabetes,1,DM/Zucker,E11\n")
    columns = {"id": "Nr", "name": 1, "synonyms": "3", "code:ICD10GM": "ICD"}
    (concept,) = _concepts(path, columns=columns, separator="/", lang="de", source="LOCAL")
    assert concept.id == "1"
    assert concept.names == (
        Name("Diabetes", "de", "LOCAL", "PT"),
        Name("DM", "de", "LOCAL", "SY"),
        Name("Zucker", "de", "LOCAL", "SY"),
    )
    assert concept.codes == {"ICD10GM": ("E11",)}


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("id,name,synonym1,synonym_2,type,semantic_type,icd10,ICD-10", None),
        ("a,b,c,d,e,f,g,h", {"id": "a", "name": "b", "synonyms": ["c", 4], "type": ["e", "f"],
                             "code:ICD10": [7, "h"]}),
    ],
)  # fmt: skip
def test_several_columns_fill_a_list(tmp_path, header, columns):
    row = "1,Diabetes,DM,Sugar|Zucker,T047,Disease,E11,E14"
    (concept,) = _concepts(_write(tmp_path / "x.csv", f"{header}\n{row}\n"), columns=columns)
    assert [name.text for name in concept.names] == ["Diabetes", "DM", "Sugar", "Zucker"]
    assert (concept.types, concept.codes) == (("T047", "Disease"), {"ICD10": ("E11", "E14")})


def test_one_column_fills_another_field(tmp_path):
    path = _write(tmp_path / "x.csv", "a,b,c\n1,Diabetes,DM\n")
    with pytest.raises(MedlinkError, match=r"E108.*several columns.*name.*synonyms"):
        _concepts(path, columns={"id": "a", "name": ["b", "c"]})


@pytest.mark.parametrize(
    ("lang", "expected"),
    [("ger", "de"), ("deu", "de"), ("FRA", "fr"), ("pt_BR", "pt"), ("zh-Hans", "zh"), ("", "en")],
)
def test_languages_by_their_codes(tmp_path, lang, expected):
    path = _write(tmp_path / "x.csv", f"id,name,lang\n1,Diabetes,{lang}\n")
    assert [concept.names[0].lang for concept in _concepts(path)] == [expected]


def test_a_language_is_no_word(tmp_path):
    bad: list[BadLine] = []
    path = _write(tmp_path / "x.csv", "id,name,lang\n1,Diabetes,German\n2,Fever,en\n")
    assert [concept.id for concept in _concepts(path, bad_lines=bad)] == ["2"]
    assert [(line.line, line.problem) for line in bad] == [(2, "the language 'german'")]


def test_numbers_alone_mean_no_header_unless_it_looks_like_one(tmp_path):
    bare = _write(tmp_path / "bare.tsv", "1\tDiabetes\n2\tHypertension\n")
    headed = _write(tmp_path / "headed.tsv", "code\tterm\n1\tDiabetes\n")
    assert [concept.id for concept in _concepts(bare, columns={"id": 1, "name": 2})] == ["1", "2"]
    assert [concept.id for concept in _concepts(headed, columns={"id": 1, "name": 2})] == ["1"]


def test_rows_apart_are_left_to_the_builder(tmp_path):
    path = _write(tmp_path / "x.tsv", "id\tname\n1\ta\n2\tb\n1\tc\n")
    assert [concept.id for concept in _concepts(path)] == ["1", "2", "1"]


@pytest.mark.parametrize(
    ("text", "columns", "said"),
    [
        ("nummer\tname\n1\ta\n", None, "'id'"),
        ("id\tfoo\n1\ta\n", None, "'name'"),
        ("id\tname\n1\ta\n", {"id": "id", "name": "Name"}, "'Name'"),
        ("id\tname\n1\ta\n", {"id": 1, "name": 3}, "3"),
        ("id\tname\n1\ta\n", {"id": 0, "name": 1}, "0"),
    ],
)
def test_missing_columns(tmp_path, text, columns, said):
    with pytest.raises(MedlinkError, match="E161") as caught:
        _concepts(_write(tmp_path / "x.tsv", text), columns=columns)
    assert f"no column {said};" in caught.value.message


def test_unknown_field(tmp_path):
    with pytest.raises(MedlinkError, match=r"E108.*'nmae'"):
        _concepts(_write(tmp_path / "x.tsv", "id\tname\n"), columns={"nmae": 1})


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("id\tname\n1\ta\tb\n", 2, "3 columns"),
        ("id\tname\n\n1\n", 3, "an empty name"),
        ("id\tname\n\ta\n", 2, "an empty id"),
        ("id\tname\n1\t \n", 2, "an empty name"),
        ("id\tname\n1\u200b\ta\n", 2, "invisible character"),
        ('id,name\n1,"a\n2,b\n', 2, "unexpected end of data (row up to line 3)"),
        ('id,name\n1,"a"b\n', 2, "expected after"),
        ("id,name\n1,a\rb\n", 2, "new-line character"),
        ('id,name\n1,"' + "x" * 200_000 + '"\n', 2, "field larger"),
    ],
)
def test_bad_lines(tmp_path, text, line, problem):
    path = _write(tmp_path / "x.txt", text)
    with pytest.raises(MedlinkError, match="E105") as caught:
        list(read("tsv", path))
    assert f"{path}, line {line}: " in caught.value.message
    assert problem in caught.value.message
    bad: list[BadLine] = []
    list(read("tsv", path, bad))
    assert [bad_line.line for bad_line in bad] == [line]


@pytest.mark.parametrize(
    ("header", "unread"),
    [
        ("code,term,synonyms,semtype,icd", "semtype, icd"),
        ("id,name,label,Zweitname", "label, Zweitname"),
        ("id,name,type", ""),
    ],
)
def test_columns_that_are_not_read_are_named(tmp_path, header, unread):
    path = _write(tmp_path / "x.csv", f"{header}\n1,a,b,c,d\n")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        list(read("csv", path, []))
        list(read_table(path, [], columns={"id": 1, "name": 2}))  # who names columns knows the rest
    assert len(told) == bool(unread)
    assert not unread or f"[W110] {path}" in str(told[0].message)
    assert not unread or f"not known: {unread}." in str(told[0].message)


@pytest.mark.parametrize("mark", ["|", ";", "; ", "\n", " | "])
def test_the_separator_is_found(tmp_path, mark):
    rows = f'1,Fever,"Pyrexia{mark}Temperature, high","T1{mark}T2","R50{mark}R51"\n'
    rows += '2,Flu,"Influenza, A",,\n'
    path = _write(tmp_path / "x.csv", f"id,name,synonyms,type,icd10\n{rows}")
    first, second = _concepts(path)
    assert [name.text for name in first.names] == ["Fever", "Pyrexia", "Temperature, high"]
    assert (first.types, first.codes) == (("T1", "T2"), {"ICD10": ("R50", "R51")})
    assert [name.text for name in second.names] == ["Flu", "Influenza, A"]


@pytest.mark.parametrize("cell", ["Pyrexia, hot", "Pyrexia,hot"])
def test_commas_between_synonyms_are_asked_about(tmp_path, cell):
    path = _write(tmp_path / "x.csv", f'id,name,synonyms\n0,a,b\n1,Fever,"{cell}"\n')
    with pytest.raises(MedlinkError, match=rf"E132.*x.csv.*'{cell}'.*--separator"):
        _concepts(path)
    assert len(_concepts(path, separator=",")[1].names) == 3
    assert len(_concepts(path, separator="|")[1].names) == 2


@pytest.mark.parametrize("cell", ["['Pyrexia', \"Temp, high\"]", '[""Pyrexia"", ""Temp, high""]'])
def test_lists_as_pandas_writes_them(tmp_path, cell):
    path = tmp_path / "x.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(
            [("id", "name", "synonyms"), ("1", "[X]Fever", cell.replace('""', '"'))]
        )
    (fever,) = _concepts(path)
    assert [name.text for name in fever.names] == ["[X]Fever", "Pyrexia", "Temp, high"]


def test_a_comma_in_a_formula_separates_nothing(tmp_path):
    path = _write(tmp_path / "x.csv", 'id,name,synonyms\n1,DMT,"N,N-dimethyltryptamine"\n')
    assert [name.text for name in _concepts(path)[0].names] == ["DMT", "N,N-dimethyltryptamine"]


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


def test_a_name_may_be_na(tmp_path):
    path = _write(tmp_path / "x.csv", "id,name,synonyms,type\n1,sodium,Na|NA,NA\n")
    (sodium,) = _concepts(path)
    assert ([name.text for name in sodium.names], sodium.types) == (["sodium", "Na", "NA"], ())


@pytest.mark.parametrize(
    ("id", "expected"),
    [
        ("1E+05", None),
        ("1.5e+10", None),
        ("3.86661E8", None),
        ("3,86661E8", None),
        ("386661006.0", None),
        ("386,661,006", None),
        ("250.0", "250.0"),
        ('="00456"', "00456"),
        ("'00456", "00456"),
        ("=A1", "=A1"),
        ("2E5", "2E5"),
    ],
)
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


def test_entities_and_tags_are_decoded(tmp_path):
    path = _write(
        tmp_path / "x.tsv",
        "id\tname\tsynonyms\tdefinition\n"
        "1\tBites &amp; stings\t<i>E. coli</i> O<sub>2</sub>;&#946;-test;A&lt;br/&gt;B"
        "\tp &lt; .05\n"
        "2\tHb <10\tAT&T;<5 mg/l and >3\t\n",
    )
    first, second = _concepts(path)
    assert [name.text for name in first.names] == ["Bites & stings", "E. coli O2", "β-test", "A B"]
    assert first.definition == "p < .05"
    assert [name.text for name in second.names] == ["Hb <10", "AT&T", "<5 mg/l and >3"]


@pytest.mark.parametrize(
    "before",
    [
        "#description: phenotypes\n#version: 2024\nid,name\n",
        "# A database, of things\n# Fields:\n# id,name\n#\n",
        "#id,name\n",
        "!gaf-version: 2.2\n!\nid,name\n",
        "sep=,\nid,name\n",
        '"SEP=,"\nid,name\n',
        '// one, two\n% three\n"# four, five"\nid,name\n',
        "\ufeffsep=,\n# some\n\nid,name\n",
    ],
)
def test_what_stands_before_the_header(tmp_path, before):
    path = _write(tmp_path / "x.csv", before + "1,Fever\n2,Cough\n")
    assert [(one.id, one.name) for one in _concepts(path)] == [("1", "Fever"), ("2", "Cough")]
    named = _concepts(path, columns={"id": "id", "name": "name"})
    assert [one.id for one in named] == ["1", "2"]


def test_sep_says_the_delimiter(tmp_path):
    path = _write(tmp_path / "x.csv", "sep=;\nid;name\n1;a, b, c, d\n")
    assert [one.name for one in _concepts(path)] == ["a, b, c, d"]


def test_dollars_of_meddra(tmp_path):
    path = _write(tmp_path / "llt.asc", "1$Fever$9$$$Y$$\n2$Cough$9$$$Y$$\n")
    with pytest.raises(MedlinkError, match=r"E161.*--columns id=1,name=2"):
        _concepts(path)
    found = _concepts(path, columns={"id": 1, "name": 2, "parents": 3})
    assert [(one.id, one.name, one.parents) for one in found] == [
        ("1", "Fever", ("9",)), ("2", "Cough", ("9",)),
    ]  # fmt: skip


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


@settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None)
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


def test_empty_file(tmp_path):
    assert list(read("tsv", _write(tmp_path / "x.tsv", "\n \n"))) == []


@pytest.mark.parametrize(
    "header",
    [
        "Lokalcode;Diagnose;Synonyme", "SCHLÜSSEL;Bezeichnung;Synonym 1",
        "Code local;Libellé;Synonymes", "Código;Descripción;Sinónimos",
        "Codice;Denominazione;Sinonimi", "CODIGO;Descrição;Sinônimos",
        "Lokale code;Omschrijving;Synoniemen", "Local-Code;local_name;alias",
        "Klinik-Code;Klartext;Synonym",
    ],
)  # fmt: skip
def test_headers_of_seven_languages(tmp_path, header):
    path = _write(tmp_path / "x.csv", f"{header}\nK1;Fieber;Pyrexie\nK2;Husten\nK3;Gicht;;;\n")
    assert [(one.id, [name.text for name in one.names]) for one in _concepts(path)] == [
        ("K1", ["Fieber", "Pyrexie"]), ("K2", ["Husten"]), ("K3", ["Gicht"]),
    ]  # fmt: skip


def test_an_only_code_is_the_id(tmp_path):
    path = _write(tmp_path / "x.csv", "ICD-10;Bezeichnung\nR50.9;Fieber\n")
    (fever,) = _concepts(path)
    assert (fever.id, fever.codes) == ("R50.9", {"ICD10": ("R50.9",)})


def test_the_first_sheet_of_a_workbook(tmp_path):
    rows = [["Lokalcode", "Diagnose", "ICD-10"], [7, "Fieber", "R50"], ["K2", "Husten"]]
    path = tmp_path / "x.xlsx"
    write_workbook(path, {"A": rows, "B": [["id", "name"], ["1", "other"]]})
    found = [(one.id, one.name, one.codes) for one in _concepts(path)]
    assert found == [("7", "Fieber", {"ICD10": ("R50",)}), ("K2", "Husten", {})]


@pytest.mark.parametrize(
    ("text", "encoding", "option", "told"),
    [
        ("Übelkeit", "utf-8", "", ""),
        ("Übelkeit", "latin-1", "", "2 lines are not UTF-8 (the first is line 1)"),
        ("Übelkeit", "latin-1", "latin-1", ""),
        ("żółtaczka", "cp1250", "cp1250", ""),
        ("高血圧", "cp932", "shift_jis", ""),
        ("Übelkeit", "utf-16-le", "utf-16-le", ""),
        ("Übelkeit", "utf-8-sig", "latin-1", ""),  # a mark says more than an option
    ],
)
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
