"""Corrections: kept as gold, in force at once, taken back, and never lost."""

import errno
import json
import os
import stat
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from spacy_medlink.assets import Assets
from spacy_medlink.assets.learn import learn
from spacy_medlink.components.pipelines import open_pipeline
from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.gold import read_gold
from spacy_medlink.workbench.serve.correction_file import excerpt
from spacy_medlink.workbench.verbs.serve import command

pytest.importorskip("fastapi")
from fastapi.testclient import TestClient  # there only with the extra `serve`

from spacy_medlink.workbench.serve import CorrectionFile, Desk, Limits, make_app  # imports fastapi
from spacy_medlink.workbench.serve.terminology import Opening, Terminology
from tests.workbench.serve.browser import opened_page

ASTHMA, FEVER = "HP:0002099", "HP:0001945"
NOTE = "Known asthma. Now wheezy spells, and 😀 fever <b>again</b>. Home."


@pytest.fixture
def client(corrected, file):
    return TestClient(make_app([corrected]), base_url="http://127.0.0.1")


def _links(client: TestClient, text: str = NOTE) -> dict[str, list[str]]:
    answer = client.post("/link", json={"texts": [text]})
    assert answer.status_code == 200, answer.text
    return {one["mention"]: one["ids"] for one in answer.json()["documents"][0]["mentions"]}


def _correct(client: TestClient, mention: str, *ids: str, text: str = NOTE, **more: Any) -> Any:
    start = text.index(mention)
    body = {"text": text, "start": start, "end": start + len(mention), "ids": ids, **more}
    answer = client.post("/corrections", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_another_concept_nil_and_another_span(client, file):
    assert _links(client) == {"asthma": [ASTHMA], "fever": [FEVER]}
    done = _correct(client, "asthma", FEVER, by=" Ann ")
    before = {"mention": "asthma", "ids": [ASTHMA], "names": ["Asthma"]}
    assert (done["by"], done["names"], done["from"]) == ("Ann", ["Fever"], before)
    _correct(client, "fever")
    _correct(client, "wheezy spells", ASTHMA)
    now = {"asthma": [FEVER], "wheezy spells": [ASTHMA], "fever": []}
    assert _links(client) == now
    documents = list(read_gold(file, strict=True))
    assert [one.text for one in documents] == [
        "Known asthma.", *["Now wheezy spells, and 😀 fever <b>again</b>."] * 2
    ]  # fmt: skip
    listed = client.get("/corrections").json()
    assert [one["mention"] for one in listed] == ["wheezy spells", "fever", "asthma"]
    assert [one["names"] for one in listed] == [["Asthma"], [], ["Fever"]]
    for one in listed:
        assert client.delete(f"/corrections/{one['id']}").is_success
    assert _links(client) == {"asthma": [ASTHMA], "fever": [FEVER]}
    assert file.read_bytes() == b""


def test_what_was_said_last_holds(client):
    _correct(client, "asthma", FEVER)
    last = _correct(client, "asthma")
    assert _links(client)["asthma"] == []
    assert last["from"]["ids"] == [FEVER]
    client.delete(f"/corrections/{last['id']}")
    assert _links(client)["asthma"] == [FEVER]


def test_a_span_takes_the_place_of_another(client):
    text = "wheezy asthma of old."
    done = _correct(client, "wheezy asthma", FEVER, text=text, instead=[7, 13])
    assert (done["from"]["mention"], done["from"]["ids"]) == ("asthma", [ASTHMA])
    assert _links(client, text) == {"wheezy asthma": [FEVER]}
    done = _correct(client, "heez", FEVER, text=text)
    assert done["mention"] == "wheezy", "whole words"


def test_an_abbreviation_keeps_its_definition(client, file):
    text = "Patent foramen ovale (PFO) was seen. Later on the PFO was closed."
    start = text.rindex("PFO")
    body = {"text": text, "start": start, "end": start + 3, "ids": [FEVER]}
    assert client.post("/corrections", json=body).is_success
    (document,) = read_gold(file, strict=True)
    assert document.text == "Patent foramen ovale (PFO).\nLater on the PFO was closed."
    assert _links(client, text)["PFO"] == [FEVER]


def test_learn_takes_the_file_as_it_is(client, file, tiny_assets, tmp_path):
    _correct(client, "asthma", FEVER, by="Ann")
    _correct(client, "wheezy spells", ASTHMA)
    _correct(client, "Home")
    done = learn(Assets(tiny_assets.path), tmp_path / "learned", file)
    assert done.names == 2 and done.manifest["memory"]["nil"] == 1
    said = {line.key: line.id for line in done.assets.memory_lines if line.is_general}
    assert said == {"asthma": FEVER, "wheezy spell": ASTHMA, "home": ""}


def test_the_least_is_kept():
    text = "One.  " + "word " * 200 + "mention " + "word " * 200
    start = text.index("mention")
    kept, begin = excerpt(text, start, start + 7, "")
    assert kept[start - begin :].startswith("mention") and len(kept) < 620
    assert excerpt("a\n\n  fever  \n\nb", 5, 10, "") == ("fever", 5)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"ids": ["HP:9"]}, 404, "E106"), ({"start": 900, "end": 901}, 400, "E627"),
        ({"end": 5, "start": 5}, 400, "E627"), ({"instead": [1, 999]}, 400, "E627"),
        ({"instead": [1, 2, 3]}, 422, "E623"), ({"terminology": "x"}, 404, "E108"),
        ({"text": "x" * 100_001}, 413, "E624"), ({"by": "x" * 101}, 422, "E623"),
    ],
)  # fmt: skip
def test_what_is_refused(client, file, body, status, code):
    answer = client.post(
        "/corrections", json={"text": NOTE, "start": 6, "end": 12, "ids": [], **body}
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert file.read_bytes() == b""
    missing = client.delete("/corrections/none")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "E651")


