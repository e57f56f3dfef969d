"""Corrections made in the page: kept as gold in a file, which is the overlay of the linker."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import Any

from fastapi import APIRouter
from pydantic import Field

from ...errors import Errors, MedlinkError
from ...types import Data, Facts
from .correction_file import MARK, CorrectionFile, excerpt
from .desk import AllDesks, AskedDesk, Desk, Desks
from .linking import Body, Limit

router = APIRouter()


class Correction(Body):
    """A mention of a text and what it means; of the text only the sentence is kept."""

    text: str = Field(description="the document")
    start: int = Field(ge=0, description="first character of the mention")
    end: int = Field(ge=1, description="character behind it")
    ids: list[str] = Field(description="its concept; none: it is no concept (NIL)", max_length=20)
    by: str = Field("", max_length=100, description="who says so")
    instead: list[int] = Field(
        [], max_length=2, description="start and end of the mention that it takes the place of"
    )
    id: str = Field("", pattern="^([A-Za-z0-9_-]{8,64})?$", description="of yours, to repeat it")


@router.post("/corrections")
async def correct(body: Correction, desks: AllDesks) -> Data:
    """Keep what a mention means. What is answered with 200 is kept, what is refused is not.

    `in_force` says whether it is linked so from now on; it is null where there is no answer in
    time. A correction that is sent again with the same `id` is kept once. Where the file has a line
    that cannot be read, nothing is kept, and the answer is 409.
    """
    desk, size = desks.named(body.terminology), len(body.text)
    file = _file_of(desk)
    desks.check(body.text)
    await _work(desks, desk, lambda _: file.make())
    span, instead = (body.start, body.end), tuple(body.instead)
    located = await desks.ask(desk, "locate", body.text, span, instead, body.ids, size=size)
    line = await _work(desks, desk, partial(file.add, _line(body, desk.name, **located)))
    answer, in_force = _shown(line), None
    with suppress(MedlinkError):
        span = located["start"], located["end"]
        in_force = await desks.ask(desk, "is_linked", body.text, *span, body.ids, size=size)
        await _add_names(desks, desk, [answer])
    return {**answer, "in_force": in_force}


@router.get("/corrections")
async def corrections(desks: AllDesks, desk: AskedDesk, limit: Limit = 200) -> list[Data]:
    """List what was corrected, the last one first."""
    file = _file_of(desk)
    lines = await _work(desks, desk, lambda _: file.corrections())
    answer = list(map(_shown, lines[:limit]))
    await _add_names(desks, desk, answer)
    return answer


@router.delete("/corrections/{id}")
@router.delete("/corrections")
async def undo(id: str, desks: AllDesks, desk: AskedDesk) -> dict[str, str]:
    """Take a correction back; its line is gone from the file.

    The id may stand in the query: no address can end with the ids "." and "..".
    """
    file = _file_of(desk)
    await desks.ask(desk, "read_corrections")
    await _work(desks, desk, partial(file.remove, id))
    return {"undone": id}


async def _work(desks: Desks, desk: Desk, work: Callable[["Future[Any]"], Any]) -> Any:
    """Work with the file of a desk. RAISES (MedlinkError): E109 also where the disk hangs."""
    asked = desk.file_thread.ask(work)
    try:
        return (await desks.wait(asked))[0]
    except MedlinkError:
        if not asked.cancelled():  # it failed, or was done at the last moment
            return asked.result(1)
        path = _file_of(desk).path
        raise Errors.write_failed(path=path, reason="the disk does not answer") from None


def _file_of(desk: Desk) -> CorrectionFile:
    if desk.corrections is None:
        raise Errors.not_corrected(name=desk.name)
    return desk.corrections


def _line(
    body: Correction, name: str, start: int, end: int, ids: list[str], type: str, lang: str,
    long_form: str, before: Data,
) -> Data:  # fmt: skip
    text, begin = excerpt(body.text, start, end, long_form)
    mention = {
        "start": start - begin, "end": end - begin, "mention": body.text[start:end], "ids": ids,
        "type": type,
    }  # fmt: skip
    at = datetime.now(UTC).isoformat(timespec="seconds")
    mark = {"by": body.by.strip(), "at": at, "terminology": name, "from": before}
    id = body.id or uuid.uuid4().hex
    return {"doc_id": id, "lang": lang, "text": text, "mentions": [mention], MARK: mark}


def _shown(line: Facts) -> Data:
    """Make the answer for a line of the file; its names are the ids at first."""
    shown: Data = {"id": line["doc_id"], "text": line["text"], **line["mentions"][0], **line[MARK]}
    for link in _links(shown):
        link["names"] = [*map(str, link["ids"])]
    return shown


async def _add_names(desks: Desks, desk: Desk, answer: Sequence[Data]) -> None:
    """Write the names of the concepts beside their ids."""
    links = list(chain.from_iterable(map(_links, answer)))
    ids = dict.fromkeys(chain.from_iterable(link["names"] for link in links))
    names = await desks.ask(desk, "names_of", list(ids))
    for link in links:
        link["names"] = [names.get(id, id) for id in link["names"]]


def _links(line: Data) -> Iterator[Data]:
    """List the link of a line, and the one before; others may have edited the file."""
    for link in (line, line.get("from")):
        if isinstance(link, dict) and isinstance(link.get("ids"), list):
            yield link
