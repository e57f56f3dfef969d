"""Clients that are slow, leave, or do not speak HTTP, and the end of the service among them."""

import json
import logging
import socket
import threading
import time
from contextlib import closing, suppress
from http.client import HTTPConnection
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("fastapi")
uvicorn = pytest.importorskip("uvicorn")

from spacy_medlink.workbench.serve import Desk, Limits, make_app  # noqa: E402  # imports fastapi
from spacy_medlink.workbench.serve.server import make_server  # noqa: E402

PATIENCE = 1.0
HOST = "Host: 127.0.0.1\r\n"
HEAD = f"POST /link HTTP/1.1\r\n{HOST}Content-Type: application/json\r\n"


class _Kept(Desk):
    """A desk that outlives its services."""

    def __init__(self, desk: Desk) -> None:
        self.__dict__.update(desk.__dict__)

    def close(self) -> None:
        """Leave it open."""


@pytest.fixture
def server(desk):
    limits = Limits(receiving=PATIENCE)
    made = make_server(make_app([_Kept(desk)], limits), "127.0.0.1", 0, limits)
    made.config.timeout_graceful_shutdown = 2
    thread = threading.Thread(target=made.run)
    thread.start()
    while not made.started:
        time.sleep(0.01)
    yield made
    made.should_exit = True
    thread.join()


@pytest.fixture
def logged(server, monkeypatch):
    """What the server writes to its log."""
    records, handler = list[logging.LogRecord](), logging.Handler()
    monkeypatch.setattr(handler, "emit", records.append)
    monkeypatch.setattr(logging.getLogger("uvicorn.error"), "handlers", [handler])
    return records


@pytest.fixture
def connect(server):
    address = server.servers[0].sockets[0].getsockname()
    return lambda: socket.create_connection(address, timeout=30)


def _closed_after(client: socket.socket, answer: bytearray | None = None) -> float:
    """Wait until the service closes. RETURNS: the seconds that it took."""
    start = time.monotonic()
    with suppress(ConnectionResetError):
        while part := client.recv(65_536):
            if answer is not None:
                answer += part
    client.close()
    return time.monotonic() - start


def _drip(client: socket.socket, text: str) -> threading.Thread:
    """Send a text byte by byte, ten times a second."""

    def send() -> None:
        with suppress(OSError):
            for one in text:
                client.sendall(one.encode())
                time.sleep(0.1)

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize(
    "sent", ["", "GET /health HTTP/1.1\r\nX: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]
)
def test_headers_that_do_not_come(connect, sent):
    client = connect()
    _drip(client, sent)
    assert PATIENCE / 2 < _closed_after(client) < PATIENCE + 3


def test_a_second_request_that_does_not_come(connect):
    client = connect()
    client.sendall(f"GET /health HTTP/1.1\r\n{HOST}\r\n".encode())
    assert b"200 OK" in client.recv(65_536)
    _drip(client, "GET /health HTTP/1.1\r\nX: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")
    assert _closed_after(client) < PATIENCE + 3


def test_a_body_that_does_not_come(connect):
    client, answer = connect(), bytearray()
    client.sendall(f"{HEAD}Content-Length: 900\r\n\r\n".encode())
    _drip(client, " " * 900)
    assert _closed_after(client, answer) < PATIENCE + 3
    head, _, body = bytes(answer).partition(b"\r\n\r\n")
    assert b" 408 " in head and json.loads(body)["error"]["code"] == "E654"


def test_an_answer_that_is_not_read(server):
    page = f"GET /page/page.js HTTP/1.1\r\n{HOST}\r\n".encode()
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.settimeout(0.5)
        client.connect(server.servers[0].sockets[0].getsockname())
        end = time.monotonic() + 30
        with pytest.raises(ConnectionError):
            while time.monotonic() < end:
                with suppress(TimeoutError):  # the service takes no more
                    client.sendall(page)


def test_what_is_no_http(connect, logged):
    for _ in range(12):  # they are counted, not listed
        client, answer = connect(), bytearray()
        client.sendall(b"\x16\x03\x01\x02\x00\r\n\r\n")
        assert _closed_after(client, answer) < PATIENCE + 3
        head, _, body = bytes(answer).partition(b"\r\n\r\n")
        assert b" 400 " in head and json.loads(body)["error"]["code"] == "E623"
        assert b".." not in body
    told = [f"Requests that were no HTTP: {count}." for count in (1, 10)]
    assert [record.getMessage() for record in logged] == told


@pytest.mark.parametrize("way", ["urllib", "http.client"])
def test_a_refusal_reaches_a_client_that_sends(server, way):
    """Many clients read only when they have sent all, and none of it is read before the answer."""
    host, port = server.servers[0].sockets[0].getsockname()
    body = b" " * 40_000_000  # more than a request may have, and than buffers hold
    for _ in range(3):
        if way == "urllib":
            headers = {"Content-Type": "application/json"}
            with pytest.raises(HTTPError) as caught:
                urlopen(Request(f"http://{host}:{port}/link", body, headers), timeout=30)
            with caught.value:
                status, said = caught.value.code, caught.value.read()
        else:
            with closing(HTTPConnection(host, port, timeout=30)) as client:
                client.request("POST", "/link", body, {"Content-Type": "text/plain"})
                answer = client.getresponse()
                status, said = answer.status, answer.read()
        assert (status, json.loads(said)["error"]["code"]) == (413, "E624")


@pytest.mark.parametrize("path", ["/", "/health", "/nothing"])
def test_head(server, path):
    with closing(HTTPConnection(*server.servers[0].sockets[0].getsockname(), timeout=30)) as client:
        client.request("HEAD", path)
        answer = client.getresponse()
        assert (answer.status, answer.read()) == (404 if path == "/nothing" else 200, b"")
        assert int(answer.headers["Content-Length"]) > 0


def test_the_end_does_not_wait_for_slow_clients(server, connect, logged):
    clients = [connect() for _ in range(60)]
    for number, client in enumerate(clients):
        text = HEAD if number % 2 else f"{HEAD}Content-Length: 900\r\n\r\n"
        client.sendall(text.encode())
    time.sleep(0.2)
    start = time.monotonic()
    server.should_exit = True
    for client in clients:
        _closed_after(client)
    assert time.monotonic() - start < 10
    time.sleep(0.5)
    assert not any(record.exc_info for record in logged)
