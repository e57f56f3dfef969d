"""The HTTP service, made with FastAPI. No text of a request is logged or kept."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse
from starlette.exceptions import HTTPException

from ... import __version__
from ...errors import Errors, MedlinkError
from . import corrections, linking, mappings
from .desk import LIMITS, Desk, Desks, Limits
from .guard import Guard, answer_of, shown

_PAGE = Path(__file__).parent / "page"
_FILES = {
    "page.css": "text/css",
    "page.js": "text/javascript",
    "corrections.js": "text/javascript",
    "terms.js": "text/javascript",
}
_PUBLIC = frozenset(("/", "/health", "/openapi.json"))

router = APIRouter()


@router.head("/health", include_in_schema=False)
@router.get("/health")
async def health() -> dict[str, str]:
    """Say that the service answers."""
    return {"status": "ok", "version": __version__}


@router.head("/", include_in_schema=False)
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
    for routes in (linking.router, corrections.router, mappings.router, router):
        app.include_router(routes)
    app.add_middleware(Guard, desks=app.state.desks, token=token, hosts=hosts, public=_PUBLIC)
    return app


@asynccontextmanager
async def _closing(app: FastAPI) -> AsyncIterator[None]:
    yield
    for desk in app.state.desks.every:
        await asyncio.to_thread(desk.close)


# All errors have the form {"error": {"code", "message"}}, those of the framework too.


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, MedlinkError)
    return answer_of(error, request.app.state.desks)


async def _invalid(request: Request, error: Exception) -> Response:
    """Name the invalid parts of a request, without their values."""
    assert isinstance(error, RequestValidationError)
    wrong = (
        f"{'.'.join(map(shown, fault['loc']))}: {fault['msg']}" for fault in error.errors()[:5]
    )
    return answer_of(Errors.bad_request(wrong="; ".join(wrong)), request.app.state.desks)


async def _missing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    refusal = Errors.bad_request(wrong=error.detail)
    return answer_of(refusal, request.app.state.desks, error.status_code)