UNREADABLE = {
    "no JSON": b"{",
    "no text": b"\xff\xfe",
    "no document": b"[]",
    "offsets": b'{"text": "ab", "mentions": [{"start": 0, "end": 9, "mention": "ab", "ids": []}]}',
    "ids": b'{"text": "ab", "mentions": [{"start": 0, "end": 2, "mention": "ab", "ids": [1]}]}',
    "half a pair": b'{"text": "ab", "mentions": [], "\\ud800": 1}',
}


@pytest.mark.parametrize("line", UNREADABLE.values(), ids=[*UNREADABLE])
def test_what_would_not_be_in_force_is_refused(client, file, line):
    """A line that cannot be read keeps the whole file out of force: it is named, with 409."""
    kept = _correct(client, "fever", ASTHMA)
    assert kept["in_force"]
    with file.open("ab") as added:
        added.write(line + b"\n")
    before = file.read_bytes()
    body = {"text": NOTE, "start": 6, "end": 12, "ids": [FEVER]}
    for answer in (
        client.post("/corrections", json=body), client.delete(f"/corrections/{kept['id']}")
    ):  # fmt: skip
        assert (answer.status_code, answer.json()["error"]["code"][:2]) == (409, "E4")
        assert "line 2" in answer.text and str(file) not in answer.text
    assert file.read_bytes() == before
    assert _links(client)["fever"] == [ASTHMA], "what was in force still is"
    file.write_bytes(before.removesuffix(line + b"\n"))
    assert _correct(client, "asthma", FEVER)["in_force"]
    assert _links(client) == {"asthma": [FEVER], "fever": [ASTHMA]}


def test_a_file_that_is_gone_is_made_again(client, file):
    _correct(client, "fever", ASTHMA)
    file.unlink()
    assert _correct(client, "asthma", FEVER)["in_force"]
    assert len(list(read_gold(file))) == 1
    assert _links(client) == {"asthma": [FEVER], "fever": [FEVER]}
    file.write_text("deny\tfever\n", encoding="utf-8")
    body = {"text": NOTE, "start": 6, "end": 12, "ids": [FEVER]}
    answer = client.post("/corrections", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "E160")


