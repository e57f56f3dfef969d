"""Guard: what every request must pass before the service looks at it, and what every answer has.

Whatever the headers tell is checked before the body is read, and the body before it is parsed. All
errors have one form. None repeats a part of the body, which may be a note.
"""

import asyncio
import hmac
import re
from collections.abc import Collection
from contextlib import suppress
from itertools import islice
from urllib.parse import urlsplit

from pydantic import BaseModel
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...errors import Errors, MedlinkError
from ...util.json_text import HalfPairError, has_surrogate, read_json
from . import corrections, linking, mappings
from .desk import Desks

# Only our own files run in the page, even if a note or a terminology contains scripts.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_STATUS = {
    "E106": 404, "E108": 404, "E640": 404, "E621": 401, "E622": 503, "E623": 422, "E624": 413,
    "E626": 504, "E109": 507, "E650": 404, "E651": 404, "E654": 408, "E655": 403, "E656": 503,
    "E160": 409,
    # A file of corrections that cannot be read:
    "E105": 409, "E107": 409, "E401": 409,
}  # fmt: skip
_BODIES: tuple[type[BaseModel], ...] = (
    corrections.Correction, linking.Mention, linking.Notes, linking.Texts, mappings.Chosen,
    mappings.Table, mappings.TermBody, mappings.TermsBody,
)  # fmt: skip
_FIELDS = frozenset(("body", "query", "path", "q", "limit", "as", "approved", "id")).union(
    *(body.model_fields for body in _BODIES)
)
_READING = frozenset(("GET", "HEAD", "OPTIONS"))
_MOST_HELD = 1 << 28  # bytes of bodies at once, and of one that is dropped
_DROPPING = 30.0  # seconds in which what comes after a refusal is dropped
_MOST_VALUES, _MOST_OF_TABLES = 10_000, 600_000  # values, lists and objects of a body
_LONG = 1 << 16  # bytes of a body that is checked in another thread
# A string, also one that never ends: else each of its quotes would be tried again.
_TOKEN = re.compile(r'"[^"\\]*(?:\\.?[^"\\]*)*(?:"|\Z)|[,\[{]', re.DOTALL)


class _GoneError(Exception):
    """The client has closed the connection."""


class _RefusedError(Exception):
    """The headers of a request are wrong. args: what is wrong, and the status of the answer."""


def answer_of(error: MedlinkError, desks: Desks, status: int = 0) -> JSONResponse:
    """Make the answer of an error, {"error": {"code", "message"}}, without paths."""
    status = status or _STATUS.get(error.code, 400)
    content = {"error": {"code": error.code, "message": desks.without_paths(error)}}
    return JSONResponse(content, status)


def shown(part: object) -> str:
    """Write a part of the place of a value; a key that is none of our fields is not shown."""
    return str(part) if isinstance(part, int) or part in _FIELDS else "?"


