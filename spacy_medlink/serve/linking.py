"""Texts over HTTP: linked, explained, and in the order of what a correction would teach."""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from ..annotate.formats import format_named
from ..errors import Errors
from ..fitting.review import review_order

if TYPE_CHECKING:
    from collections.abc import Callable

    from .desk import Desk, Desks

_JSON = "application/json"
_MOST_ANSWER = 1 << 26  # bytes


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


class Notes(_Body):
    """Texts whose mentions are to be looked through."""

    texts: list[str] = Field(min_length=1, description="documents")
    limit: int = Field(200, ge=1, le=10_000, description="mentions wanted")


def linking_router(desks: "Desks", count_mentions: "Callable[[int], None]") -> APIRouter:
    """Make the HTTP routes of texts and concepts. count_mentions (Callable): for the metrics."""
    router = APIRouter()

    @router.post("/link")
    async def link(body: Texts, as_format: Annotated[str, Query(alias="as")] = "") -> Response:
        """Find and link the mentions of texts: for each one, what `medlink annotate` writes.

        `as` names a format of other tools, as `medlink annotate --as` does.
        """
        format = format_named(as_format) if as_format else None
        if format is not None and format.write_folder is not None and len(body.texts) > 1:
            raise Errors.one_document_a_file(format=as_format)
        desks.check(*body.texts)
        desk = desks.named(body.terminology)
        given = body.model_dump(include={"types", "sources", "languages", "within"})
        filters = {name: value for name, value in given.items() if value}
        asked = desk.ask_of_texts("link", body.texts, filters, body.candidates)
        found = list(chain.from_iterable(await desks.wait(*asked)))
        documents = [own for own, _ in found]
        if sum(map(len, documents)) > _MOST_ANSWER:
            raise Errors.too_much_text(texts=desks.limits.texts, length=desks.limits.length)
        count_mentions(sum(count for _, count in found))
        if format is not None:
            (file,) = await desks.wait(desk.ask("write", as_format, body.texts, documents))
            return Response(file, media_type=format.media)
        return Response(_answer(desk, documents), media_type=_JSON)

    @router.post("/explain")
    async def explain(body: Mention) -> Response:
        """Say why a mention is linked as it is."""
        desks.check(body.text)
        desk, size = desks.named(body.terminology), len(body.text)
        asked = desk.ask("explain", body.text, body.start, body.end, size=size)
        return Response((await desks.wait(asked))[0], media_type=_JSON)

    @router.post("/queue")
    async def queue(body: Notes) -> list[dict[str, Any]]:
        """Order the mentions of texts by what their correction would teach, one for each name."""
        desks.check(*body.texts)
        return await ordered(desks.named(body.terminology), body.texts, body.limit)

    @router.get("/queue")
    async def own_queue(
        terminology: str = "", limit: int = Query(200, ge=1, le=10_000)
    ) -> dict[str, Any]:
        """Order the mentions of the texts that `medlink serve --review` was given."""
        desk = desks.named(terminology)
        return {"texts": desk.notes, "mentions": await ordered(desk, desk.notes, limit)}

    async def ordered(desk: "Desk", texts: Sequence[str], limit: int) -> list[dict[str, Any]]:
        documents: list[Any] = []
        for start in range(0, len(texts), desks.limits.texts):
            part = texts[start : start + desks.limits.texts]
            documents += chain(*await desks.wait(*desk.ask_of_texts("doubtful", part)))
        mentions = [(number, *one) for number, own in enumerate(documents) for one in own]
        order = review_order([doubt for _, doubt, _ in mentions])[:limit]
        return [
            {"text": mentions[place][0], "count": count} | mentions[place][2]
            for place, count in order
        ]

    @router.get("/search")
    async def search(
        q: Annotated[str, Query(min_length=1, max_length=200)],
        terminology: str = "",
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
    ) -> list[dict[str, str]]:
        """Find concepts by name: exact, parts of names, or near to it."""
        (found,) = await desks.wait(desks.named(terminology).ask("search", q, limit))
        return list(found)

    @router.get("/concepts/{id:path}")
    @router.get("/concepts")
    async def concept(id: str, terminology: str = "") -> Response:
        """Read all that is known of a concept; of long lists the first 200.

        The id may stand in the query: no address can end with the ids "." and "..".
        """
        (described,) = await desks.wait(desks.named(terminology).ask("describe", id))
        return Response(described, media_type=_JSON)

    @router.get("/terminologies")
    async def terminologies() -> list[dict[str, Any]]:
        """List the terminologies, the first one by default."""
        return [desk.facts for desk in desks.every]

    return router


def _answer(desk: "Desk", documents: Sequence[bytes]) -> bytes:
    """Put the mentions of documents, which are JSON already, into one answer."""
    from ..util.json_text import write_json

    inner = b", ".join(b'{"mentions": %s}' % own for own in documents)
    return b'{"terminology": %s, "documents": [%s]}' % (write_json(desk.name).encode(), inner)