def test_what_changes_nothing_is_said(client):
    """Nothing is remembered of a mention without letters."""
    text = "Known asthma ... and fever."
    assert not _correct(client, "...", FEVER, text=text)["in_force"]
    assert _correct(client, "...", text=text)["in_force"], "it has no link"


def test_ids_that_no_address_can_end_with(client, file):
    line = {"doc_id": "..", "text": "a", "mentions": [{"mention": "a", "ids": []}]}
    file.write_text(json.dumps({**line, "correction": {"by": "Ann"}}) + "\n", encoding="utf-8")
    assert [one["id"] for one in client.get("/corrections").json()] == [".."]
    assert client.delete("/corrections", params={"id": ".."}).json() == {"undone": ".."}
    assert file.read_bytes() == b""
    found = client.get("/concepts", params={"id": ".."})
    assert (found.status_code, found.json()["error"]["code"]) == (404, "E106")
    assert client.get("/concepts", params={"id": FEVER}).json()["name"] == "Fever"


def test_without_a_file_nothing_is_kept(desk):
    client = TestClient(make_app([desk]), base_url="http://127.0.0.1")
    for ask in (
        lambda: client.get("/corrections"),
        lambda: client.delete("/corrections/x"),
        lambda: client.post(
            "/corrections", json={"text": "fever", "start": 0, "end": 5, "ids": []}
        ),
    ):
        assert (ask().status_code, ask().json()["error"]["code"]) == (404, "E650")


def test_a_full_disk_loses_nothing(client, file, monkeypatch):
    kept = _correct(client, "asthma", FEVER)
    before = file.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        body = {"text": NOTE, "start": 6, "end": 12, "ids": []}
        for answer in (
            client.post("/corrections", json=body), client.delete(f"/corrections/{kept['id']}")
        ):  # fmt: skip
            assert (answer.status_code, answer.json()["error"]["code"]) == (507, "E109")
            assert "No space left" in answer.text and str(file.parent) not in answer.text
    assert file.read_bytes() == before
    assert [one.name for one in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("method", "status", "in_force", "names"),
    [("locate", 503, None, None), ("is_linked", 200, None, [FEVER])],
)
def test_a_process_that_ends_keeps_nothing_that_is_refused(
    corrected, client, file, monkeypatch, method, status, in_force, names
):
    """And what is sent again is there once."""
    process, body = corrected._short._process, {"text": NOTE, "start": 6, "end": 12, "ids": [FEVER]}
    ask, body["id"] = process.ask, f"by-a-client-{method}"

    def killed(asked: str, *args: Any) -> Any:
        if asked != method:
            return ask(asked, *args)
        monkeypatch.undo()
        assert process._process is not None
        process._process.kill()
        process._process.join()
        with monkeypatch.context() as patch:
            patch.setattr(process, "_is_alive", lambda: True)  # it ends in the middle of its work
            return ask(asked, *args)

    monkeypatch.setattr(process, "ask", killed)
    answer = client.post("/corrections", json=body).json()
    assert (answer.get("in_force"), answer.get("names")) == (in_force, names)
    assert answer.get("error", {"code": "E656"})["code"] == "E656"
    assert len(file.read_bytes().splitlines()) == (status == 200)
    for _ in range(2):
        again = client.post("/corrections", json=body)
        assert (again.status_code, again.json()["in_force"]) == (200, True)
    assert len(file.read_bytes().splitlines()) == 1
    other = client.post("/corrections", json={**body, "ids": []})
    assert (other.status_code, other.json()["error"]["code"]) == (422, "E623")


