"""The HTTP service, made with FastAPI. No text of a request is logged or kept."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from .. import __version__
from ..errors import Errors, MedlinkError
from . import corrections, linking, mappings
from .desk import LIMITS, Desk, Desks, Limits
from .guard import Guard, Refusals

_PAGE = Path(__file__).parent / "page"
_FILES = {
    "page.css": "text/css",
    "page.js": "text/javascript",
    "corrections.js": "text/javascript",
    "terms.js": "text/javascript",
}
_PUBLIC = frozenset(("/", "/health", "/openapi.json"))
_BODIES: tuple[type[BaseModel], ...] = (
    corrections.Correction, linking.Mention, linking.Notes, linking.Texts, mappings.Chosen,
    mappings.Table, mappings.TermBody, mappings.TermsBody,
)  # fmt: skip
_PLACES = frozenset(("body", "query", "path", "q", "limit", "as", "approved", "id"))

router = APIRouter()


@router.get("/health")
async def health() -> dict[str, str]:
    """Say that the service answers."""
    return {"status": "ok", "version": __version__}


@router.get("/", include_in_schema=False)
async def page() -> FileResponse:
    """Show the page."""
    return FileResponse(_PAGE / "index.html", media_type="text/html")


@router.get("/page/{name}", include_in_schema=False)
async def file(name: str) -> FileResponse:
    """Send a file of the page."""
    if name not in _FILES:
        raise HTTPException(404)
    return FileResponse(_PAGE / name, media_type=_FILES[name])


def make_app(
    desks: Sequence[Desk],
    limits: Limits = LIMITS,
    token: str = "",
    hosts: Sequence[str] = ("localhost", "127.0.0.1", "[::1]"),
) -> FastAPI:
    """Make the service. What its routes need stands in `app.state`.

    desks (Sequence[Desk]): the terminologies; the first is the default.
    token (str): the Bearer token that requests must send in Authorization; "" for none.
    hosts (Sequence[str]): host names that requests may use; "*" for any.
    """
    app = FastAPI(
        title="spacy-medlink", version=__version__, docs_url=None, redoc_url=None,
        lifespan=_closing, redirect_slashes=False,
        exception_handlers={
            MedlinkError: _refused, RequestValidationError: _invalid, HTTPException: _missing
        },
    )  # fmt: skip
    app.state.desks = Desks(desks, limits)
    places = _PLACES.union(*(body.model_fields for body in _BODIES))
    app.state.refusals = Refusals(app.state.desks, places)
    for routes in (linking.router, corrections.router, mappings.router, router):
        app.include_router(routes)
    app.add_middleware(
        Guard, desks=app.state.desks, refusals=app.state.refusals, token=token, hosts=hosts,
        public=_PUBLIC,
    )  # fmt: skip
    return app


@asynccontextmanager
async def _closing(app: FastAPI) -> AsyncIterator[None]:
    yield
    for desk in app.state.desks.every:
        await asyncio.to_thread(desk.close)


# All errors have the form {"error": {"code", "message"}}, those of the framework too.


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, MedlinkError)
    return _answer(request, error)


async def _invalid(request: Request, error: Exception) -> Response:
    """Name the invalid parts of a request, without their values."""
    assert isinstance(error, RequestValidationError)
    shown = request.app.state.refusals.shown
    wrong = (
        f"{'.'.join(map(shown, fault['loc']))}: {fault['msg']}" for fault in error.errors()[:5]
    )
    return _answer(request, Errors.bad_request(wrong="; ".join(wrong)))


async def _missing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _answer(request, Errors.bad_request(wrong=error.detail), error.status_code)


def _answer(request: Request, error: MedlinkError, status: int = 0) -> Response:
    answer: Response = request.app.state.refusals.answer(error, status)
    return answer
