"""Local terms over HTTP and in the page: mapped, decided, and written as `medlink map` writes."""

import csv
import io
from pathlib import Path
from typing import Any, get_args

import pytest

from spacy_medlink.workbench.mapping.outputs import FORMATS
from spacy_medlink.workbench.mapping.run import map_terms
from spacy_medlink.workbench.mapping.terms import Columns

pytest.importorskip("fastapi")
from fastapi.testclient import TestClient  # there only with the extra `serve`

from spacy_medlink.workbench.serve import Desk, Limits, make_app, mappings  # imports fastapi
from spacy_medlink.workbench.serve.mappings import Wanted
from tests.tables import table
from tests.workbench.serve.browser import opened_page

FEVER, HEADACHE = "HP:0001945", "HP:0002315"
TABLE = 'code,name,n,ward\nA,Fever,3,er\nB,heart attak,2,\nC,qqqq,1,\nD,=1+1,,"-2; ""x"""\n'
COLUMNS = {"frequency": "n", "context": ["ward"]}


def _read(client: TestClient, table: str, **columns: Any) -> dict[str, Any]:
    answer = client.post("/terms", json={"table": table, **columns})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def _given(mapping: dict[str, Any]) -> dict[str, Any]:
    """What is sent of a mapping: all but candidates and names of concepts."""
    kept = {key: value for key, value in mapping.items() if key != "others"}
    targets = [{k: v for k, v in one.items() if k != "name"} for one in mapping["targets"]]
    return {**kept, "targets": targets}


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_table_is_mapped_and_written_as_the_command_does(client, tiny_assets, tmp_path):
    read = _read(client, TABLE, **COLUMNS)
    assert read["context"] == ["ward"] and read["aside"] == {}
    body = {"terms": [_given(one) for one in read["terms"]], "context": ["ward"]}
    mappings = client.post("/map", json=body).json()["mappings"]
    assert [one["name"] for one in mappings] == ["Fever", "heart attak", "qqqq", "=1+1"]
    first = mappings[0]["targets"][0]
    assert (first["id"], first["match"], mappings[0]["status"]) == (FEVER, "exact", "UNCHECKED")
    written = client.post("/map?as=csv", json=body)
    assert written.headers["content-type"].startswith("text/csv")
    (tmp_path / "terms.csv").write_text(TABLE, encoding="utf-8")
    out = tmp_path / "out.csv"
    columns = Columns(frequency="n", context=("ward",))
    map_terms(tmp_path / "terms.csv", tiny_assets.engine(), out, columns=columns)
    assert written.text == out.read_text(encoding="utf-8")
    assert _rows(written.text)[3]["context:ward"] == '\'-2; "x"'
    assert _rows(written.text)[3]["source_name"] == "'=1+1"


def test_decisions_come_back_from_the_file(client):
    terms = [
        {"name": "Fever", "code": "A", "status": "approved", "comment": "=ça",
         "targets": [{"id": HEADACHE, "match": "broader", "prob": 0.5}], "extra": {"who": "@Zoë"}},
        {"name": "heart attak", "status": "APPROVED"},
        {"name": "asthma", "comment": "later"},
        {"name": "gone", "status": "FLAGGED", "targets": [{"id": "HP:9"}, {"id": FEVER}]},
    ]  # fmt: skip
    text = client.post("/map?as=csv", json={"terms": terms}).text
    a, b, c, *d = _rows(text)
    assert (a["status"], a["concept_id"], a["concept_name"], a["match_type"], a["probability"]) == (
        "APPROVED", HEADACHE, "Headache", "broader", "0.5000",
    )  # fmt: skip
    assert (a["comment"], a["who"]) == ("'=ça", "'@Zoë")
    assert (b["status"], b["concept_id"]) == ("APPROVED", "")
    assert c["status"] == "UNCHECKED" and c["concept_id"]
    assert [one["status"] for one in d] == ["INVALID_TARGET"] * 2
    read = _read(client, text)["terms"]
    assert [one["status"] for one in read] == [
        "APPROVED", "APPROVED", "UNCHECKED", "INVALID_TARGET",
    ]  # fmt: skip
    assert (read[0]["comment"], read[0]["extra"]) == ("=ça", {"who": "@Zoë"})
    assert read[2]["comment"] == "later" and read[2]["targets"] == []
    again = client.post("/map?as=csv", json={"terms": [_given(one) for one in read]}).text
    assert again == text
    kept = client.post("/map?as=csv&approved=true", json={"terms": terms}).text
    assert [one["source_name"] for one in _rows(kept)] == ["Fever", "heart attak"]


def test_all_formats(client):
    assert set(get_args(Wanted)) == {"", *FORMATS}
    body = {"terms": [{"name": "Fever", "code": "A"}], "vocabulary": "local"}
    fhir = client.post("/map?as=fhir", json=body)
    assert fhir.json()["group"][0]["element"][0]["target"][0]["code"] == FEVER
    assert "local:A" in client.post("/map?as=sssom", json=body).text
    omop = client.post("/map?as=omop", json=body)
    assert (omop.status_code, omop.json()["error"]["code"]) == (400, "E407")


@table(__file__, "what_is_pasted")
def test_what_is_pasted(client, table, names):
    assert [one["name"] for one in _read(client, table)["terms"]] == names


