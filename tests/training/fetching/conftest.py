"""A real server on this machine that answers as it is told."""

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.children import started
from training.fetching import fetch


class Handler(BaseHTTPRequestHandler):
    """Takes the next reply of the server's list for each request."""

    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        reply = self.server.replies.pop(0) if self.server.replies else self.server.otherwise
        reply(self)

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


Reply = Callable[[Handler], None]


class Server(ThreadingHTTPServer):
    """Replies in turn, then `otherwise`; keeps the paths that were asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies: list[Reply] = []
        self.otherwise: Reply = status(404)
        self.requests: list[str] = []
        self.slept: list[float] = []

    def url(self, path: str = "data.bin") -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"


def whole(data: bytes, kind: str = "application/octet-stream", cut: int | None = None) -> Reply:
    """Give the file; cut (Optional[int]): promise it, and hang up after so many bytes."""

    def reply(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data[:cut])
        handler.close_connection = cut is not None

    return reply


def status(code: int, **headers: str) -> Reply:
    def reply(handler: Handler) -> None:
        handler.send_response(code)
        for name, value in {**headers, "Content-Length": "0"}.items():
            handler.send_header(name, value)
        handler.end_headers()

    return reply


@pytest.fixture
def server(monkeypatch):
    """The server; waits between tries are noted and not kept."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Server()
    monkeypatch.setattr(fetch.time, "sleep", server.slept.append)
    with server, started(threading.Thread(target=server.serve_forever, args=(0.01,))):
        try:
            yield server
        finally:
            server.shutdown()
