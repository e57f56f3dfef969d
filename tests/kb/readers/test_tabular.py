from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers import read
from spacy_medlink.kb.readers.tabular import read as read_table
from spacy_medlink.types import BadLine, Concept, Name
from tests.kb import samples


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf8", newline="")
    return path


def _concepts(path: Path, **options: object) -> list[Concept]:
    return [record for record in read_table(path, **options) if isinstance(record, Concept)]


def test_columns_by_their_usual_headers(tmp_path: Path) -> None:
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


def test_comma_separated_cells_may_hold_separators_and_line_ends(tmp_path: Path) -> None:
    diabetes, pressure = read("csv", _write(tmp_path / "x.csv", samples.CSV))
    assert isinstance(diabetes, Concept) and isinstance(pressure, Concept)
    assert [name.text for name in diabetes.names] == [
        "Diabetes mellitus", "DM", '"sugar" diabetes',
    ]  # fmt: skip
    assert diabetes.parents == ("E1",)
    assert [name.text for name in pressure.names] == ["Hypertension; arterial", "HTN"]


def test_column_map_by_header_and_number(tmp_path: Path) -> None:
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


def test_numbers_alone_mean_no_header_unless_it_looks_like_one(tmp_path: Path) -> None:
    bare = _write(tmp_path / "bare.tsv", "1\tDiabetes\n2\tHypertension\n")
    headed = _write(tmp_path / "headed.tsv", "code\tterm\n1\tDiabetes\n")
    assert [concept.id for concept in _concepts(bare, columns={"id": 1, "name": 2})] == ["1", "2"]
    assert [concept.id for concept in _concepts(headed, columns={"id": 1, "name": 2})] == ["1"]


def test_rows_apart_are_left_to_the_builder(tmp_path: Path) -> None:
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
def test_missing_columns(
    tmp_path: Path, text: str, columns: dict[str, str | int] | None, said: str
) -> None:
    with pytest.raises(MedlinkError, match="E161") as caught:
        _concepts(_write(tmp_path / "x.tsv", text), columns=columns)
    assert f"no column {said};" in caught.value.message


def test_unknown_field(tmp_path: Path) -> None:
    with pytest.raises(MedlinkError, match=r"E168.*'nmae'"):
        _concepts(_write(tmp_path / "x.tsv", "id\tname\n"), columns={"nmae": 1})


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("id\tname\n1\ta\tb\n", 2, "3 columns"),
        ("id\tname\n\n1\n", 3, "1 columns"),
        ("id\tname\n\ta\n", 2, "an empty id"),
        ("id\tname\n1\t \n", 2, "an empty name"),
        ("id\tname\n1\u200b\ta\n", 2, "invisible character"),
        ('id,name\n1,"a\n2,b\n', 2, "unexpected end of data (row up to line 3)"),
        ('id,name\n1,"a"b\n', 2, "expected after"),
        ("id,name\n1,a\rb\n", 2, "new-line character"),
        ('id,name\n1,"' + "x" * 200_000 + '"\n', 2, "field larger"),
    ],
)
def test_bad_lines(tmp_path: Path, text: str, line: int, problem: str) -> None:
    path = _write(tmp_path / "x.txt", text)
    with pytest.raises(MedlinkError, match="E105") as caught:
        list(read("tsv", path))
    assert f"{path}, line {line}: " in caught.value.message
    assert problem in caught.value.message
    bad: list[BadLine] = []
    list(read("tsv", path, bad))
    assert [bad_line.line for bad_line in bad] == [line]


def test_empty_file(tmp_path: Path) -> None:
    assert list(read("tsv", _write(tmp_path / "x.tsv", "\n \n"))) == []


CELL = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='|"'), min_size=1
).filter(lambda text: text.strip() == text and bool(text))
ID = CELL.filter(str.isprintable)


@settings(max_examples=200, suppress_health_check=list(HealthCheck), deadline=None)
@given(rows=st.lists(st.tuples(ID, CELL, st.lists(CELL, max_size=3)), min_size=1, max_size=5))
@pytest.mark.parametrize("delimiter", ["\t", ",", ";"])
def test_what_is_written_is_read(
    tmp_path: Path, delimiter: str, rows: list[tuple[str, str, list[str]]]
) -> None:
    lines = [("id", "name", "synonyms")] + [(id, name, "|".join(more)) for id, name, more in rows]
    quoted = delimiter != "\t"
    text = "\n".join(
        delimiter.join(f'"{cell}"' if quoted else cell for cell in line) for line in lines
    )
    concepts = _concepts(_write(tmp_path / "x.txt", text), delimiter=delimiter)
    found = [(concept.id, [name.text for name in concept.names]) for concept in concepts]
    expected: list[tuple[str, list[str]]] = []
    for id, name, more in rows:
        if expected and expected[-1][0] == id:
            expected[-1][1].extend([name, *more])
        else:
            expected.append((id, [name, *more]))
    assert found == expected
