"""Corrections made in the page: kept as gold in a file, which is the overlay of the linker."""

import asyncio
import os
import uuid
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from ..errors import Errors, MedlinkError
from ..fitting.corrections import is_gold
from ..kb.gold import read_gold
from ..text.context.scopes import sentence_starts
from ..util.beside import only_one
from ..util.files import replacing_file
from ..util.json_text import read_json, write_json
from ..util.outputs import PRIVATE

if TYPE_CHECKING:
    from .desk import Desks

_AROUND = 300  # characters of a sentence that are kept before and behind a mention
_MARK = "correction"  # key of the fields beyond gold: author, time, link before


class CorrectionFile:
    """A gold file that several people, and several services, write into at the same time.

    path (Path): made if it does not exist.
    RAISES (MedlinkError): E109 where it cannot be written, E653 where it is another kind of file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.make()

    def make(self) -> None:
        """Make the file if it is not there, or no longer. RAISES (MedlinkError): E109, E653."""
        with self._alone():
            with self.path.open("a"):
                pass
            if self.path.stat().st_size and not is_gold(self.path):
                raise Errors.no_corrections(path=self.path)

    def add(self, line: Mapping[str, Any]) -> None:
        """Append a line to the file on disk, whole or not at all.

        RAISES (MedlinkError): E109 when the disk is full.
        """
        with self._alone(), self.path.open("r+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            content = write_json(line).encode() + b"\n"
            if size and _last_byte(file, size) != b"\n":
                content = b"\n" + content
            try:
                file.seek(size)
                if file.write(content) != len(content):
                    raise OSError("the disk is full")
                os.fsync(file.fileno())
            except OSError:
                file.truncate(size)
                raise

    def remove(self, id: str) -> None:
        """Remove a correction from the file; the other lines do not change.

        RAISES (MedlinkError): E651 for an unknown id, E109 when the disk is full.
        """
        with self._alone():
            lines = self.path.read_bytes().splitlines(keepends=True)
            kept = [line for line in lines if _mark_of(line, id) is None]
            if len(kept) == len(lines):
                raise Errors.no_such_correction(id=id)
            state = self.path.stat()
            with replacing_file(self.path, PRIVATE, improves=self.path) as new:
                new.touch()
                new.chmod(state.st_mode & 0o7777)  # while it is still empty
                new.write_bytes(b"".join(kept))

    def corrections(self) -> list[dict[str, Any]]:
        """List the corrections, the last first; other gold lines are left out."""
        with self._alone():
            lines = self.path.read_bytes().splitlines()
        return [own for line in reversed(lines) if (own := _mark_of(line)) is not None]

    def notes(self) -> list[str]:
        """List the texts of the file; sentences of corrections only where there are no others.

        RAISES (MedlinkError): E401, E402 as `read_gold`.
        """
        done = {one["doc_id"] for one in self.corrections()}
        texts: dict[str, bool] = {}
        try:
            for one in read_gold(self.path):
                texts[one.text or ""] = texts.get(one.text or "", True) and one.doc_id in done
        except MedlinkError as error:
            if error.code != Errors.no_gold(path=self.path).code:  # there are texts, at least
                raise
        return [one for one in texts if one and not texts[one]] or list(filter(None, texts))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with only_one(self.path.parent):
                yield
        except OSError as error:
            raise Errors.write_failed(path=self.path, reason=error.strerror or error) from error


class Correction(BaseModel):
    """A mention of a text and what it means; of the text only the sentence is kept."""

    model_config = ConfigDict(extra="forbid")
    terminology: str = Field("", description="its name; the first one by default")
    text: str = Field(description="the document")
    start: int = Field(ge=0, description="first character of the mention")
    end: int = Field(ge=1, description="character behind it")
    ids: list[str] = Field(description="its concept; none: it is no concept (NIL)", max_length=20)
    by: str = Field("", max_length=100, description="who says so")
    instead: list[int] = Field(
        [], max_length=2, description="start and end of the mention that it takes the place of"
    )


def corrections_router(desks: "Desks") -> APIRouter:
    """Make the HTTP routes of corrections."""
    router = APIRouter()

    def file_of(terminology: str) -> CorrectionFile:
        desk = desks.named(terminology)
        if desk.corrections is None:
            raise Errors.not_corrected(name=desk.name)
        return desk.corrections

    @router.post("/corrections")
    async def correct(body: Correction) -> dict[str, Any]:
        """Keep what a mention means; `in_force` says whether it is linked so from now on.

        Where the file has a line that cannot be read, nothing is kept, and the answer is 409.
        """
        file, desk = file_of(body.terminology), desks.named(body.terminology)
        desks.check(body.text)
        await asyncio.to_thread(file.make)
        place, instead, size = (body.start, body.end), tuple(body.instead), len(body.text)
        asked = desk.ask("locate", body.text, place, instead, body.ids, size=size)
        (found,) = await desks.wait(asked)
        line = _line(body, desk.name, **found)
        await asyncio.to_thread(file.add, line)
        place = found["start"], found["end"]
        asked = desk.ask("is_linked", body.text, *place, body.ids, size=size)
        (in_force,) = await desks.wait(asked)
        return {**_shown(line), "in_force": in_force}

    @router.get("/corrections")
    def corrections(
        terminology: str = "", limit: int = Query(200, ge=1, le=10_000)
    ) -> list[dict[str, Any]]:
        """List what was corrected, the last one first."""
        return [_shown(one) for one in file_of(terminology).corrections()[:limit]]

    @router.delete("/corrections/{id}")
    @router.delete("/corrections")
    async def undo(id: str, terminology: str = "") -> dict[str, str]:
        """Take a correction back; its line is gone from the file.

        The id may stand in the query: no address can end with the ids "." and "..".
        """
        file = file_of(terminology)
        await desks.wait(desks.named(terminology).ask("read_corrections"))
        await asyncio.to_thread(file.remove, id)
        return {"undone": id}

    return router


def _line(
    body: Correction, name: str, start: int, end: int, ids: list[str], type: str, lang: str,
    long_form: str, before: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    text, begin = _excerpt(body.text, start, end, long_form)
    mention = {
        "start": start - begin, "end": end - begin, "mention": body.text[start:end], "ids": ids,
        "type": type,
    }  # fmt: skip
    at = datetime.now(timezone.utc).isoformat(timespec="seconds")
    mark = {"by": body.by.strip(), "at": at, "terminology": name, "from": before}
    return {
        "doc_id": uuid.uuid4().hex, "lang": lang, "text": text, "mentions": [mention], _MARK: mark
    }  # fmt: skip


def _excerpt(text: str, start: int, end: int, long_form: str) -> tuple[str, int]:
    """Cut the sentence of a mention out of its document, to keep no more text than fitting needs.

    Rerankers read 64 characters around a mention, and an abbreviation needs its definition.
    RETURNS (Tuple[str, int]): the text, and the number to subtract from offsets in the document.
    """
    starts = [0, *sentence_starts(text), len(text)]
    begin = max(starts[bisect_right(starts, start) - 1], start - _AROUND)
    stop = min(starts[min(bisect_left(starts, end), len(starts) - 1)], end + _AROUND)
    sentence = text[begin:stop]
    begin += len(sentence[: start - begin]) - len(sentence[: start - begin].lstrip())
    sentence = text[begin:stop].rstrip() if stop > end else text[begin:end]
    if long_form and long_form not in sentence:
        definition = f"{long_form} ({text[start:end]}).\n"
        return definition + sentence, begin - len(definition)
    return sentence, begin


def _shown(line: Mapping[str, Any]) -> dict[str, Any]:
    mention = line["mentions"][0]
    return {
        "id": line["doc_id"], "text": line["text"], **mention, **line[_MARK],
    }  # fmt: skip


def _mark_of(line: bytes, id: str | None = None) -> dict[str, Any] | None:
    """Read a line that is a correction, with this id if given; None for other lines."""
    try:
        data = read_json(line.decode())
        is_ours = isinstance(data, dict) and isinstance(data[_MARK], dict) and data["mentions"][0]
    except (ValueError, KeyError, IndexError, TypeError):
        return None
    return data if is_ours and id in (None, data.get("doc_id")) else None


def _last_byte(file: Any, size: int) -> bytes:
    file.seek(size - 1)
    last: bytes = file.read(1)
    return last
