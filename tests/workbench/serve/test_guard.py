"""What is refused before it is read, in which form, and without a word of the body."""

import asyncio
import json
import time
from typing import Any

import pytest

from tests.timing import cpu_seconds

pytest.importorskip("fastapi")
from fastapi.testclient import TestClient  # there only with the extra `serve`

from spacy_medlink.workbench.serve import Limits, make_app  # imports fastapi
from spacy_medlink.workbench.serve.desk import Desks
from spacy_medlink.workbench.serve.guard import problem_of
from tests.tables import table

LOCAL, TOKEN = "http://127.0.0.1", "t" * 16
SECRET = "Mrs Miller of Elm Street"
JSON = {"Content-Type": "application/json"}
BODIES: dict[str, dict[str, Any]] = {
    "/link": {"texts": ["fever"], "candidates": 5},
    "/explain": {"text": "fever", "start": 0, "end": 5},
    "/map": {"terms": [{"name": "fever", "extra": {"a": "b"}}]},
    "/terms": {"table": "name\nfever"},
    "/corrections": {"text": "fever", "start": 0, "end": 5, "ids": []},
    "/queue": {"texts": ["fever"]},
}


def _said(answer: Any) -> tuple[int, str]:
    """Return status and code of an error, in the documented form and without the secret."""
    assert list(answer.json()) == ["error"], answer.text
    assert set(answer.json()["error"]) == {"code", "message"}
    assert SECRET not in answer.text and "Miller" not in answer.text
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    return answer.status_code, answer.json()["error"]["code"]


@pytest.fixture
def corrected_client(corrected, file):
    return TestClient(make_app([corrected]), base_url=LOCAL)


def _variants(value: Any) -> Any:
    """Give a body with half a surrogate pair in each of its places, as string and as key."""
    if isinstance(value, dict):
        yield {**value, "\ud800": 1}
        for key, inner in value.items():
            yield from ({**value, key: one} for one in _variants(inner))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from ([*value[:place], one, *value[place + 1 :]] for one in _variants(inner))
    elif isinstance(value, str):
        yield f"{value}\ud800"


@pytest.mark.parametrize("path", BODIES)
def test_half_of_a_surrogate_pair(corrected_client, path):
    bodies = [json.dumps(one) for one in _variants(BODIES[path])]
    assert len(bodies) >= 2
    for body in bodies:
        answer = corrected_client.post(path, content=body, headers=JSON)
        assert _said(answer) == (422, "E623"), body
        assert "half a surrogate pair" in answer.text
    assert corrected_client.post(path, json=BODIES[path]).is_success, "the service goes on"


def _ways(path: str) -> list[dict[str, Any]]:
    """Give bodies that are wrong in many ways, with a part of a note wherever one may be."""
    body = BODIES[path]
    ways = [{**body, SECRET: SECRET}, {**body, "terminology": 1, "x": SECRET}]
    ways += [{**body, name: {SECRET: [SECRET]}} for name in body]
    ways += [{**body, name: [[SECRET], SECRET, {SECRET: 1}]} for name in body]
    ways += [{**body, "start": 90, "end": 91, "text": SECRET}] if "start" in body else []
    ways += [{**body, "texts": []}, {**body, "candidates": -1}] if "candidates" in body else []
    return [*ways, {"texts": [SECRET], "text": SECRET, "table": SECRET, "terms": [SECRET]}]


@pytest.mark.parametrize("path", BODIES)
def test_no_error_repeats_a_note(corrected_client, path):
    for body in _ways(path):
        assert _said(corrected_client.post(path, json=body))[0] in (400, 422), body
    for content in (
        "",
        "[]",
        f'{{"texts": ["{SECRET}"',
        f'"{SECRET}"',
        f"{SECRET}",
        f'["{SECRET}\udcff"]',
    ):
        raw = content.encode("utf-8", "surrogateescape")
        assert _said(corrected_client.post(path, content=raw, headers=JSON))[0] == 422
    deep = b'{"texts": ' + b"[" * 9_000
    assert _said(corrected_client.post(path, content=deep, headers=JSON))[0] == 400
    columns = {"table": f"{SECRET}\n{SECRET}", "name": "code", "code": "x", "context": ["y"]}
    assert _said(corrected_client.post("/terms", json=columns))[0] == 400


@table(__file__, "errors_of_the_framework_have_the_same_form")
def test_errors_of_the_framework_have_the_same_form(client, method, path, status):
    answer = client.request(method, path)
    assert _said(answer) == (status, "E623")


def test_a_fault_of_ours_has_it_too(desk, monkeypatch):
    def fail(*_: Any) -> Any:
        raise KeyError(SECRET)

    client = TestClient(make_app([desk]), base_url=LOCAL)
    monkeypatch.setattr(Desks, "named", fail)
    answer = client.post("/link", json={"texts": ["fever"]})
    assert _said(answer) == (500, "E625")
    assert "KeyError" in answer.text


@table(__file__, "pages_of_other_sites_change_nothing")
def test_pages_of_other_sites_change_nothing(corrected_client, file, headers, is_foreign):
    answer = corrected_client.post("/corrections", json=BODIES["/corrections"], headers=headers)
    assert answer.is_success is not is_foreign
    assert bool(file.read_bytes()) is not is_foreign
    deleted = corrected_client.delete("/corrections?id=x", headers=headers)
    assert _said(deleted) == ((403, "E655") if is_foreign else (404, "E651"))
    if is_foreign:
        assert _said(answer) == (403, "E655")


