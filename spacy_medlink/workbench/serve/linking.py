"""Texts over HTTP: linked, explained, and in the order of what a correction would teach."""

from collections.abc import Sequence
from itertools import chain
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from ...fitting.review import review_order
from ...types import Data
from ...util.json_text import write_json
from .desk import AllDesks, AskedDesk, Desk, Desks

_JSON = "application/json"
_MOST_ANSWER = 1 << 26  # bytes
Limit = Annotated[int, Query(ge=1, le=10_000)]

router = APIRouter()


class Body(BaseModel):
    """What all requests with a body may say."""

    model_config = ConfigDict(extra="forbid")
    terminology: str = Field("", description="its name; the first one by default")


class Texts(Body):
    """What is to be linked, and within what."""

    texts: list[str] = Field(description="documents", min_length=1)
    candidates: int = Field(5, ge=0, le=100, description="candidates of each mention")
    types: list[str] = Field([], description="types or semantic groups of answers")
    sources: list[str] = Field([], description="sources of names")
    languages: list[str] = Field([], description="languages of names")
    within: str = Field("", description="part of the hierarchy, an expression as in ECL")


class Mention(Body):
    """A mention in its text: first character, and the one behind."""

    text: str
    start: int = Field(ge=0)
    end: int = Field(ge=1)


class Notes(Body):
    """Texts whose mentions are to be looked through."""

    texts: list[str] = Field(min_length=1, description="documents")
    limit: int = Field(200, ge=1, le=10_000, description="mentions wanted")


@router.post("/link")
async def link(body: Texts, desks: AllDesks) -> Response:
    """Find and link the mentions of texts: for each one, what `medlink annotate` writes."""
    desks.check(*body.texts)
    desk = desks.named(body.terminology)
    given = body.model_dump(include={"types", "sources", "languages", "within"})
    filters = {name: value for name, value in given.items() if value}
    asked = desk.ask_of_texts("link", body.texts, filters, body.candidates)
    documents = list(chain.from_iterable(await desks.wait(*asked)))
    if sum(map(len, documents)) > _MOST_ANSWER:
        raise desks.too_much()
    inner = b", ".join(b'{"mentions": %s}' % mentions for mentions in documents)
    head = b'{"terminology": %s, "documents": [' % write_json(desk.name).encode()
    return Response(head + inner + b"]}", media_type=_JSON)


@router.post("/explain")
async def explain(body: Mention, desks: AllDesks) -> Response:
    """Say why a mention is linked as it is."""
    desks.check(body.text)
    desk, size = desks.named(body.terminology), len(body.text)
    why = await desks.ask(desk, "explain", body.text, body.start, body.end, size=size)
    return Response(why, media_type=_JSON)


@router.post("/queue")
async def queue(body: Notes, desks: AllDesks) -> list[Data]:
    """Order the mentions of texts by what their correction would teach, one for each name."""
    desks.check(*body.texts)
    return await _ordered(desks, desks.named(body.terminology), body.texts, body.limit)


@router.get("/queue")
async def own_queue(desks: AllDesks, desk: AskedDesk, limit: Limit = 200) -> Data:
    """Order the mentions of the texts that `medlink serve --review` was given."""
    return {"texts": desk.notes, "mentions": await _ordered(desks, desk, desk.notes, limit)}


@router.get("/search")
async def search(
    q: Annotated[str, Query(min_length=1, max_length=200)], desks: AllDesks, desk: AskedDesk,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> list[Data]:  # fmt: skip
    """Find concepts by name: exact, parts of names, or near to it; with their codes."""
    return list(await desks.ask(desk, "search", q, limit))


@router.get("/concepts/{id:path}")
@router.get("/concepts")
async def concept(id: str, desks: AllDesks, desk: AskedDesk) -> Response:
    """Read all that is known of a concept; of long lists the first 200.

    The id may stand in the query: no address can end with the ids "." and "..".
    """
    return Response(await desks.ask(desk, "describe", id), media_type=_JSON)


@router.get("/terminologies")
async def terminologies(desks: AllDesks) -> list[Data]:
    """List the terminologies, the first one by default."""
    return [desk.facts for desk in desks.every]


async def _ordered(desks: Desks, desk: Desk, texts: Sequence[str], limit: int) -> list[Data]:
    documents: list[Any] = []
    for start in range(0, len(texts), desks.limits.texts):
        part = texts[start : start + desks.limits.texts]
        desks.begin()
        documents += chain(*await desks.wait(*desk.ask_of_texts("doubtful", part)))
    mentions = [(nth, *mention) for nth, of_text in enumerate(documents) for mention in of_text]
    order = review_order([doubt for _, doubt, _ in mentions])[:limit]
    return [{"text": mentions[at][0], "count": count} | mentions[at][2] for at, count in order]
