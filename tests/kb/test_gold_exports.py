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

TEXT = "Fever 🤒 and atrial fibrilation, no HTN."


def written(path: Path, data: Any) -> Path:
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def found(path: Path) -> list[tuple[str, tuple[str, ...], str]]:
    (document,) = read_gold(path, strict=True)
    assert document.text == TEXT
    return [(one.text, one.ids, one.type) for one in document.mentions]


def test_medcattrainer(tmp_path: Path) -> None:
    def annotation(start: int, end: int, cui: str, **said: bool) -> dict[str, Any]:
        return {"start": start, "end": end, "value": TEXT[start:end], "cui": cui, "user": "me"} | {
            "correct": False, "deleted": False, "alternative": False, "killed": False,
            "manually_created": False, **said,
        }  # fmt: skip

    own = [
        annotation(0, 5, "C0015967", correct=True),
        annotation(12, 30, "C0004238", alternative=True),
        annotation(35, 38, "C0000001", deleted=True),
        annotation(35, 38, "C0000002", correct=True, killed=True),
        annotation(35, 38, "C0020538", manually_created=True),
        annotation(8, 11, "C0000003"),  # nobody has looked at it
    ]
    project = {
        "name": "p",
        "documents": [{"id": 7, "name": "note", "text": TEXT, "annotations": own}],
    }
    path = written(tmp_path / "export.json", {"projects": [project]})
    assert found(path) == [
        ("Fever", ("C0015967",), ""),
        ("atrial fibrilation", ("C0004238",), ""),
        ("HTN", ("C0020538",), ""),
    ]
    assert next(read_gold(path)).doc_id == "note"


def test_label_studio(tmp_path: Path) -> None:
    def region(id: str, start: int, end: int, type: str, value: Any) -> dict[str, Any]:
        said = TEXT.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")
        place = {"start": start, "end": end, "text": said}
        return {"id": id, "type": type, "value": {**place, **value}}

    def concept(id: str, *values: str) -> dict[str, Any]:
        return {"id": id, "type": "textarea", "value": {"start": 0, "end": 0, "text": [*values]}}

    results = [
        region("a", 0, 5, "labels", {"labels": ["DISO"]}),
        concept("a", "C0015967"),
        region("b", 13, 31, "labels", {"labels": ["DISO"]}),  # in units of UTF-16
        {"id": "b", "type": "choices", "value": {"choices": ["C0004238 | atrial fibrillation"]}},
        region("c", 36, 39, "labels", {"labels": ["DISO"]}),
        concept("c", "NIL"),
        region("d", 0, 5, "labels", {"labels": ["no concept was given"]}),
        {"id": "r", "type": "relation", "value": {}},
    ]
    annotations = [{"was_cancelled": False, "result": []}, {"result": results},
                   {"was_cancelled": True, "result": []}]  # fmt: skip
    task = {"id": 3, "data": {"text": TEXT}, "annotations": annotations}
    assert found(written(tmp_path / "export.json", [task])) == [
        ("Fever", ("C0015967",), "DISO"),
        ("atrial fibrilation", ("C0004238",), "DISO"),
        ("HTN", (), "DISO"),
    ]


def test_prodigy(tmp_path: Path) -> None:
    spans = [
        {"start": 0, "end": 5, "label": "DISO", "kb_id": "C0015967"},
        {"start": 35, "end": 38, "label": "DISO", "kb_id": "NIL"},
        {"start": 12, "end": 30, "label": "DISO"},
    ]
    accepted = {"text": TEXT, "spans": spans, "answer": "accept", "meta": {"doc_id": "n1"}}
    chosen = {"text": TEXT, "spans": spans[2:], "options": [], "accept": ["C0004238"],
              "answer": "accept"}  # fmt: skip
    path = tmp_path / "export.jsonl"
    rejected = {**accepted, "answer": "reject", "meta": {"doc_id": "n2"}}
    path.write_text("\n".join(map(json.dumps, (accepted, rejected, chosen))), encoding="utf-8")
    first, second, third = read_gold(path)
    said = [(one.text, one.ids) for one in first.mentions]
    assert said == [("Fever", ("C0015967",)), ("HTN", ())]
    assert (first.doc_id, second.mentions) == ("n1", ())
    assert [one.ids for one in third.mentions] == [("C0004238",)]


@pytest.mark.parametrize(
    "data", [{"projects": [{}]}, {"projects": 1}, [{"annotations": 1, "data": {}}],
             [{"annotations": [], "data": {"a": "x", "b": "y"}}]],
)  # fmt: skip
def test_a_broken_export_says_so(tmp_path: Path, data: Any) -> None:
    with pytest.raises(MedlinkError, match="E417"):
        list(read_gold(written(tmp_path / "export.json", data)))


def test_lines_of_json_may_be_called_json(tmp_path: Path) -> None:
    path = written(tmp_path / "gold.json", {"mention": "fever", "ids": ["C1"]})
    assert [one.text for document in read_gold(path) for one in document.mentions] == ["fever"]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 50) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["projects", "documents", "annotations", "text", "data", "result", "value",
                         "spans", "start", "end", "id", "cui", "correct", "type", "accept"]),
        inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(data=_JSON)
def test_any_json_is_gold_or_an_error(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    path = written(tmp_path_factory.mktemp("any") / "export.json", data)
    with suppress(MedlinkError):
        list(read_gold(path))
