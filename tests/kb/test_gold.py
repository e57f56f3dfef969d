import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.gold import GoldDocument, GoldMention, read_gold
from spacy_medlink.types import BadLine
from tests.mutants import told
from tests.tables import table
from tests.training.corpora.workbook import write_workbook

TEXT = "Fièvre and headache 🙂 since Monday."
GOOD = {
    "doc_id": "7",
    "lang": "fr",
    "text": TEXT,
    "mentions": [
        {"start": 0, "end": 6, "mention": "Fièvre", "ids": ["HP:0001945"], "type": "Sign"},
        {"start": 11, "end": 19, "mention": "headache", "ids": []},
    ],
}
reusing_tmp_path = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def _write(path: Path, *lines: Any) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def _document(**mention: Any) -> dict[str, Any]:
    return {"text": TEXT, "mentions": [mention]}


def test_documents_and_bare_mentions(tmp_path: Path) -> None:
    bare = {"mention": "asma", "ids": ["C1", "C2", "C1"], "lang": "es"}
    documents = list(read_gold(_write(tmp_path / "gold.jsonl", GOOD, "", bare)))
    assert documents == [
        GoldDocument(
            "7",
            TEXT,
            "fr",
            (
                GoldMention("Fièvre", ("HP:0001945",), 0, 6, "Sign"),
                GoldMention("headache", (), 11, 19),
            ),
            1,
        ),
        GoldDocument("3", None, "es", (GoldMention("asma", ("C1", "C2")),), 3, named=False),
    ]


def test_gzip_and_byte_order_mark(tmp_path: Path) -> None:
    line = json.dumps(GOOD, ensure_ascii=False).encode("utf-8-sig")
    packed, plain = tmp_path / "gold.jsonl.gz", tmp_path / "gold.jsonl"
    packed.write_bytes(gzip.compress(line))
    plain.write_bytes(line)
    assert list(read_gold(packed)) == list(read_gold(plain))


def test_text_may_be_absent_and_mention_taken_from_offsets(tmp_path: Path) -> None:
    without_text = {"mentions": [{"start": 3, "end": 9, "mention": "asthma", "ids": ["C1"]}]}
    from_offsets = _document(start=11, end=19, ids=["C1"])
    first, second = read_gold(_write(tmp_path / "gold.jsonl", without_text, from_offsets))
    assert (first.text, first.mentions[0].start) == (None, 3)
    assert second.mentions[0].text == "headache"


def test_empty_spans_and_white_space_pass(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "gold.jsonl",
        _document(start=6, end=7, mention=" ", ids=["C1"]),
        _document(start=4, end=4, mention="", ids=[]),
    )
    assert [document.mentions[0].text for document in read_gold(path, strict=True)] == [" ", ""]


@table(__file__, "bad_lines_are_named")
def test_bad_lines_are_named(tmp_path: Path, line: str, problem: str) -> None:
    path = _write(tmp_path / "gold.jsonl", GOOD, line)
    with pytest.raises(MedlinkError) as caught:
        list(read_gold(path))
    assert caught.value.code == "E401"
    assert f"{path}, line 2: " in str(caught.value)
    assert problem in str(caught.value)


@pytest.mark.parametrize(("start", "end"), [(30, 99), (9, 3), (-2, 4), (99, 101), (-1, 3)])
def test_offsets_outside_the_text(tmp_path: Path, start: int, end: int) -> None:
    path = _write(
        tmp_path / "gold.jsonl", GOOD, _document(start=start, end=end, mention="x", ids=[])
    )
    with pytest.raises(MedlinkError, match=r"line 2.*characters, not bytes") as caught:
        list(read_gold(path))
    assert caught.value.code == "E401"


def test_mismatches_are_counted_or_refused(tmp_path: Path) -> None:
    wrong = _document(start=0, end=6, mention="headache", ids=["C1"])
    path = _write(tmp_path / "gold.jsonl", GOOD, wrong)
    mismatches: list[BadLine] = []
    documents = list(read_gold(path, mismatches=mismatches))
    assert documents[1].mentions[0].text == "headache"
    assert [(bad.line, bad.path) for bad in mismatches] == [(2, str(path))]
    assert mismatches[0].problem == (
        "mention 1 is not the text at 0-6 (it stands 11 characters later)"
    )
    with pytest.raises(MedlinkError, match="E403"):
        list(read_gold(path, strict=True))


@table(__file__, "mismatches_say_where_to_look_and")
def test_mismatches_say_where_to_look_and_keep_the_text_private(
    tmp_path: Path, start: int, end: int, mention: str, hint: str
) -> None:
    path = _write(tmp_path / "gold.jsonl", _document(start=start, end=end, mention=mention, ids=[]))
    mismatches: list[BadLine] = []
    list(read_gold(path, mismatches=mismatches))
    assert hint in mismatches[0].problem
    with pytest.raises(MedlinkError) as caught:
        list(read_gold(path, strict=True))
    assert hint in str(caught.value)
    for said in (mismatches[0].problem, str(caught.value)):
        assert not {"headache", "Fièvre", "zebra"} & set(said.split())


