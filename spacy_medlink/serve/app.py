"""The HTTP service, made with FastAPI. No text of a request is logged or kept."""

import asyncio
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, NamedTuple

import srsly
from fastapi import Depends, FastAPI, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.trustedhost import TrustedHostMiddleware
from fastapi.responses import FileResponse, JSONResponse
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from pydantic import BaseModel, ConfigDict, Field

from .. import __version__
from ..annotate.formats import format_named
from ..errors import Errors, MedlinkError
from ..kb.browse import describe_concept, search_concepts
from ..kb.concept_urls import concept_url
from .corrections import corrections_router
from .desk import Desk
from .mappings import mappings_router

_PAGE = Path(__file__).parent / "page"
_FILES = {
    "page.css": "text/css",
    "page.js": "text/javascript",
    "corrections.js": "text/javascript",
    "terms.js": "text/javascript",
}
_SHOWN = 200  # of children, relations and the like
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
    "E106": 404, "E620": 404, "E640": 404, "E621": 401, "E622": 503, "E623": 422, "E624": 413,
    "E626": 504, "E109": 507, "E650": 404, "E651": 404,
}  # fmt: skip


class Limits(NamedTuple):
    """The limits of requests.

    length (int): characters of a text. texts (int): texts of a request. seconds (float): time for
        a request.
    """

    length: int = 100_000
    texts: int = 64
    seconds: float = 60.0


LIMITS = Limits()


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")
    terminology: str = Field("", description="its name; the first one by default")


class Texts(_Body):
    """What is to be linked, and within what."""

    texts: list[str] = Field(description="documents", min_length=1)
    candidates: int = Field(5, ge=0, le=100, description="candidates of each mention")
    types: list[str] = Field([], description="types or semantic groups of answers")
    sources: list[str] = Field([], description="sources of names")
    languages: list[str] = Field([], description="languages of names")
    within: str = Field("", description="part of the hierarchy, an expression as in ECL")


class Mention(_Body):
    """A mention in its text: first character, and the one behind."""

    text: str
    start: int = Field(ge=0)
    end: int = Field(ge=1)


def make_app(
    desks: Sequence[Desk],
    limits: Limits = LIMITS,
    token: str = "",
    hosts: Sequence[str] = ("localhost", "127.0.0.1", "[::1]"),
) -> FastAPI:
    """Make the service.

    desks (Sequence[Desk]): the terminologies; the first is the default.
    token (str): the Bearer token that requests must send in Authorization; "" for none.
    hosts (Sequence[str]): host names that requests may use; "*" for any.
    """
    by_name = {desk.name: desk for desk in desks}
    meters = _Meters(desks)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        for desk in desks:
            await asyncio.to_thread(desk.close)

    def desk_of(name: str) -> Desk:
        if name and name not in by_name:
            raise Errors.unknown_terminology(name=name, names=", ".join(by_name))
        return by_name[name] if name else desks[0]

    def check_token(authorization: Annotated[str, Header()] = "") -> None:
        given = authorization.removeprefix("Bearer ").encode()
        if token and not hmac.compare_digest(given, token.encode()):
            raise Errors.wrong_token()

    def check_texts(*texts: str) -> None:
        if len(texts) > limits.texts or any(len(one) > limits.length for one in texts):
            raise Errors.too_much_text(texts=limits.texts, length=limits.length)

    def refused(_: Request, error: Exception) -> JSONResponse:
        """Answer with the code and the message of an error, without paths of this machine."""
        assert isinstance(error, MedlinkError)
        message = str(error)
        for desk in desks:
            for place in desk.places:
                message = message.replace(place, desk.name)
        return _as_json(error.code, message)

    app = FastAPI(
        title="spacy-medlink", version=__version__, docs_url=None, redoc_url=None,
        lifespan=lifespan,
    )  # fmt: skip
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    app.middleware("http")(_guard(limits, meters))
    app.exception_handler(MedlinkError)(refused)
    app.exception_handler(RequestValidationError)(_invalid)
    api: dict[str, Any] = {"dependencies": [Depends(check_token)]}

    async def waited(futures: Sequence[Any]) -> list[Any]:
        tasks = [asyncio.wrap_future(one) for one in futures]
        try:
            return list(await asyncio.wait_for(asyncio.gather(*tasks), limits.seconds))
        except asyncio.TimeoutError:
            raise Errors.too_slow(seconds=limits.seconds) from None

    @app.post("/link", **api)
    async def link(body: Texts, as_format: Annotated[str, Query(alias="as")] = "") -> Response:
        """Find and link the mentions of texts: for each one, what `medlink annotate` writes.

        `as` names a format of other tools, as `medlink annotate --as` does.
        """
        format = format_named(as_format) if as_format else None
        if format is not None and format.write_folder is not None and len(body.texts) > 1:
            raise Errors.one_document_a_file(format=as_format)
        check_texts(*body.texts)
        desk = desk_of(body.terminology)
        filters = body.model_dump(include={"types", "sources", "languages", "within"})
        futures = [desk.link(text, filters, body.candidates) for text in body.texts]
        documents = await waited(futures)
        meters.mentions.inc(sum(map(len, documents)))
        if format is not None:
            found = zip(body.texts, documents, strict=True)
            records = (
                {"doc_id": str(number), "text": text, "mentions": own}
                for number, (text, own) in enumerate(found, 1)
            )
            return Response("".join(format.write(records)), media_type=format.media)
        answer = {
            "terminology": desk.name,
            "documents": [{"mentions": [_with_url(one) for one in own]} for own in documents],
        }
        # As a Response, since FastAPI would check each of its thousands of values again.
        return Response(srsly.json_dumps(answer), media_type="application/json")

    @app.post("/explain", **api)
    async def explain(body: Mention) -> dict[str, Any]:
        """Say why a mention is linked as it is."""
        check_texts(body.text)
        (found,) = await waited(
            [desk_of(body.terminology).explain(body.text, body.start, body.end)]
        )
        return dict(found)

    @app.get("/search", **api)
    def search(
        q: Annotated[str, Query(min_length=1, max_length=200)],
        terminology: str = "",
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
    ) -> list[dict[str, str]]:
        """Find concepts by name: exact, parts of names, or near to it."""
        return [one._asdict() for one in search_concepts(desk_of(terminology).kb, q, limit)]

    @app.get("/concepts/{id:path}", **api)
    def concept(id: str, terminology: str = "") -> dict[str, Any]:
        """Read all that is known of a concept; of long lists the first 200."""
        described = describe_concept(desk_of(terminology).kb, id)
        short = {
            key: value[:_SHOWN] if isinstance(value, list) else value
            for key, value in described.items()
        }
        return {**short, "url": concept_url(described["id"], described["codes"])}

    app.include_router(corrections_router(desk_of, check_texts, waited), **api)
    app.include_router(mappings_router(desk_of, waited, limits.length), **api)

    @app.get("/terminologies", **api)
    def terminologies() -> list[dict[str, Any]]:
        """List the terminologies, the first one by default."""
        return [desk.facts for desk in desks]

    @app.get("/health")
    def health() -> dict[str, str]:
        """Say that the service answers."""
        return {"status": "ok", "version": __version__}

    @app.get("/metrics", response_class=Response, **api)
    def metrics() -> Response:
        """Count requests, mentions and seconds, as Prometheus reads it."""
        return Response(generate_latest(meters.registry), media_type="text/plain; version=0.0.4")

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(_PAGE / "index.html", media_type="text/html")

    @app.get("/page/{name}", include_in_schema=False)
    def file(name: str) -> Response:
        if name not in _FILES:
            return Response(status_code=404)
        return FileResponse(_PAGE / name, media_type=_FILES[name])

    return app


