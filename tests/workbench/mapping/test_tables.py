"""Tables of terms: encodings, quotes, formulas, formats."""

import csv
import re
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.exchange.spreadsheets import escaped, unescaped
from spacy_medlink.kb.readers import lines
from spacy_medlink.workbench.mapping.outputs import _write_table
from spacy_medlink.workbench.mapping.tables import Problems, read_table
from spacy_medlink.workbench.mapping.terms import Columns, Terms, pasted
from tests.tables import rows_of_table
from tests.training.corpora.workbook import write_workbook
from tests.workbench.mapping.conftest import EXECUTED

_ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def _read(path: Path, found: Problems | None = None) -> list[list[str]]:
    return [cells for _, cells in read_table(path, found or Problems())]


@given(_ANY | st.text("'=+-@\t\n ab\"", max_size=6))
def test_no_cell_is_executed(cell):
    written = escaped(cell)
    assert not written.startswith(EXECUTED)
    assert unescaped(written) == cell


@given(rows=st.lists(st.lists(_ANY, min_size=3, max_size=3), max_size=5))
def test_cells_come_back(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("cells") / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        _write_table(file, ["x", "y", "z"], ((row, ()) for row in rows))
    kept = [
        [cell.replace("\r\n", "\n") for cell in row] for row in rows if any(map(str.strip, row))
    ]
    # The end of a line that is "\r\n" may be one within a cell, too.
    assert [[cell.replace("\r", "") for cell in row] for row in _read(path)[1:]] == [
        [cell.replace("\r", "") for cell in row] for row in kept
    ]


def test_a_cell_with_another_separator_stays_one(tmp_path):
    path = tmp_path / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        _write_table(file, ["x"], [(["a;=1+1"], ())])
    with path.open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file, delimiter=";")) == [["x"], ["a;=1+1"]]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        ("name;n\nFièvre;1\n".encode("utf-8-sig"), []),
        ("name;n\nFièvre;1\n".encode("cp1252"), [2]),
        ("name\tn\nFièvre\t1\n".encode() + "Fièvre\t1\n".encode("cp1252"), [3]),
        ("name,n\r\nFièvre,1\r\n".encode(), []),
    ],
)
def test_encodings(tmp_path, data, lines):
    (tmp_path / "a.csv").write_bytes(data)
    found = Problems()
    rows = _read(tmp_path / "a.csv", found)
    assert rows[0] == ["name", "n"]
    assert all(row == ["Fièvre", "1"] for row in rows[1:])
    assert found.western == lines


def test_bad_rows_are_set_aside(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('code,name\n1,fever\n2,"a "b" c"\n,,\n\n3,x,y\n4,\n5,"open\n6,cough\n')
    found = Problems()
    names = [term.name for term in Terms(path, Columns(), "", found)]
    assert names == ["fever", "cough"]
    assert found.first["more cells than the header"] == 6
    assert found.first["no name"] == 7
    assert sum(found.aside.values()) == 4


def test_workbooks_and_parquet_say_the_same(tmp_path):
    header = ["Source Code", "Name", "Frequency"]
    write_workbook(tmp_path / "a.xlsx", {"one": [header, ["7", "fever", 3], ["", "", ""]]})
    read = [_read(tmp_path / "a.xlsx")]
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    columns = [["7", None], ["fever", None], [3.0, None]]
    table = pyarrow.table(dict(zip(header, columns, strict=True)))
    parquet.write_table(table, tmp_path / "a.parquet")
    read.append(_read(tmp_path / "a.parquet"))
    assert read == [[header, ["7", "fever", "3"]]] * 2
    term = next(iter(Terms(tmp_path / "a.xlsx", Columns(), "X", Problems())))
    assert (term.code, term.name, term.frequency, term.codes[0].vocabulary) == (
        "7", "fever", "3", "X",
    )  # fmt: skip


def test_codes_keep_the_zeros_that_their_cells_show(tmp_path):
    _, rows = rows_of_table(__file__, "shown")
    formats, numbers, shown = zip(*rows, ("0" * 300, 7, "7"), strict=True)
    write_workbook(tmp_path / "a.xlsx", {"s": [numbers]}, formats)
    assert _read(tmp_path / "a.xlsx") == [list(shown)]


@pytest.mark.parametrize(
    ("name", "data", "columns", "code"),
    [
        ("a.csv", b"", Columns(), "E407"),
        ("a.csv", b"what,ever\n1,2\n", Columns(), "E615"),
        ("a.csv", b"name\n1\n", Columns(code="kode"), "E615"),
        ("a.csv", b"name\n1\n", Columns(context=("ward",)), "E615"),
        ("a.doc", b"name\n", Columns(), "E611"),
        ("a.xlsx", b"PK no workbook", Columns(), "E165"),
        ("a.parquet", b"PAR1", Columns(), "E165"),
        ("a.csv.gz", b"not gzip", Columns(), "E105"),
    ],
)
def test_bad_tables(tmp_path, name, data, columns, code):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(MedlinkError, match=code):
        Terms(tmp_path / name, columns, "", Problems())


def test_cells_far_to_the_right_do_not_fill_the_rows(tmp_path):
    """A cell of column ZZZ would make 18,278 of a row; it stays under its header."""
    rows = [["name", "code", "far"]] + [[f"n{row}", str(row), "x"] for row in range(50)]
    write_workbook(tmp_path / "near.xlsx", {"s": rows})
    with ZipFile(tmp_path / "near.xlsx") as near, ZipFile(tmp_path / "a.xlsx", "w") as far:
        for name in near.namelist():
            data = near.read(name)
            far.writestr(name, re.sub(rb'r="C(\d+)"', rb'r="ZZZ\1"', data))
    found = _read(tmp_path / "a.xlsx")
    assert {len(cells) for cells in found} == {257}
    assert [[cell for cell in cells if cell] for cells in found] == rows
    terms = Terms(tmp_path / "a.xlsx", Columns(context=("far",)), "", Problems())
    assert [(one.name, one.context) for one in terms] == [(f"n{n}", ("x",)) for n in range(50)]


def test_a_workbook_that_unpacks_to_far_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "_MUCH", 1 << 16)
    write_workbook(tmp_path / "a.xlsx", {"s": [["name"], *[["x" * 100_000]] * 50]})
    with pytest.raises(MedlinkError, match=r"E165.*unpacks to too much"):
        _read(tmp_path / "a.xlsx")


def test_a_pasted_table_with_cr_alone():
    assert [cells for _, cells in read_table(pasted("name,code\ra,1\rb,2"), Problems())] == [
        ["name", "code"], ["a", "1"], ["b", "2"],
    ]  # fmt: skip