def test_documents_of_one_id_are_counted_or_refused(tmp_path: Path) -> None:
    bare = {"doc_id": "7", "mention": "asma", "ids": ["C1"]}  # mentions may share a document
    path = _write(tmp_path / "gold.jsonl", GOOD, bare, bare, GOOD, {**GOOD, "doc_id": "8"})
    repeated: list[BadLine] = []
    assert len(list(read_gold(path, repeated=repeated))) == 5
    assert [(bad.line, bad.problem) for bad in repeated] == [
        (4, "the document '7' is in line 1 already")
    ]
    with pytest.raises(MedlinkError, match=r"line 4: the document '7' is in line 1") as caught:
        list(read_gold(path, strict=True))
    assert caught.value.code == "E403"


def test_documents_without_an_id_are_not_repeated(tmp_path: Path) -> None:
    nameless = {"text": "asma", "mentions": [{"start": 0, "end": 4, "ids": []}]}
    path = _write(tmp_path / "gold.jsonl", {**nameless, "doc_id": "2"}, nameless, nameless)
    assert [document.doc_id for document in read_gold(path, strict=True)] == ["2", "2", "3"]


@pytest.mark.parametrize("content", ["", "\n\n", '{"text": "nothing", "mentions": []}\n'])
def test_no_mention_at_all(tmp_path: Path, content: str) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(MedlinkError, match="E404"):
        list(read_gold(path))


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(MedlinkError, match="E107"):
        list(read_gold(tmp_path / "none.jsonl"))


def test_damaged_gzip_and_other_encodings(tmp_path: Path) -> None:
    packed = tmp_path / "gold.jsonl.gz"
    lines = "".join(json.dumps({"mention": str(n), "ids": ["C1"]}) + "\n" for n in range(5000))
    whole = gzip.compress(lines.encode())
    packed.write_bytes(whole[: len(whole) // 2])
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes(json.dumps(GOOD, ensure_ascii=False).encode("latin-1", "replace"))
    for path in (packed, latin):
        with pytest.raises(MedlinkError, match="E401"):
            list(read_gold(path))


@st.composite
def _documents(draw: st.DrawFn) -> dict[str, Any]:
    text = draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
    mentions = []
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, len(text)))
        ids = draw(st.lists(st.sampled_from(["C1", "C2", "HP:3"]), unique=True))
        mentions.append({"start": start, "end": end, "mention": text[start:end], "ids": ids})
    return {"text": text, "mentions": mentions}


@reusing_tmp_path
@given(st.lists(_documents(), min_size=1, max_size=4), st.booleans())
def test_what_is_written_is_read(tmp_path: Path, documents: list[Any], ascii_only: bool) -> None:
    path = tmp_path / "gold.jsonl"
    lines = [json.dumps(document, ensure_ascii=ascii_only) for document in documents]
    path.write_bytes("\n".join(lines).encode())
    for document, read in zip(documents, read_gold(path, strict=True), strict=True):
        assert read.text == document["text"]
        for expected, mention in zip(document["mentions"], read.mentions, strict=True):
            assert mention == GoldMention(
                expected["mention"], tuple(expected["ids"]), expected["start"], expected["end"]
            )


@reusing_tmp_path
@given(st.data())
def test_mutations_are_read_or_refused_with_a_code(tmp_path: Path, data: st.DataObject) -> None:
    raw = bytearray(json.dumps(GOOD).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(raw) - 1))
        change = data.draw(st.binary(max_size=3))
        raw[place : place + data.draw(st.integers(0, 4))] = change
    path = tmp_path / "gold.jsonl"
    path.write_bytes(bytes(raw))
    told(lambda: list(read_gold(path)), {"E401", "E404"})


@pytest.mark.parametrize("name", ["gold.csv", "gold.xlsx"])
def test_a_table_of_mentions(tmp_path: Path, name: str) -> None:
    rows = [["Mention", "Note", "Concept ID"], ["fever", "x", "C1 | C2"], ["cough", "", "C3"]]
    if name.endswith("csv"):
        (tmp_path / name).write_text("".join(f"{','.join(row)}\n" for row in rows))
    else:
        write_workbook(tmp_path / name, {"gold": rows})
    mentions = [mention for document in read_gold(tmp_path / name) for mention in document.mentions]
    assert [(one.text, one.ids) for one in mentions] == [
        ("fever", ("C1", "C2")),
        ("cough", ("C3",)),
    ]


def test_annotations_and_notes_in_workbooks(tmp_path: Path) -> None:
    rows = [["note_id", "start", "end", "concept_id"], ["n1", 3, 8, "C1"]]
    write_workbook(tmp_path / "gold.xlsx", {"gold": rows})
    write_workbook(tmp_path / "notes.xlsx", {"notes": [["note_id", "text"], ["n1", "No fever."]]})
    (document,) = read_gold(tmp_path / "gold.xlsx")
    assert (document.text, document.mentions[0].text) == ("No fever.", "fever")


@table(__file__, "a_file_of_another_kind_is_named")
def test_a_file_of_another_kind_is_named(tmp_path, content, said):
    path = tmp_path / "gold.jsonl"
    path.write_text(content)
    with pytest.raises(MedlinkError, match=said):
        list(read_gold(path))
