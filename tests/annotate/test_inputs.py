"""Every format gives the same documents, and what is no document keeps its place."""

import csv
import gzip
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.annotate.documents import PART_CHARACTERS, Document, parts_of
from spacy_medlink.annotate.inputs import open_input
from spacy_medlink.annotate.text_inputs import Columns
from spacy_medlink.errors import MedlinkError
from tests.training.corpora.workbook import write_workbook

ROWS = [("a", 'Fever.\nCough, "dry"'), ("b", ""), ("c", "Fieber 😀, 血圧"), ("4", "x" * 200_000)]
PLAIN = [(id, text) for id, text in ROWS]


def read(path: Path, columns: Columns = Columns("note", "key")) -> list[Document]:  # noqa: B008  # immutable
    return list(open_input(path, columns).read())


def plain(documents: list[Document]) -> list[tuple[str, str]]:
    assert not any(document.problem for document in documents)
    return [(document.id, document.text) for document in documents]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.ndjson"])
def test_json_lines(tmp_path, name):
    lines = [json.dumps({"key": id, "note": text, "more": [1]}) for id, text in ROWS]
    opening = gzip.open if name.endswith(".gz") else open
    with opening(tmp_path / name, "wt", encoding="utf-8-sig") as file:
        file.write("\r\n\n".join(lines))
    documents = read(tmp_path / name)
    assert plain(documents) == PLAIN
    assert [document.place for document in documents] == ["line 1", "line 3", "line 5", "line 7"]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz"])
def test_tables(tmp_path, name):
    opening = gzip.open if name.endswith(".gz") else open
    with opening(tmp_path / name, "wt", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if ".tsv" in name else ",")
        writer.writerows([("more", "note", "key"), *(("", text, id) for id, text in ROWS)])
    assert plain(read(tmp_path / name)) == PLAIN


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    ids, texts = zip(*ROWS, strict=True)
    table = pyarrow.table({"note": texts, "key": ids, "more": [1.5] * len(ROWS)})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    assert plain(read(tmp_path / "a.parquet")) == PLAIN
    assert open_input(tmp_path / "a.parquet", Columns("note", "key")).total() == len(ROWS)
    numbered = read(tmp_path / "a.parquet", Columns("note", ""))
    assert [document.id for document in numbered] == ["1", "2", "3", "4"]
    odd = pyarrow.table({"note": ["a", None], "key": [7, 8]})
    parquet.write_table(odd, tmp_path / "odd.parquet")
    assert read(tmp_path / "odd.parquet") == [
        Document("7", "a", "row 1"), Document("8", "", "row 2", "no text"),
    ]  # fmt: skip
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(MedlinkError, match="E165"):
        read(tmp_path / "broken.parquet")


def test_names_of_files_that_are_no_text_and_links_to_nothing(tmp_path):
    (tmp_path / os.fsdecode(b"\xff.txt")).write_text("Fever")
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    gone, odd = read(tmp_path)
    assert (gone.id, gone.problem) == ("gone.txt", "cannot be read (No such file or directory)")
    assert (odd.id, odd.text, odd.place) == ("", "", "file \\udcff.txt")
    assert "not UTF-8" in odd.problem


def test_files_that_change_are_another_input(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("ataxia")
    before = open_input(tmp_path, Columns()).state
    path.write_text("asthma")
    os.utime(path, ns=(1, 1))
    assert open_input(tmp_path, Columns()).state != before


def test_a_directory_of_text_files(tmp_path):
    (tmp_path / "b").mkdir()
    for name, text in (("b/two.txt", "Cough"), ("a.txt", "\ufeffFever"), ("c.TXT", "")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "no.md").write_text("no note")
    assert read(tmp_path) == [
        Document("a.txt", "Fever", "file a.txt"),
        Document("b/two.txt", "Cough", "file b/two.txt"),
        Document("bad.txt", "", "file bad.txt", "not UTF-8"),
        Document("c.TXT", "", "file c.TXT"),
    ]
    assert open_input(tmp_path, Columns()).total() == 4


_HEADERS = [
    ("doc_id", "text"), ("id", "text"), ("note_id", "note_text"), ("NOTE_ID", "TEXT"),
    ("Note ID", "Report Text"), ("DocId", "Note"), ("row_id", "content"), ("id", "Abstract"),
]  # fmt: skip


@pytest.mark.parametrize("header", _HEADERS, ids=" ".join)
@pytest.mark.parametrize("suffix", ["jsonl", "csv", "semicolons.csv", "tsv", "parquet", "xlsx"])
def test_usual_names_of_columns(tmp_path, header, suffix):
    path = tmp_path / f"a.{suffix}"
    _write(path, [(12, "Fever."), (7.0, "Cough, dry; no fever.")], header)
    assert plain(read(path, Columns())) == [("12", "Fever."), ("7", "Cough, dry; no fever.")]
    assert open_input(path, Columns()).total() == 2
    assert [one.id for one in read(path, Columns(None, ""))] == ["1", "2"]


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet", "xlsx"])
@pytest.mark.parametrize(
    ("header", "columns", "said"),
    [
        (("key", "text"), Columns(), "no column for the id; it has: key, text. .*id=COLUMN"),
        (("id", "words"), Columns(), "no column for the text; it has: id, words. .*text=COLUMN"),
        (("id", "text"), Columns(text="note"), "no column 'note'; it has: id, text"),
        (("id", "text"), Columns(id="key"), "no column 'key'; it has: id, text"),
    ],
)
def test_columns_that_are_not_there(tmp_path, suffix, header, columns, said):
    path = tmp_path / f"a.{suffix}"
    _write(path, [(1, "Fever.")], header)
    with pytest.raises(MedlinkError, match=f"E615.*{said}"):
        open_input(path, columns)


def test_fields_that_the_first_objects_lack(tmp_path):
    lines = ["[", "[]", "", '{"id": 1}', '{"id": 2, "text": "Fever."}', '{"ID": 3, "text": ""}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    problems = [document.problem for document in read(tmp_path / "a.jsonl", Columns())]
    assert problems == ["not JSON", "not an object", "no text", "", "no id"]


def _write(path: Path, rows: list[tuple[float, str]], header: tuple[str, str]) -> None:
    records = [dict(zip(header, row, strict=True)) for row in rows]
    if path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, records)))
    elif path.suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.Table.from_pylist(records), path)
    else:
        cells = [list(header), *([f"{id:g}", text] for id, text in rows)]
        if path.suffix == ".xlsx":
            write_workbook(path, {"Notes": cells})
        else:
            delimiter = "\t" if path.suffix == ".tsv" else ";" if "semi" in path.name else ","
            with path.open("w", newline="") as file:
                csv.writer(file, delimiter=delimiter).writerows(cells)


