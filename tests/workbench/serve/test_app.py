"""The service: what it answers, what it refuses, and that it tells nobody what it should not."""

import contextlib
import logging
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from spacy_medlink.components.pipelines import open_pipeline
from spacy_medlink.errors import MedlinkError
from spacy_medlink.workbench.verbs.serve import command
from tests.network import held_port

pytest.importorskip("fastapi")
from fastapi.testclient import TestClient  # there only with the extra `serve`

from spacy_medlink.workbench.serve import Limits, make_app  # imports fastapi
from spacy_medlink.workbench.serve.app import _FILES

TEXT = "No fever 😀. Mother had asthma; now type 2 diabetes."
LOCAL = "http://127.0.0.1"


def _link(client: TestClient, *texts: str, **body: Any) -> list[list[dict[str, Any]]]:
    answer = client.post("/link", json={"texts": texts, **body})
    assert answer.status_code == 200, answer.text
    return [one["mentions"] for one in answer.json()["documents"]]


def test_links_are_those_of_the_pipeline(client, tiny_assets):
    (mentions,) = _link(client, TEXT, candidates=2)
    doc = open_pipeline(str(tiny_assets.path), device="cpu")(TEXT)
    assert [(TEXT[one["start"] : one["end"]], one["ids"]) for one in mentions] == [
        (ent.text, [ent.kb_id_]) for ent in doc.ents
    ]
    assert [one["negated"] for one in mentions] == [True, False, False]
    assert [one["family"] for one in mentions] == [False, True, False]
    assert all(1 <= len(one["candidates"]) <= 2 for one in mentions)


def test_filters_are_of_one_request(client):
    (filtered,) = _link(client, "fever", types=["T047"])
    (free,) = _link(client, "fever")
    assert [one["ids"] for one in filtered] == [[]]
    assert filtered[0]["reason"] == "filtered"
    assert free[0]["ids"]
    answer = client.post("/link", json={"texts": ["fever"], "types": ["nonsense"]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "E213")
    assert _link(client, "fever")[0][0]["ids"], "the service goes on"


def test_requests_at_once_are_answered_each_with_its_own(client):
    names = ["fever", "asthma", "heart attack", "headache"]
    texts = [names[number % 4] for number in range(64)]
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda text: _link(client, text)[0], texts))
    assert [[one["mention"] for one in own] for own in answers] == [[text] for text in texts]


def test_explanations(client):
    answer = client.post("/explain", json={"text": TEXT, "start": 3, "end": 8}).json()
    assert answer["mention"] == "fever"
    assert "matched" in answer["text"]
    for start, end in ((7, 9), (0, 1 << 40), (1 << 80, 1 << 90)):
        wrong = client.post("/explain", json={"text": "fever", "start": start, "end": end})
        assert (wrong.status_code, wrong.json()["error"]["code"]) == (400, "E627")


def test_search_and_concepts(client, tiny_assets):
    found = client.get("/search", params={"q": "asthma"}).json()
    assert found[0]["how"] == "exact"
    concept = client.get(f"/concepts/{found[0]['id']}").json()
    assert concept["name"] == found[0]["name"]
    missing = client.get("/concepts/NONE")
    assert missing.status_code == 404
    assert str(tiny_assets.path) not in missing.text
    assert "tiny" in missing.json()["error"]["message"]


def test_terminologies_and_health(client):
    (facts,) = client.get("/terminologies").json()
    assert (facts["name"], facts["concepts"]) == ("tiny", 12)
    assert client.get("/health").json()["status"] == "ok"
    assert client.get("/health", headers={"Host": "evil.example"}).status_code == 400
    other = client.get("/search", params={"q": "x", "terminology": "none"})
    assert (other.status_code, other.json()["error"]["code"]) == (404, "E108")


def test_a_token(desk):
    client = TestClient(make_app([desk], token="t" * 16), base_url=LOCAL)
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer ü"}):
        raw = {name: value.encode("utf-8") for name, value in headers.items()}
        answer = client.get("/terminologies", headers=raw)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "E621")
    assert client.get("/terminologies", headers={"Authorization": "Bearer " + "t" * 16}).is_success
    assert client.get("/").is_success, "the page asks for the token"
    assert client.get("/health").is_success


def test_limits(desk):
    client = TestClient(make_app([desk], Limits(length=10, texts=2)), base_url=LOCAL)
    for texts in (["fever " * 3], ["fever"] * 3):
        answer = client.post("/link", json={"texts": texts})
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "E624")
    slow = TestClient(make_app([desk], Limits(seconds=0)), base_url=LOCAL)
    answer = slow.post("/link", json={"texts": ["fever"]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (504, "E626")


def test_texts_are_not_logged(client, caplog):
    with caplog.at_level(logging.DEBUG):
        _link(client, "secret fever")
        client.post("/link", json={"texts": "secret"})
    assert "secret" not in caplog.text


def test_the_page_lets_nothing_else_run(client):
    page = client.get("/")
    assert "script-src 'self'" in page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert "http" not in page.text.replace("http-equiv", "")
    for name in ("page.css", "page.js", "corrections.js", "terms.js"):
        assert client.get(f"/page/{name}").is_success
    assert "innerHTML" not in "".join(client.get(f"/page/{one}").text for one in _FILES)
    files = ("/", *(f"/page/{one}" for one in _FILES))
    size = sum(len(client.get(one).content) for one in files)
    assert size <= 60_000


@pytest.mark.slow
def test_sigterm_finishes_what_has_begun(tiny_assets):
    pytest.importorskip("uvicorn")
    httpx = pytest.importorskip("httpx")
    command = [sys.executable, "-m", "spacy_medlink.cli", "serve", str(tiny_assets.path)]
    with contextlib.ExitStack() as stack:
        port = stack.enter_context(held_port())
        server = subprocess.Popen([*command, "--port", str(port)], stderr=subprocess.DEVNULL)
        stack.callback(server.kill)
        address = f"http://127.0.0.1:{port}"
        for _ in range(600):
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{address}/health").is_success:
                    break
            time.sleep(0.1)
        with ThreadPoolExecutor(1) as pool:
            body = {"texts": ["fever, asthma. " * 1000] * 4}
            asked = pool.submit(httpx.post, f"{address}/link", json=body, timeout=120)
            time.sleep(0.3)
            server.send_signal(signal.SIGTERM)
            assert len(asked.result().json()["documents"]) == 4
        assert server.wait(60) in (0, -signal.SIGTERM)


def test_a_service_for_others_needs_a_token(tmp_path):
    with pytest.raises(MedlinkError, match="E628"):
        command(["starter"], host="0.0.0.0", token_file=None)
    (tmp_path / "short").write_text("short")
    for path in (tmp_path / "none", tmp_path / "short"):
        with pytest.raises(MedlinkError, match="E629"):
            command(["starter"], host="127.0.0.1", token_file=path)