def test_refused_among_heavy_clients(corrected, file):
    """Those that are refused have left nothing, and the others a line each."""
    client = TestClient(make_app([corrected], Limits(seconds=1.5)), base_url="http://127.0.0.1")
    body = {"text": "fever and asthma. " * 1_000, "start": 0, "end": 5, "ids": [FEVER]}

    def send(number: int) -> tuple[str, int]:
        answer = client.post("/corrections", json={**body, "id": f"client-{number % 12:02}"})
        return f"client-{number % 12:02}", answer.status_code

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(send, range(24)))
    assert {status for _, status in answers} <= {200, 504, 507}
    kept = [json.loads(line)["doc_id"] for line in file.read_bytes().splitlines()]
    assert sorted(kept) == sorted({id for id, status in answers if status == 200})
    assert len(kept) < 12, "some were refused"
    corrected.ask("names_of", []).result(60)


@pytest.mark.parametrize("wait", ["pipe", "disk"])
def test_a_file_that_does_not_answer(corrected, file, monkeypatch, wait):
    client = TestClient(make_app([corrected], Limits(seconds=2)), base_url="http://127.0.0.1")
    kept, goes_on = _correct(client, "asthma", FEVER), threading.Event()
    before, fsync = file.read_bytes(), os.fsync
    if wait == "pipe":
        file.unlink()
        os.mkfifo(file)
    else:
        monkeypatch.setattr(os, "fsync", lambda *_: [goes_on.wait(), fsync(*_)])
    body = {"text": NOTE, "start": 6, "end": 12, "ids": []}
    requests = [("POST", "/corrections", body), ("DELETE", f"/corrections/{kept['id']}", None)]
    requests += [("GET", "/corrections", None)] if wait == "pipe" else []
    for method, path, sent in requests:
        answer = client.request(method, path, json=sent)
        expected = (409, "E160") if wait == "pipe" else (507, "E109")
        assert (answer.status_code, answer.json()["error"]["code"]) == expected
    assert client.get("/terminologies").is_success
    if wait == "pipe":
        assert _links(client)["asthma"] == [FEVER], "what was in force still is"
        beside = CorrectionFile(file.parent / "beside.jsonl")  # nobody holds the lock
        beside.path.unlink()
        file.unlink()
        file.write_bytes(before)
    goes_on.set()
    corrected.file_thread.ask(lambda _: None).result(60)
    assert file.read_bytes() == before


def _write(path: Path, who: int) -> None:
    own = CorrectionFile(path)
    for number in range(20):
        mention = {"mention": f"{who} {number}", "ids": ["X"]}
        own.add({"doc_id": f"{who}-{number}", "mentions": [mention], "correction": {"by": who}})
        if number % 2:
            own.remove(f"{who}-{number}")


def test_two_people_at_once(tmp_path):
    file = tmp_path / "corrections.jsonl"
    file.write_text('{"mention": "mine", "ids": []}', encoding="utf-8")  # without an end of line
    file.chmod(0o600)
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(_write, [file, file], [1, 2]))
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert lines[0] == {"mention": "mine", "ids": []}
    assert sorted(one["doc_id"] for one in lines[1:]) == sorted(
        f"{who}-{number}" for who in (1, 2) for number in range(0, 20, 2)
    )
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [one["doc_id"] for one in CorrectionFile(file).corrections()] == [
        one["doc_id"] for one in reversed(lines[1:])
    ]


def test_a_file_of_something_else(tmp_path, tiny_assets):
    other = tmp_path / "rules.tsv"
    other.write_text("deny\tfever\n", encoding="utf-8")
    with pytest.raises(MedlinkError, match="E160"):
        CorrectionFile(other)
    with pytest.raises(MedlinkError, match="E160"):
        CorrectionFile(tmp_path)
    with pytest.raises(MedlinkError, match="E109"):
        CorrectionFile(other / "within.jsonl")
    nlp = open_pipeline(str(tiny_assets.path), device="cpu", overlay=str(other))
    nlp.to_disk(tmp_path / "pipeline")
    with pytest.raises(MedlinkError, match="E652"):
        Terminology(Opening(str(tmp_path / "pipeline"), overlay=str(tmp_path / "new.jsonl")))
    with pytest.raises(Exception, match="one file for each"):
        command(["starter"], corrections=["a", "starter=b"], token_file=None, host="127.0.0.1")


