"""A real server on this machine that answers as it is told."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.children import started


class Handler(BaseHTTPRequestHandler):
    """Takes the next reply of the server's list for each request."""

    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_GET(self) -> None:
        self.server.requests.append((self.path, dict(self.headers)))
        reply = self.server.replies.pop(0) if self.server.replies else self.server.otherwise
        reply(self)

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


Reply = Callable[[Handler], None]


class Server(ThreadingHTTPServer):
    """Replies in turn, then `otherwise`; keeps the paths and headers that were asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies: list[Reply] = []
        self.otherwise: Reply = status(404)
        self.requests: list[tuple[str, dict[str, str]]] = []

    def url(self, path: str = "data.bin") -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"


def whole(data: bytes, kind: str = "application/octet-stream", tag: str = '"v1"') -> Reply:
    """Give the file, or the part of it that a range asks for."""

    def reply(handler: Handler) -> None:
        wanted = handler.headers.get("Range", "")
        fresh = handler.headers.get("If-Range", tag) == tag
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and fresh else 0
        if start and start >= len(data):
            handler.send_response(416)
            handler.send_header("Content-Range", f"bytes */{len(data)}")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        handler.send_header("Content-Type", kind)
        if tag:
            handler.send_header("ETag", tag)
        handler.send_header("Content-Length", str(len(data) - start))
        handler.end_headers()
        handler.wfile.write(data[start:])

    return reply


def cut_off(data: bytes, after: int, tag: str = '"v1"') -> Reply:
    """Promise the file and hang up in the middle."""

    def reply(handler: Handler) -> None:
        handler.send_response(200)
        if tag:
            handler.send_header("ETag", tag)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data[:after])
        handler.close_connection = True

    return reply


def status(code: int, **headers: str) -> Reply:
    def reply(handler: Handler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return reply


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Server()
    with server, started(threading.Thread(target=server.serve_forever, args=(0.01,))):
        try:
            yield server
        finally:
            server.shutdown()