def test_corrections_are_in_force(corrected, file):
    client = TestClient(make_app([corrected]), base_url="http://127.0.0.1")
    for wanted in (FEVER, HEADACHE):
        (own,) = client.post("/map", json={"terms": [{"name": "Fever"}]}).json()["mappings"]
        assert own["targets"][0]["id"] == wanted
        body = {"text": "Fever", "start": 0, "end": 5, "ids": [HEADACHE]}
        assert client.post("/corrections", json=body).is_success


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("map", {"terms": []}, 422, "E623"),
        ("map", {"terms": [{"name": ""}]}, 422, "E623"),
        ("map", {"terms": [{"name": "a", "context": ["x"]}]}, 422, "E623"),
        ("map", {"terms": [{"name": "a"}] * 101}, 413, "E624"),
        ("map", {"terms": [{"name": "a" * 1_001}]}, 413, "E624"),
        ("map?as=word", {"terms": [{"name": "a"}]}, 422, "E623"),
        ("map", {"terms": [{"name": "a"}], "terminology": "x"}, 404, "E108"),
        ("terms", {"table": ""}, 400, "E407"),
        ("terms", {"table": "x;y\n1;2"}, 400, "E615"),
        ("terms", {"table": "x\n1", "name": "y"}, 400, "E615"),
        ("terms", {"table": "a\n" * 101}, 413, "E624"),
    ],
)
def test_what_is_refused(desk, path, body, status, code, monkeypatch):
    monkeypatch.setattr(mappings, "MOST", 100)  # or the tables would be long ones
    client = TestClient(make_app([desk], Limits(length=1_000)), base_url="http://127.0.0.1")
    answer = client.post(f"/{path}", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


BAD = "<img src=x onerror=alert(1)>"
FILE = f'code;name;n;ward\nA;Fever;3;"{BAD}"\nB;heart attak;2;h\xf4pital\nC;qqqq;1;\nD;=1+1;;\n'


@pytest.mark.slow
@pytest.mark.parametrize("way", ["keyboard", "phone"])
def test_in_a_browser(tiny_assets, tmp_path, way):
    """Terms of a file are decided by keys alone, or on a phone; what is saved is loaded again."""
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "color_scheme": "dark"}
    (tmp_path / "terms.csv").write_bytes(FILE.encode("cp1252"))
    desk = Desk("tiny", str(tiny_assets.path), device="cpu")  # closed with its service
    with opened_page([desk], **(phone if way == "phone" else {})) as (page, said):

        def press(key: str, label: str) -> None:
            if way == "keyboard":
                page.keyboard.press(key)
            else:
                page.locator("#details").get_by_role("button", name=label).first.tap()

        def wait_for(*statuses: str) -> None:
            own = "[...document.querySelectorAll('#rows .decided')].map((one) => one.innerText)"
            page.wait_for_function(f"wanted => String({own}) === String(wanted)", arg=[*statuses])

        def save() -> Path:
            with page.expect_download() as download:
                page.click("#save-table")
            kept: Path = download.value.path()
            return kept

        assert page.locator("#correcting").is_hidden(), "there is no file for corrections"
        page.click("nav a >> text=Terms")
        page.click("summary >> text=Columns")
        page.fill("#frequency-column", "n")
        page.fill("#context-columns", "ward")
        page.set_input_files("#table-file", tmp_path / "terms.csv")
        page.locator("#status", has_text="4 of 4 terms are mapped").wait_for()
        assert "not UTF-8: 1." in page.inner_text("#status")
        page.locator("#details h2", has_text="Fever").wait_for()
        assert BAD in page.inner_text("#shown p >> nth=0")
        press("Enter", "Approve")
        press("1", "Link “heart attak” to Myocardial infarction")
        press("n", "No concept")
        press("f", "Flag")
        wait_for("approved", "approved", "approved", "flagged")
        press("c", "") if way == "keyboard" else page.tap("#comment")
        page.keyboard.type("=ask Zoë")
        page.keyboard.press("Enter")
        page.keyboard.press("ArrowUp")
        page.locator("#details h2", has_text="qqqq").wait_for()
        page.fill("#query", "Headache")
        page.press("#query", "Enter")
        page.get_by_role("button", name="Link “qqqq” to Headache").first.click()
        page.locator("#rows tr >> nth=2", has_text=HEADACHE).wait_for()
        rows = _rows(save().read_text(encoding="utf-8"))
        assert [(one["status"], one["concept_id"]) for one in rows] == [
            ("APPROVED", FEVER), ("APPROVED", rows[1]["concept_id"]), ("APPROVED", HEADACHE),
            ("FLAGGED", ""),
        ]  # fmt: skip
        assert rows[1]["concept_name"] == "Myocardial infarction"
        assert (rows[1]["context:ward"], rows[3]["comment"]) == ("hôpital", "'=ask Zoë")
        page.focus("#rows [tabindex='0']")
        press("u", "Undo")
        wait_for("approved", "approved", "approved", "flagged")
        page.locator("#rows tr >> nth=2", has_text="no concept").wait_for()
        page.select_option("#filter", "flagged")
        page.locator("#details h2", has_text="=1+1").wait_for()
        page.locator("#page", has_text="1–1 of 1").wait_for()
        page.select_option("#filter", "unchecked")
        page.locator("#details p", has_text="There are no such terms").wait_for()
        page.select_option("#filter", "all")
        page.select_option("#as", "fhir")
        assert '"resourceType": "ConceptMap"' in save().read_text(encoding="utf-8")
        page.select_option("#as", "csv")
        kept = save().rename(tmp_path / "saved.csv")
        page.fill("#frequency-column", "")
        page.fill("#context-columns", "")
        page.set_input_files("#table-file", kept)
        page.locator("#status", has_text="4 of 4 terms are mapped").wait_for()
        wait_for("approved", "approved", "approved", "flagged")
        assert page.locator("img").count() == 0
        width = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert width <= 0, "nothing leaves the screen"
        assert said == []