def test_the_queue(client):
    texts = ["Asthma, asthma and shivery chils.", "asthma; fever"]
    order = client.post("/queue", json={"texts": texts}).json()
    assert sorted(one["mention"].casefold() for one in order) == ["asthma", "fever"]
    assert {one["mention"].casefold(): one["count"] for one in order}["asthma"] == 3
    _correct(client, "asthma", FEVER)
    left = client.post("/queue", json={"texts": texts}).json()
    assert [one["mention"] for one in left] == ["fever"], "what was corrected is beyond doubt"
    assert client.post("/queue", json={"texts": []}).status_code == 422


@pytest.mark.slow
@pytest.mark.parametrize("way", ["keyboard", "phone"])
def test_in_a_browser(tiny_assets, tmp_path, way):
    """A mention gets another concept, none, another span; by keys alone, or on a phone."""
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "color_scheme": "dark"}
    file = tmp_path / "corrections.jsonl"
    own = CorrectionFile(file)
    desk = Desk("tiny", str(tiny_assets.path), device="cpu", corrections=own)
    with opened_page([desk], **(phone if way == "phone" else {})) as (page, said):

        def press(button: Any) -> None:
            if way == "phone":
                button.tap()
            else:
                button.focus()
                page.keyboard.press("Enter")

        def close() -> None:
            """Close the sheet that lies over the note on a phone."""
            if way == "phone":
                page.tap("#close")
                page.locator("#details").wait_for(state="hidden")

        def wait_for(*mentions: str) -> None:
            wanted = [*mentions]
            own = "[...document.querySelectorAll('#linked button')].map((one) => one.innerText)"
            page.wait_for_function(f"wanted => String({own}) === String(wanted)", arg=wanted)

        details = page.locator("#details")
        page.fill("#by", "<b>Ann</b>")
        page.fill("#text", "<img src=x onerror=alert(1)> the asthma, fever 😀 nos")
        page.press("#text", "Control+Enter") if way == "keyboard" else page.tap("#link")
        wait_for("asthma", "fever")
        press(page.locator("#linked button >> nth=1"))
        press(details.get_by_role("button", name="No concept"))
        wait_for("asthma", "feverno link")
        close()
        press(page.locator("#linked button >> nth=0"))
        press(details.get_by_role("button", name="Word before"))
        details.locator("h2", has_text="the asthma").wait_for()
        page.fill("#query", "Fever")
        page.press("#query", "Enter")
        details.locator("h2", has_text="Search: Fever").wait_for()
        press(details.get_by_role("button", name="Link “the asthma” to Fever").first)
        wait_for("the asthmaFever", "feverno link")
        assert page.evaluate("document.activeElement.innerText") == "the asthmaFever"
        close()
        page.evaluate("text.focus(); text.setSelectionRange(48, 52)")
        press(page.locator("#mark"))
        details.locator("h2", has_text="nos").wait_for()
        close()
        press(page.locator("#undo"))
        wait_for("asthma", "feverno link")
        press(page.locator("#history"))
        details.locator("td", has_text="<b>Ann</b>").wait_for()
        assert len(list(read_gold(file, strict=True))) == 1
        press(details.get_by_role("button", name="Undo fever"))
        wait_for("asthma", "fever")
        assert page.locator("#undo").is_disabled()
        close()
        press(page.locator("#next"))
        page.locator("#status", has_text="1 of 2 to review").wait_for()
        assert page.locator("img").count() == 0
        width = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert width <= 0, "nothing leaves the screen"
        assert said == []
