"""The HTTP service, made with FastAPI. No text of a request is logged or kept."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.types import Scope

from .. import __version__
from ..errors import Errors, MedlinkError
from .corrections import Correction, corrections_router
from .desk import LIMITS, Desk, Desks, Limits
from .guard import Guard, Refusals
from .linking import Mention, Notes, Texts, linking_router
from .mappings import Chosen, Table, TermBody, TermsBody, mappings_router

_PAGE = Path(__file__).parent / "page"
_FILES = {
    "page.css": "text/css",
    "page.js": "text/javascript",
    "corrections.js": "text/javascript",
    "terms.js": "text/javascript",
}
_PUBLIC = frozenset(("/", "/health", "/openapi.json"))
_BODIES: tuple[type[BaseModel], ...] = (
    Chosen, Correction, Mention, Notes, Table, TermBody, TermsBody, Texts
)  # fmt: skip
_PLACES = frozenset(("body", "query", "path", "q", "limit", "as", "approved", "id"))


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
    every, meters = Desks(desks, limits), _Meters(desks)
    app = FastAPI(
        title="spacy-medlink", version=__version__, docs_url=None, redoc_url=None,
        lifespan=_closing(desks), redirect_slashes=False,
    )  # fmt: skip
    app.include_router(linking_router(every, meters.mentions.inc))
    app.include_router(corrections_router(every))
    app.include_router(mappings_router(every))
    _add_pages(app, meters)
    refusals = Refusals(every, _PLACES.union(*(body.model_fields for body in _BODIES)))
    app.add_middleware(
        Guard, desks=every, refusals=refusals, token=token, hosts=hosts, public=_PUBLIC,
        observe=meters.observe,
    )  # fmt: skip
    _add_refusals(app, refusals)
    return app


def _add_pages(app: FastAPI, meters: "_Meters") -> None:
    @app.get("/health")
    async def health() -> dict[str, str]:
        """Say that the service answers."""
        return {"status": "ok", "version": __version__}

    @app.get("/metrics", response_class=Response)
    async def metrics() -> Response:
        """Count requests, mentions and seconds, as Prometheus reads it."""
        return Response(generate_latest(meters.registry), media_type="text/plain; version=0.0.4")

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(_PAGE / "index.html", media_type="text/html")

    @app.get("/page/{name}", include_in_schema=False)
    async def file(name: str) -> FileResponse:
        if name not in _FILES:
            raise HTTPException(404)
        return FileResponse(_PAGE / name, media_type=_FILES[name])


def _add_refusals(app: FastAPI, refusals: Refusals) -> None:
    """Give all errors the form {"error": {"code", "message"}}, those of the framework too."""

    @app.exception_handler(MedlinkError)
    async def refused(_: Request, error: Exception) -> Response:
        assert isinstance(error, MedlinkError)
        return refusals.answer(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: Exception) -> Response:
        """Name the invalid parts of a request, without their values."""
        assert isinstance(error, RequestValidationError)
        wrong = (
            f"{'.'.join(map(refusals.shown, one['loc']))}: {one['msg']}"
            for one in error.errors()[:5]
        )
        return refusals.answer(Errors.bad_request(wrong="; ".join(wrong)))

    @app.exception_handler(HTTPException)
    async def missing(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return refusals.answer(Errors.bad_request(wrong=error.detail), error.status_code)


def _closing(desks: Sequence[Desk]) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        for desk in desks:
            await asyncio.to_thread(desk.close)

    return lifespan


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

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request."""
        path = getattr(scope.get("route"), "path", "other")
        self.requests.labels(path, status).inc()
        self.seconds.labels(path).observe(seconds)


def _waiting(desk: Desk) -> float:
    return desk.n_waiting
