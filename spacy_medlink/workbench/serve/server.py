"""Listening: the service at an address, with limits for clients that are slow."""

import asyncio
import logging
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from ...errors import Errors
from ...util.json_text import write_json
from .desk import LIMITS, Limits

# What uvicorn would write for each request that is counted here, or answered as one for HTTP.
_QUIET = ("Invalid HTTP request", "Unsupported upgrade request", "No supported WebSocket library")
_TOLD = frozenset(10**digits for digits in range(12))  # counts of bad requests that are told
_GRACE = 20  # seconds for requests that are under way when the service is stopped


class HttpProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """uvicorn's protocol, which itself waits for ever for headers, and for a client that reads.

    limits (Limits): the time for both.
    """

    limits = LIMITS

    no_http = 0  # requests of this server that were none

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def connection_made(self, transport: Any) -> None:
        """Expect a request."""
        super().connection_made(transport)
        self._start("receiving")

    def data_received(self, data: bytes) -> None:
        """Read a part of a request; once its headers have come, the service sees to the rest."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._start("receiving")
        else:
            self._stop("receiving")

    def pause_writing(self) -> None:
        """Expect that the client reads."""
        super().pause_writing()
        self._start("sending")

    def resume_writing(self) -> None:
        """The client has read."""
        super().resume_writing()
        self._stop("sending")

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        for what in [*self._timers]:
            self._stop(what)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, and count it."""
        error, server = Errors.bad_request(wrong="it is no HTTP"), type(self)
        body = write_json({"error": {"code": error.code, "message": str(error)}}).encode()
        head = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: application/json"
        self.transport.write(b"%s\r\ncontent-length: %d\r\n\r\n" % (head.encode(), len(body)))
        self.transport.write(body)
        self.transport.close()
        server.no_http += 1
        if server.no_http in _TOLD:
            self.logger.warning("Requests that were no HTTP: %d.", server.no_http)

    def _start(self, what: str) -> None:
        if what not in self._timers and not self.transport.is_closing():
            seconds = self.limits.receiving
            self._timers[what] = self.loop.call_later(seconds, self.transport.abort)

    def _stop(self, what: str) -> None:
        if what in self._timers:
            self._timers.pop(what).cancel()


def make_server(app: FastAPI, host: str, port: int, limits: Limits = LIMITS) -> uvicorn.Server:
    """Make the server of a service. limits (Limits): as for `make_app`."""
    log = logging.getLogger("uvicorn.error")
    log.addFilter(lambda record: not str(record.msg).startswith(_QUIET))
    protocol = type("LimitedProtocol", (HttpProtocol,), {"limits": limits})
    config = uvicorn.Config(
        app, host=host, port=port, http=protocol, ws="none", access_log=False,
        log_level="warning", timeout_graceful_shutdown=_GRACE,
    )  # fmt: skip
    return uvicorn.Server(config)