def test_what_is_no_document_keeps_its_place(tmp_path):
    lines = [
        b'{"key": "a", "note": "fine"}', b"nonsense", b"[1]", b'{"note": "no key"}',
        b'{"key": "b"}', b'{"key": "c", "note": 5}', b"\xff", b'{"key": "d", "note": "\\ud800"}',
        b'{"key": 9, "note": "number"}', b'{"key": true, "note": ""}', b"[" * 100_000,
    ]  # fmt: skip
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    documents = read(tmp_path / "a.jsonl")
    assert [(document.id, document.problem) for document in documents] == [
        ("a", ""), ("", "not JSON"), ("", "not an object"), ("", "no id"), ("b", "no text"),
        ("c", "the text is no string"), ("", "not UTF-8"), ("d", "the text is not UTF-8"),
        ("9", ""), ("", "no id"), ("", "not JSON"),
    ]  # fmt: skip
    assert not any(document.text for document in documents if document.problem)


def test_rows_of_another_length(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"key,note\na,fine\nb\n\nc,\xff\nd,x,y\n")
    assert [(one.id, one.place, one.problem) for one in read(tmp_path / "a.csv")] == [
        ("a", "row 1", ""),
        ("", "row 2", "1 fields where 2 fields were expected"),
        ("c", "row 4", "the text is not UTF-8"),
        ("", "row 5", "3 fields where 2 fields were expected"),
    ]


# Without a time: all processes of a run must see the same tests.
CUT_OFF = gzip.compress(b'{"key": "a", "note": "b"}' * 10_000, mtime=0)[:100]


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.docx", b"", "E611"), ("a.csv", b"key,text\na,b\n", "E615"), ("a.csv", b"", "E615"),
        ("missing.jsonl", None, "E107"), ("a.jsonl.gz", CUT_OFF, "E165"),
    ],
)  # fmt: skip
def test_inputs_that_cannot_be_read(tmp_path, name, content, code):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(MedlinkError, match=code):
        read(tmp_path / name)


def test_an_empty_directory(tmp_path):
    with pytest.raises(MedlinkError, match="E407"):
        read(tmp_path)


@given(st.lists(st.integers(0, PART_CHARACTERS + 1), max_size=9), st.integers(1, 4))
def test_parts_hold_all_documents_in_order(lengths, size):
    texts = {length: "x" * length for length in set(lengths)}
    documents = [Document(str(n), texts[length], "") for n, length in enumerate(lengths)]
    parts = list(parts_of(iter(documents), size))
    assert [part.number for part in parts] == list(range(len(parts)))
    assert [document for part in parts for document in part.documents] == documents
    for part in parts:
        assert 1 <= len(part.documents) <= size
        assert sum(len(document.text) for document in part.documents[:-1]) < PART_CHARACTERS


def test_the_limit_of_the_csv_module_is_left_alone(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"key,note\na,{'x' * 200_000}\nb,y\n", encoding="utf-8")
    limit = csv.field_size_limit()
    documents = open_input(path, Columns("note", "key")).read()
    assert len(next(iter(documents)).text) == 200_000
    assert csv.field_size_limit() == limit


def test_a_workbook(tmp_path):
    path = tmp_path / "notes.xlsx"
    rows = [["doc_id", "text", "ward"], [1, "Fever.", "er"], ["2", "Cough."], [], ["3"]]
    write_workbook(path, {"notes": rows, "other": [["x"]]})
    documents = list(open_input(path, Columns()).read())
    assert [(one.id, one.text) for one in documents] == [
        ("1", "Fever."),
        ("2", "Cough."),
        ("3", ""),
    ]
    with pytest.raises(MedlinkError, match=r"E615.*'note'.*doc_id, text, ward"):
        open_input(path, Columns(text="note"))


def test_an_input_of_another_kind_is_named(tmp_path):
    (tmp_path / "notes.pkl").write_bytes(b"\x80\x04\x95")
    with pytest.raises(MedlinkError, match=r"E160.*\.xlsx.*it is a Python pickle"):
        open_input(tmp_path / "notes.pkl", Columns())
