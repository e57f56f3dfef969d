import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import read
from spacy_medlink.terminologies.icd import read as read_icd
from spacy_medlink.types import BadLine, Concept, Name
from tests.kb import samples


def _read(path: Path, text: str, **options: Any) -> list[Concept]:
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


def _code_file(*codes: str) -> str:
    return "".join(f"{code:<7} Description of {code}\n" for code in codes)


@pytest.mark.parametrize(
    ("name", "codes", "expected", "vocabulary"),
    [
        ("CMS32_DESC_LONG_DX.txt", ["0010", "25000", "E8000", "V1251"],
         ["001.0", "250.00", "E800.0", "V12.51"], "ICD9CM"),
        ("diagnoses.txt", ["0010", "25000", "E8000", "E800", "V1251"],
         ["001.0", "250.00", "E800.0", "E800", "V12.51"], "ICD9CM"),
        ("CMS32_DESC_LONG_SG.txt", ["0001", "00", "8154"], ["00.01", "00", "81.54"], "ICD9PROC"),
        ("icd9_procedures.txt", ["0001", "361"], ["00.01", "36.1"], "ICD9PROC"),
        ("x.txt", ["A00.0", "E11.36"], ["A00.0", "E11.36"], "ICD10CM"),
        ("icd9.txt", ["E8000", "V1251"], ["E800.0", "V12.51"], "ICD9CM"),
        ("list.txt", ["0016070", "B00B0ZZ", "GZ10ZZZ"],
         ["0016070", "B00B0ZZ", "GZ10ZZZ"], "ICD10PCS"),
        ("list.txt", ["A000", "E1136", "S72001A", "C4A0", "Z3A01"],
         ["A00.0", "E11.36", "S72.001A", "C4A.0", "Z3A.01"], "ICD10CM"),
        ("list.txt", ["V1251", "E8000", "A000", "E083291"],
         ["V12.51", "E80.00", "A00.0", "E08.3291"], "ICD10CM"),
        ("x.csv", ["8A80", "1A00.0", "XA6KU8"], ["8A80", "1A00.0", "XA6KU8"], "ICD11"),
        ("icpc2.csv", ["A01", "A02"], ["A01", "A02"], "ICPC2"),
        ("icd10_categories.csv", ["A01", "A02"], ["A01", "A02"], "ICD10"),
        ("x.csv", ["I10", "A010", "C500"], ["I10", "A01.0", "C50.0"], "ICD10"),
        ("icd10gm.csv", ["E1190", "A00.1"], ["E11.90", "A00.1"], "ICD10GM"),
        ("x.csv", ["250.00", "E800.0", "V12.51"], ["250.00", "E800.0", "V12.51"], "ICD9CM"),
        ("opcs4.csv", ["A011", "A01"], ["A01.1", "A01"], "OPCS4"),
        ("x.csv", ["5A11&XS25", "2C82.0/XH4PB1"], ["5A11&XS25", "2C82.0/XH4PB1"], "ICD11"),
        ("x.csv", ["00.01", "81.54"], ["00.01", "81.54"], "ICD9PROC"),
        ("x.csv", ["0016070", "XW033E5"], ["0016070", "XW033E5"], "ICD10PCS"),
        ("x.csv", ["I10", "A17.0†", "G01*", "A00-A09"], ["I10", "A17.0", "G01", "A00-A09"],
         "ICD10"),
        ("icd10gm.csv", ["A00.-", "A000", "B95!"], ["A00", "A00.0", "B95"], "ICD10GM"),
        ("hcpcs.csv", ["A0021", "E0100", "99213"], ["A0021", "E0100", "99213"], "HCPCS"),
        ("x.csv", ["0001F", "G0008", "J0120"], ["0001F", "G0008", "J0120"], "HCPCS"),
    ],
)  # fmt: skip
def test_a_file_is_of_an_edition(
    tmp_path: Path, name: str, codes: list[str], expected: list[str], vocabulary: str
) -> None:
    """A file of codes, or a table."""
    table = "code,title\n" + "".join(f"{code},x\n" for code in codes)
    text = table if name.endswith(".csv") else _code_file(*codes)
    concepts = _read(tmp_path / name, text)
    assert [concept.id for concept in concepts] == expected
    assert {name.source for concept in concepts for name in concept.names} == {vocabulary}
    assert concepts[0].codes == {vocabulary: (expected[0],)}


@pytest.mark.parametrize(
    "codes",
    [
        ["A01", "B02"],
        ["E8000", "V1251"],
        ["0010", "002"],
        ["A10BA02", "R03AC02"],
        ["AS01", "AD15"],
        ["12", "a"],
        ["J0120", "A0021"],
        ["99213", "25000"],
    ],
)
def test_codes_of_several_editions_are_asked_about(tmp_path: Path, codes: list[str]) -> None:
    path, text = tmp_path / "list.csv", "code,title\n" + "".join(f"{code},x\n" for code in codes)
    with pytest.raises(MedlinkError, match=rf"E132.*list.csv.*{codes[0]}.*--vocabulary"):
        _read(path, text)
    assert [one.id for one in _read(path, text, source="OTHER")] == codes
    assert _read(path, text, source="OTHER")[0].codes == {"OTHER": (codes[0],)}


