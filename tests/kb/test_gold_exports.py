"""What annotation tools export, read as gold."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.gold import read_gold
from spacy_medlink.types import BadLine
from tests.tables import table

TEXT = "Fever 🤒 and atrial fibrilation, no HTN."


def written(path: Path, data: Any) -> Path:
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def found(path: Path) -> list[tuple[str, tuple[str, ...], str]]:
    (document,) = read_gold(path, strict=True)
    assert document.text == TEXT
    return [(mention.text, mention.ids, mention.type) for mention in document.mentions]


ALL = [("Fever", ("C0015967",)), ("atrial fibrilation", ("C0004238",)), ("HTN", ("C0020538",))]


@pytest.mark.parametrize(
    ("name", "documents"),
    [
        # Of the others one is deleted, one killed, and one nobody has looked at.
        ("medcattrainer.json", [("note", ALL)]),
        # Places are in units of UTF-16, and the last label has no concept.
        ("label_studio.json", [("3", [*ALL[:2], ("HTN", ())])]),
        # The second is rejected; in the third the concept was chosen.
        ("prodigy.jsonl", [("n1", [ALL[0], ("HTN", ())]), ("n2", []), ("3", ALL[1:2])]),
    ],
)
def test_exports(name, documents):
    found = list(read_gold(Path(__file__).parent / "sample_files" / "exports" / name, strict=True))
    assert [
        (document.doc_id, [(mention.text, mention.ids) for mention in document.mentions])
        for document in found
    ] == documents
    assert {document.text for document in found} == {TEXT}
    types = {mention.type for document in found for mention in document.mentions}
    assert types == {"" if name == "medcattrainer.json" else "DISO"}


@pytest.mark.parametrize(
    "data", [{"projects": [{}]}, {"projects": 1}, [{"annotations": 1, "data": {}}],
             [{"annotations": [{"result": []}], "data": {"a": "x", "b": "y"}}]],
)  # fmt: skip
def test_a_broken_export_says_so(tmp_path, data):
    with pytest.raises(MedlinkError, match="E160"):
        list(read_gold(written(tmp_path / "export.json", data)))


def test_lines_of_json_may_be_called_json(tmp_path):
    path = written(tmp_path / "gold.json", {"mention": "fever", "ids": ["C1"]})
    assert [mention.text for document in read_gold(path) for mention in document.mentions] == [
        "fever"
    ]


CRLF = "Fever 🤒.\r\nSevere\r\nasthma, no HTN.\r\n"


def browser(text: str, said: str) -> dict[str, Any]:
    """Place a part of a text as a browser counts: units of UTF-16, CRLF as one."""
    shown = text.replace("\r\n", "\n")
    start = len(shown[: shown.index(said)].encode("utf-16-le")) // 2
    return {"start": start, "end": start + len(said.encode("utf-16-le")) // 2, "text": said}


def task_of(text: str, *values: dict[str, Any], **said: Any) -> dict[str, Any]:
    results = [
        {"id": str(n), "type": kind, "value": value | more}
        for n, value in enumerate(values)
        for kind, more in (
            ("textarea", {"text": ["C1"]}), ("labels", {"labels": ["DISO"]})
        )
    ]  # fmt: skip
    return {"id": 3, "data": {"text": text}, "annotations": [{"result": results}], **said}


def test_label_studio_counts_crlf_as_one(tmp_path):
    said = ["Fever", "Severe\nasthma", "asthma", "HTN"]
    task = task_of(CRLF, *(browser(CRLF, one) for one in said))
    (document,) = read_gold(written(tmp_path / "x.json", [task]), strict=True)
    found = [CRLF[mention.start : mention.end] for mention in document.mentions]
    assert found == ["Fever", "Severe\r\nasthma", "asthma", "HTN"]
    assert {mention.type for mention in document.mentions} == {"DISO"}
    for value in task["annotations"][0]["result"]:  # the first way to count, if nothing is recorded
        value["value"].pop("text", None) if "labels" in value["value"] else None
    (document,) = read_gold(written(tmp_path / "x.json", [task]), strict=True)
    assert [CRLF[mention.start : mention.end] for mention in document.mentions] == found


@pytest.mark.parametrize("counted", ["python", "browser"])
def test_medcattrainer_is_checked_against_its_values(tmp_path, counted):
    place = browser(CRLF, "asthma")
    if counted == "python":
        place = {"start": CRLF.index("asthma"), "end": CRLF.index("asthma") + 6}
    own = {**place, "value": "asthma", "cui": "C1", "correct": True}
    data = {"projects": [{"documents": [{"text": CRLF, "annotations": [own]}]}]}
    (document,) = read_gold(written(tmp_path / "x.json", data), strict=True)
    (mention,) = document.mentions
    assert CRLF[mention.start : mention.end] == mention.text == "asthma"


TITLE = "Fever and HTN"


@pytest.mark.parametrize(
    ("data", "facts"),
    [
        ({"note": TEXT, "title": TITLE}, {}),
        ({"title": TITLE, "report.body": TEXT, "url": "https://a.b/c"}, {}),
        ({"text": TITLE, "note": TEXT}, {}),  # another field than the one that was shown
        ({"note": TEXT, "copy": TEXT}, {"from_name": "label", "to_name": "note"}),
        ({"text": TEXT, "copy": TEXT}, {"from_name": "label", "to_name": "shown"}),
        ({"id": 7, "note": TEXT}, {}),
    ],
)
def test_the_text_of_a_task_is_found(tmp_path, data, facts):
    task = task_of(TEXT, browser(TEXT, "atrial"), browser(TEXT, "HTN")) | {"data": data}
    without = {"id": 4, "data": data, "annotations": [{"result": []}]}
    for result in task["annotations"][0]["result"]:
        result |= facts
    documents = list(read_gold(written(tmp_path / "x.json", [without, task]), strict=True))
    assert [document.text for document in documents] == [TEXT, TEXT]
    assert [mention.text for mention in documents[1].mentions] == ["atrial", "HTN"]


def test_a_text_that_is_not_found_is_asked_for(tmp_path):
    task = task_of(TEXT, browser(TEXT, "Fever")) | {"data": {"title": TITLE, "note": TEXT}}
    with pytest.raises(MedlinkError, match=r"E160.*title, note.*data.text = .data.FIELD"):
        list(read_gold(written(tmp_path / "x.json", [task])))
    task["data"]["text"] = task["data"]["note"]
    assert len(found(written(tmp_path / "x.json", [task]))) == 1


def test_offsets_that_fit_no_way_to_count_are_a_mismatch(tmp_path):
    path = written(tmp_path / "x.json", [task_of(TEXT, {"start": 0, "end": 5, "text": "asthma"})])
    mismatches: list[BadLine] = []
    (document,) = read_gold(path, mismatches=mismatches)
    assert document.mentions[0].text == "asthma" and len(mismatches) == 1
    with pytest.raises(MedlinkError, match="E403"):
        list(read_gold(path, strict=True))


@pytest.mark.parametrize("text", ["Fever", None])
def test_offsets_past_the_text(tmp_path, text):
    place = {"start": 900, "end": 905} | ({"text": text} if text else {})
    medcat = {"start": 900, "end": 905, "value": text, "cui": "C1", "correct": True}
    for data in (
        [task_of(TEXT, place)],
        {"projects": [{"documents": [{"text": TEXT, "annotations": [medcat]}]}]},
        {"text": TEXT, "spans": [{"start": 900, "end": 905, "kb_id": "C1"}]},
    ):
        with pytest.raises(MedlinkError, match="E401"):
            list(read_gold(written(tmp_path / "x.json", data)))


def test_what_counts_of_the_annotations_of_a_task(tmp_path):
    (fever,) = task_of(TEXT, browser(TEXT, "Fever"))["annotations"]

    def with_id(id: str, **annotation: Any) -> Any:
        return json.loads(json.dumps(fever | annotation).replace("C1", id))

    tasks = [
        {"id": 1, "data": {"text": TEXT}, "annotations": []},
        {"id": 2, "data": {"text": TEXT}, "annotations": [with_id("C9", was_cancelled=True)]},
        {"id": 3, "data": {"text": TEXT},
         "annotations": [with_id("C2", ground_truth=True), with_id("C3")]},
        {"id": 4, "data": {"text": TEXT}, "completions": [with_id("C4")]},
        {"id": 5, "data": {"text": TEXT}, "annotations": [{"result": []}]},
        {"id": 6, "data": {"text": TEXT}},
    ]  # fmt: skip
    found = list(read_gold(written(tmp_path / "x.json", tasks), strict=True))
    assert [(one.doc_id, [mention.ids for mention in one.mentions]) for one in found] == [
        ("3", [("C2",)]), ("4", [("C4",)]), ("5", []),
    ]  # fmt: skip


@table(__file__, "exports_without_offsets_say_so")
def test_exports_without_offsets_say_so(tmp_path, task, said):
    with pytest.raises(MedlinkError, match=rf"E160.*{said}"):
        list(read_gold(written(tmp_path / "x.json", [task])))


@pytest.mark.parametrize("task", [{"annotations": []}, {"predictions": [{"result": []}]}])
def test_tasks_that_nobody_annotated_are_no_gold(tmp_path, task):
    with pytest.raises(MedlinkError, match="E404"):
        list(read_gold(written(tmp_path / "x.json", [{"data": {"text": TEXT}, **task}])))


def test_a_single_task(tmp_path):
    assert len(found(written(tmp_path / "x.json", task_of(TEXT, browser(TEXT, "Fever"))))) == 1


@pytest.mark.parametrize("facts", [{"answer": "accept"}, {"_task_hash": 7, "spans": None},
                                   {"answer": "ignore", "_input_hash": 3}])  # fmt: skip
def test_tasks_of_prodigy_without_spans(tmp_path, facts):
    path = tmp_path / "x.jsonl"
    first = {"text": TEXT, "spans": [{"start": 0, "end": 5, "kb_id": "C1"}], "answer": "accept"}
    path.write_text(f"{json.dumps(first)}\n{json.dumps({'text': TEXT, **facts})}\n")
    _, second = read_gold(path)
    assert (second.text, second.mentions) == (TEXT, ())


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 50) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["projects", "documents", "annotations", "text", "data", "result", "value",
                         "spans", "start", "end", "id", "cui", "correct", "type", "accept",
                         "completions", "labels", "answer", "ground_truth", "lead_time"]),
        inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(data=_JSON)
def test_any_json_is_gold_or_an_error(tmp_path_factory, data):
    path = written(tmp_path_factory.mktemp("any") / "export.json", data)
    with suppress(MedlinkError):
        list(read_gold(path))