class _Meters:
    """The counters of /metrics; of requests only path, status and time."""

    def __init__(self, desks: Sequence[Desk]) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "medlink_requests", "Requests", ["path", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "medlink_request_seconds", "Seconds of a request", ["path"], registry=self.registry
        )
        self.mentions = Counter("medlink_mentions", "Mentions found", registry=self.registry)
        waiting = Gauge(
            "medlink_waiting", "Texts that wait", ["terminology"], registry=self.registry
        )
        for desk in desks:
            waiting.labels(desk.name).set_function(partial(_waiting, desk))


def _waiting(desk: Desk) -> float:
    return desk.n_waiting


Next = Callable[[Request], Awaitable[Response]]


def _guard(limits: Limits, meters: _Meters) -> Callable[[Request, Next], Awaitable[Response]]:
    """Make the middleware that checks the size of requests, and adds times and headers."""
    most = 4 * limits.texts * limits.length + 65_536  # bytes; a character has at most four

    async def guard(request: Request, call_next: Next) -> Response:
        start = perf_counter()
        length = request.headers.get("content-length", "0")
        chunked = "transfer-encoding" in request.headers
        if chunked or not length.isdigit() or int(length) > most:
            error = Errors.too_much_text(texts=limits.texts, length=limits.length)
            response: Response = _as_json(error.code, str(error))
        else:
            response = await call_next(request)
        route = request.scope.get("route")
        path = getattr(route, "path", "other")
        meters.requests.labels(path, response.status_code).inc()
        meters.seconds.labels(path).observe(perf_counter() - start)
        response.headers.update(_HEADERS)
        return response

    return guard


def _as_json(code: str, message: str) -> JSONResponse:
    body = {"error": {"code": code, "message": message}}
    return JSONResponse(body, status_code=_STATUS.get(code, 400))


def _invalid(_: Request, error: Exception) -> JSONResponse:
    """Name the invalid part of a request, without its value."""
    assert isinstance(error, RequestValidationError)
    wrong = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:5]]
    error = Errors.bad_request(wrong="; ".join(wrong))
    return _as_json(error.code, str(error))


def _with_url(record: dict[str, Any]) -> dict[str, Any]:
    url = concept_url(record["ids"][0], record["codes"]) if record["ids"] else ""
    return {**record, "url": url}