def test_columns_of_a_table_that_are_named(tmp_path: Path) -> None:
    """As in the list of Germany, which has no header."""
    path = tmp_path / "icd10gm2024syst_kodes.txt"
    text = "3;N;X;01;A00.-;A00;Cholera\n4;T;X;01;A00.0;A000;Cholera durch Vibrio cholerae\n"
    with pytest.raises(MedlinkError, match=r"E161.*--columns"):
        _read(path, text)
    first, second = _read(path, text, columns={"id": 5, "name": 7})
    assert (first.id, second.id, second.parents) == ("A00", "A00.0", ("A00",))
    (named,) = _read(path, "was;wie;Kode\nx;Cholera;A00.0\n", columns={"id": "Kode", "name": 2})
    assert (named.id, named.name, named.codes) == ("A00.0", "Cholera", {"ICD10GM": ("A00.0",)})


@pytest.mark.parametrize(
    ("header", "unread"),
    [
        ("ICD9_CODE,SHORT_TITLE,LONG_TITLE,ROW_ID", "ROW_ID"),
        ("DIAGNOSIS CODE,SHORT DESCRIPTION,LONG DESCRIPTION,NF EXCL", "NF EXCL"),
    ],
)
def test_long_and_short_names_of_a_table(tmp_path: Path, header: str, unread: str) -> None:
    with pytest.warns(UserWarning, match=f"W110.*known: {unread}[.]"):
        (concept,) = _read(tmp_path / "icd9.csv", f"{header}\n0010,Chol,Cholera,7\n")
    assert [(name.text, name.tty) for name in concept.names] == [("Cholera", "PT"), ("Chol", "AB")]


def test_a_header_in_any_language_is_no_code(tmp_path: Path) -> None:
    codes = "".join(f"A0{number}.0;x\n" for number in range(9))
    first, *_ = _read(tmp_path / "x.csv", f"Schlüssel;Titel\n{codes}")
    chapter, *_ = _read(tmp_path / "x.csv", f"IV;Diseases\n{codes}")
    assert (first.id, chapter.id) == ("A00.0", "IV")


def test_the_vocabulary_says_where_the_dot_is(tmp_path: Path) -> None:
    text = _code_file("0010", "361")
    assert [one.id for one in _read(tmp_path / "x", text, source="ICD9CM")] == ["001.0", "361"]
    assert [one.id for one in _read(tmp_path / "x", text, source="ICD9PROC")] == ["00.10", "36.1"]


def test_categories_of_procedures_are_parents(tmp_path: Path) -> None:
    found = _read(tmp_path / "icd9_sg.txt", _code_file("00", "000", "0001"))
    assert [(one.id, one.parents) for one in found] == [
        ("00", ()), ("00.0", ("00",)), ("00.01", ("00.0",)),
    ]  # fmt: skip


def test_windows_1252_as_cms_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "CMS32_DESC_LONG_DX.txt"
    path.write_bytes("38600 Ménière's disease\n0010  Cholera\n".encode("cp1252"))
    with pytest.warns(UserWarning, match=r"W110.*1 lines.*line 1"):
        first, _ = read("icd", path)
    assert isinstance(first, Concept)
    assert (first.id, first.name) == ("386.00", "Ménière's disease")


def test_headers_of_several_words(tmp_path: Path) -> None:
    text = "DIAGNOSIS CODE,LONG DESCRIPTION,SHORT DESCRIPTION\n0010,Cholera,Chol\n25000,DM,DM\n"
    found = _read(tmp_path / "x.csv", text)
    assert [(one.id, one.name) for one in found] == [("001.0", "Cholera"), ("250.00", "DM")]


def test_cells_of_a_spreadsheet(tmp_path: Path) -> None:
    (one,) = _read(tmp_path / "x.csv", 'sep=;\ncode;title\n="A000";"Bites &amp; stings"\n')
    assert (one.id, one.name) == ("A00.0", "Bites & stings")


TABULATION = """\
Foundation URI\tLinearization URI\tCode\tBlockId\tTitle\tClassKind\tDepthInKind\tChapterNo
u/1\tl/1\t\t\tCertain infections\tchapter\t1\t01
u/2\tl/2\t\tBlockL1-1A0\t"- Infections of the gut"\tblock\t1\t01
u/3\tl/3\t1A00\t\t"- - Cholera"\tcategory\t1\t01
u/4\tl/4\t1A00.Z\t\t"- - - Cholera, unspecified"\tcategory\t2\t01
u/5\tl/5\t\t\tNeoplasms\tchapter\t1\t02
u/6\tl/6\t2A00\t\t- Glioma - of the brain\tcategory\t1\t02
"""