class Guard:
    """ASGI middleware around the whole service.

    token (str): the Bearer token that requests must send; "" for none. hosts (Collection[str]):
    host names that requests may use; "*" for any. public (Collection[str]): addresses that need no
    token.
    """

    def __init__(
        self, app: ASGIApp, desks: Desks, token: str, hosts: Collection[str],
        public: Collection[str],
    ) -> None:  # fmt: skip
        self._app, self._desks, self._limits = app, desks, desks.limits
        self._token, self._hosts, self._public = token.encode(), frozenset(hosts), public
        self._most = 4 * self._limits.texts * self._limits.length + 65_536  # bytes
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whatever happens."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        body, headers = bytearray(), Headers(scope=scope)
        is_unread = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
        try:
            self._check(scope["method"], scope["path"], headers)
            await self._read(body, headers, receive)
            content, is_unread = bytes(body), False
            await self._check_body(content, scope["path"])
            await _run(self._app, scope, content, receive, send_with_headers)
        except _GoneError:
            pass  # nobody reads the answer
        except (Exception, asyncio.CancelledError) as error:  # the service ends, and waits no more
            answer = self._refusal(error)
            if status:
                pass  # half an answer is closed: the text stays unsaid
            elif is_unread:
                await self._answer_unread(answer, scope, receive, send_with_headers)
            else:
                await answer(scope, receive, send_with_headers)
        finally:
            self._held -= len(body)

    async def _answer_unread(
        self, answer: JSONResponse, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer a client that still sends: what comes is dropped, else no answer would reach it.

        Many clients read only when they have sent all; closing before that takes the answer along.
        """
        answer.headers["Connection"], left = "close", _MOST_HELD

        async def send_open(message: Message) -> None:
            await send({**message, "more_body": True})

        await answer(scope, receive, send_open)
        with suppress(TimeoutError):
            async with asyncio.timeout(min(self._limits.receiving, _DROPPING)):
                while left > 0 and (message := await receive()).get("more_body", False):
                    left -= len(message["body"])
        await send({"type": "http.response.body", "body": b""})

    def _refusal(self, error: BaseException) -> JSONResponse:
        if isinstance(error, MedlinkError):
            return answer_of(error, self._desks)
        if isinstance(error, _RefusedError):
            problem, status = error.args
            return answer_of(Errors.bad_request(wrong=problem), self._desks, status)
        if isinstance(error, asyncio.CancelledError):
            return answer_of(Errors.process_ended(problem="ends with the service"), self._desks)
        return answer_of(Errors.not_linked(problem=type(error).__name__), self._desks, 500)

    def _check(self, method: str, path: str, headers: Headers) -> None:
        """Check what the headers say.

        RAISES (MedlinkError): E621, E623, E624, E655.
        """
        host = headers.get("host", "")
        if "*" not in self._hosts and _name_of(host) not in self._hosts:
            raise _RefusedError("the header Host names another machine", 400)
        if method not in _READING and _is_foreign(headers, host):
            raise Errors.foreign_page()
        is_public = path in self._public or path.startswith("/page/")
        given = headers.get("authorization", "").removeprefix("Bearer ").encode()
        if self._token and not is_public and not hmac.compare_digest(given, self._token):
            raise Errors.wrong_token()
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers or not re.fullmatch("[0-9]{1,15}", length, re.ASCII):
            raise self._desks.too_much()
        if int(length) > self._most:
            raise self._desks.too_much()
        media = headers.get("content-type", "").partition(";")[0].strip().lower()
        if (method == "POST" or int(length)) and media != "application/json":
            raise _RefusedError("its Content-Type is not application/json", 415)

    async def _read(self, body: bytearray, headers: Headers, receive: Receive) -> None:
        """Read the body. RAISES (MedlinkError): E654 where it takes too long, E622, E624."""
        if headers.get("content-length", "0").strip("0") == "":
            return
        try:
            await asyncio.wait_for(self._receive(body, receive), self._limits.receiving)
        except TimeoutError:
            raise Errors.slow_request(seconds=self._limits.receiving) from None

    async def _receive(self, body: bytearray, receive: Receive) -> None:
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _GoneError
            chunk = message.get("body", b"")
            if self._held + len(chunk) > _MOST_HELD:
                raise Errors.busy(count="Many large")
            self._held += len(chunk)
            body += chunk
            if len(body) > self._most:
                raise self._desks.too_much()
            more = message.get("more_body", False)

    async def _check_body(self, body: bytes, path: str) -> None:
        """Check that a body is JSON of a size and a kind that can be read in no time."""
        most = _MOST_OF_TABLES if path == "/map" else _MOST_VALUES
        if len(body) > _LONG:
            problem = await asyncio.to_thread(problem_of, body, most)
        else:
            problem = problem_of(body, most)
        if problem:
            raise Errors.bad_request(wrong=problem)


def problem_of(body: bytes, most: int) -> str:
    """Say what is wrong with a body that may hold so many values; "" for nothing."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return "it is not UTF-8"
    if "\0" in text or (sum(map(text.count, ",[{")) > most and _has_more(text, most)):
        return f"it holds a NUL, or more than {most:,} values"
    try:
        if has_surrogate(text):
            read_json(text)
    except HalfPairError as error:
        return error.said_at(tuple(map(shown, error.place)))
    except ValueError:
        return "it is not JSON"
    return ""


async def _run(app: ASGIApp, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
    """Answer a request, unless the client goes away: then what is waited for is taken back."""
    gone = asyncio.ensure_future(_disconnected(receive))
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await asyncio.shield(gone)

    work = asyncio.ensure_future(app(scope, replayed, send))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise _GoneError
        await work
    finally:
        work.cancel()
        gone.cancel()
        await asyncio.gather(work, gone, return_exceptions=True)


async def _disconnected(receive: Receive) -> Message:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return message


def _has_more(text: str, most: int) -> bool:
    """Tell whether JSON has more values, lists and objects; strings may hold what marks them."""
    marks = (token for token in _TOKEN.finditer(text) if token.group() in ",[{")
    return next(islice(marks, most, None), None) is not None


def _name_of(host: str) -> str:
    return re.sub(r":[0-9]*$", "", host).lower()


def _is_foreign(headers: Headers, host: str) -> bool:
    """Tell whether a page of another site sends a request: browsers say so, and no page can lie."""
    if "sec-fetch-site" in headers:
        return headers["sec-fetch-site"] not in ("none", "same-origin")
    if "origin" not in headers:
        return False
    try:
        return urlsplit(headers["origin"]).netloc.lower() != host.lower()
    except ValueError:
        return True