@pytest.mark.parametrize("media", ["", "text/plain", "multipart/form-data", "application/jsonp"])
def test_what_a_form_can_send_is_not_read(corrected_client, file, media):
    body = json.dumps(BODIES["/corrections"]).encode()
    headers = {"Content-Type": media} if media else {}
    answer = corrected_client.post("/corrections", content=body, headers=headers)
    assert _said(answer) == (415, "E623")
    assert file.read_bytes() == b""
    charset = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert corrected_client.post("/corrections", content=body, headers=charset).is_success


async def _ask(
    app: Any, body: Any, *headers: tuple[str, str], told: list[Any] | None = None
) -> int:
    """Send a request; `body` is asked for each part of it. RETURNS: the status of the answer."""
    told, path = [] if told is None else told, "/link"
    sent = [(name.lower().encode(), value.encode()) for name, value in headers]
    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(),
        "query_string": b"", "headers": [(b"host", b"127.0.0.1"), *sent], "http_version": "1.1",
        "scheme": "http", "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1), "root_path": "",
        "asgi": {"version": "3.0"},
    }  # fmt: skip

    async def send(message: Any) -> None:
        told.append(message)

    await app(scope, body, send)
    return int(told[0]["status"]) if told else 0


class _Sending:
    """A client that sends without an end: its answer comes before the first byte is taken."""

    def __init__(self) -> None:
        self.took = 0

    async def __call__(self) -> Any:
        self.took += 1
        return {"type": "http.request", "body": b" " * (1 << 20), "more_body": True}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([("Content-Length", "9")], 401),
        ([("Authorization", "Bearer wrong"), ("Content-Length", "24000000")], 401),
        ([("Authorization", f"Bearer {TOKEN}"), ("Content-Length", "99000000")], 413),
        ([("Authorization", f"Bearer {TOKEN}"), ("Content-Length", "²")], 413),
        ([("Authorization", f"Bearer {TOKEN}"), ("Content-Length", "-1")], 413),
        ([("Authorization", f"Bearer {TOKEN}"), ("Transfer-Encoding", "chunked")], 413),
        ([("Authorization", f"Bearer {TOKEN}"), ("Content-Length", "9")], 415),
    ],
)
def test_headers_are_enough(desk, headers, status):
    """What comes after the answer is dropped, up to a size: else it would not reach the client."""
    app, client = make_app([desk], token=TOKEN), _Sending()
    assert asyncio.run(_ask(app, client, *headers)) == status
    assert client.took == 256


def test_what_is_dropped_is_dropped_for_some_time(desk):
    async def slow() -> Any:
        assert told, "the answer comes first"
        await asyncio.sleep(60)

    told: list[Any] = []
    app, start = make_app([desk], Limits(receiving=0.3), token=TOKEN), time.monotonic()
    assert asyncio.run(_ask(app, slow, ("Content-Length", "9"), told=told)) == 401
    assert time.monotonic() - start < 10
    assert told[0]["headers"].count((b"connection", b"close")) == 1
    assert [message.get("more_body", False) for message in told[1:]] == [True, False]


def test_a_body_that_does_not_come_ends_the_request(desk):
    app = make_app([desk], Limits(receiving=0.3))

    async def slow() -> Any:
        await asyncio.sleep(0.1)
        return {"type": "http.request", "body": b" ", "more_body": True}

    async def never() -> Any:
        await asyncio.sleep(60)

    async def gone() -> Any:
        return {"type": "http.disconnect"}

    headers = [("Content-Length", "900"), *JSON.items()]
    for body, status in ((slow, 408), (never, 408), (gone, 0)):
        start = time.monotonic()
        assert asyncio.run(_ask(app, body, *headers)) == status
        assert time.monotonic() - start < 10


def test_more_than_was_said_is_not_read(desk):
    async def endless() -> Any:
        return {"type": "http.request", "body": b" " * 100_000, "more_body": True}

    app = make_app([desk], Limits(texts=2, length=1_000))
    assert asyncio.run(_ask(app, endless, ("Content-Length", "900"), *JSON.items())) == 413


def test_a_client_that_goes_away_is_not_waited_for(desk):
    body, begun = json.dumps({"texts": ["fever. " * 10_000] * 20}).encode(), []

    async def leave() -> Any:
        if not begun:
            begun.append(1)
            return {"type": "http.request", "body": body, "more_body": False}
        await asyncio.sleep(0.2)
        return {"type": "http.disconnect"}

    headers = [("Content-Length", str(len(body))), *JSON.items()]
    assert asyncio.run(_ask(make_app([desk]), leave, *headers)) == 0
    assert desk.ask_of_texts("link", ["fever"], {}, 0)[0].result(60), "its texts were taken back"


@pytest.mark.parametrize(
    "body",
    [
        b"[" + b"[]," * 2_000_000 + b"[]]", b'{"texts": [' + b"0," * 3_000_000 + b"0]}",
        b"[" * 7_000_000, b'{"texts": [' + b'"",' * 2_000_000 + b'""]}',
        b'{"texts": ["' + b'\\"' * 3_000_000 + b'"]}', b'{"texts": ["' + b'\\"' * 3_000_000,
        b'{"texts": ["' + b'\\"' * 3_000_000 + b"\\",
    ],
)  # fmt: skip
def test_a_large_body_takes_no_long_time(body):
    texts = body.startswith(b'{"texts": ["\\')  # one text, or the beginning of one
    took = cpu_seconds(lambda: bool(problem_of(body, 10_000)) is not texts)
    assert took < 1, "parsed, it takes five seconds"
    assert bool(problem_of(body, 10_000)) is not texts