def test_the_tabulation_of_icd_11(tmp_path: Path) -> None:
    concepts = _read(tmp_path / "SimpleTabulation-ICD-11-MMS-en.txt", TABULATION)
    assert [(concept.id, concept.name, concept.types, concept.parents) for concept in concepts] == [
        ("01", "Certain infections", ("chapter",), ()),
        ("BlockL1-1A0", "Infections of the gut", ("block",), ("01",)),
        ("1A00", "Cholera", ("category",), ("BlockL1-1A0",)),
        ("1A00.Z", "Cholera, unspecified", ("category",), ("1A00",)),
        ("02", "Neoplasms", ("chapter",), ()),
        ("2A00", "Glioma - of the brain", ("category",), ("02",)),
    ]
    assert concepts[2].codes == {"ICD11": ("1A00",)}
    assert concepts[2].names == (Name("Cholera", "en", "ICD11", "PT"),)
    (first, *_) = _read(tmp_path / "SimpleTabulation-ICD-11-MMS-es.txt", TABULATION)
    assert first.names[0].lang == "es"
    bad: list[BadLine] = []
    (tmp_path / "x.txt").write_text(TABULATION + "u\tl\t1B\t\t- - \tcategory\t1\t01\nu\tl\n")
    assert len(list(read("icd", tmp_path / "x.txt", bad))) == 6
    assert [line.line for line in bad] == [8, 9]


def _entity(number: int, title: str, **said: object) -> dict[str, object]:
    return {
        "@context": "http://id.who.int/icd/contexts/contextForLinearizationEntity.json",
        "@id": f"http://id.who.int/icd/release/11/2024-01/mms/{number}",
        "title": {"@language": "en", "@value": title}, **said,
    }  # fmt: skip


ENTITIES = [
    _entity(1, "Certain infections", code="01", classKind="chapter", child=["..."]),
    _entity(2, "Infections of the gut", blockId="BlockL1-1A0", classKind="block",
            parent=["http://id.who.int/icd/release/11/2024-01/mms/1"]),
    _entity(3, "Cholera", code="1A00", classKind="category",
            parent=["http://id.who.int/icd/release/11/2024-01/mms/2", "http://elsewhere/9"],
            definition={"@language": "en", "@value": "Much water is lost."},
            synonym=[{"label": {"@language": "es", "@value": "cólera"}}],
            indexTerm=[{"label": {"@language": "en", "@value": "Cholera"}},
                       {"label": {"@language": "en", "@value": "vibrio disease"}}]),
]  # fmt: skip


@pytest.mark.parametrize("shape", ["list", "lines", "by id", "inside"])
def test_entities_of_the_api(tmp_path: Path, shape: str) -> None:
    text = {
        "list": json.dumps(ENTITIES, indent=1),
        "lines": "\n".join(map(json.dumps, ENTITIES)),
        "by id": json.dumps({str(one["@id"]): one for one in ENTITIES}),
        "inside": json.dumps({"release": "2024-01", "entities": ENTITIES}),
    }[shape]
    chapter, block, cholera = _read(tmp_path / "icd11.json", text)
    assert [one.id for one in (chapter, block, cholera)] == ["01", "BlockL1-1A0", "1A00"]
    assert (block.parents, cholera.parents) == (("01",), ("BlockL1-1A0",))
    assert cholera.names == (
        Name("Cholera", "en", "ICD11", "PT"), Name("cólera", "es", "ICD11", "SY"),
        Name("Cholera", "en", "ICD11", "SY"), Name("vibrio disease", "en", "ICD11", "SY"),
    )  # fmt: skip
    assert (cholera.definition, cholera.types) == ("Much water is lost.", ("category",))


def test_bad_entities(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([*ENTITIES, _entity(4, " "), {"@id": "x", "title": 7}]))
    with pytest.raises(MedlinkError, match=r"E105.*an entity without a title"):
        list(read("icd", path))
    bad: list[BadLine] = []
    assert len(list(read("icd", path, bad))) == 3 and len(bad) == 2


CODES = st.one_of(
    st.from_regex(r"[A-TV-Z][0-9]{2}[0-9]{1,2}", fullmatch=True).map(
        lambda code: (code, "ICD10CM")
    ),
    st.from_regex(r"[0-9]{5}", fullmatch=True).map(lambda code: (code, "ICD9CM")),
    st.from_regex(r"[0-9][0-9A-HJ-NP-Z]{6}", fullmatch=True).map(lambda code: (code, "ICD10PCS")),
)


@given(rows=st.dictionaries(CODES, st.from_regex(r"[A-Z][a-z ,]{0,40}[a-z]", fullmatch=True)))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: dict[tuple[str, str], str]
) -> None:
    """Each edition alone, with its dot put back: an own parse of the fixed columns agrees."""
    for vocabulary, dot in (("ICD10CM", 3), ("ICD9CM", 3), ("ICD10PCS", 9)):
        own = {code: text for (code, edition), text in rows.items() if edition == vocabulary}
        lines = [f"{code:<7} {text}" for code, text in own.items()]
        path = tmp_path_factory.mktemp("icd") / f"{vocabulary.lower()}_codes.txt"
        found = {one.id: one.name for one in _read(path, "\n".join(lines))}
        cut = {line[:7].strip(): line[8:] for line in lines}
        assert found == {
            code[:dot] + ("." if len(code) > dot else "") + code[dot:]: text
            for code, text in cut.items()
        }
