"""Local terms over HTTP: read from a table, mapped to concepts, and written as files."""

import asyncio
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Literal

import srsly
from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..errors import Errors, MedlinkError
from ..mapping.mapper import UNCHECKED, Mapping
from ..mapping.outputs import Facts, format_of
from ..mapping.reviewed import Reviewed, Row
from ..mapping.run import APPROVED
from ..mapping.tables import Problems
from ..mapping.terms import Columns, Term, Terms, pasted
from ..types import CodeMap
from .desk import Desk

MOST = 10_000  # terms of a request
_TOGETHER = 256  # terms that are mapped before another request has its turn
_MEDIA = {"fhir": "application/fhir+json", "sssom": "text/tab-separated-values"}


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")
    terminology: str = Field("", description="its name; the first one by default")


class _Table(_Body):
    """The text of a table of terms, or lines that are terms; columns are given by their headers."""

    table: str = Field(description="text as in a .csv or .tsv file, or a term a line")
    name: str = Field("", description="column of the names; guessed by default")
    code: str = Field("", description="column of the codes; guessed by default")
    frequency: str = Field("", description="column of how often a term occurs")
    context: list[str] = Field([], description="columns that say more of a term")


class _Chosen(BaseModel):
    """A concept that was chosen for a term, as the answer has it."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    id: str
    match: str = ""
    matched: str = ""
    prob: float | None = None
    score: float | None = None


class _Term(BaseModel):
    """A term; with a status other than UNCHECKED it keeps its targets."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(min_length=1)
    code: str = ""
    frequency: str = ""
    context: list[str] = Field([], description="a cell for each header of the request's context")
    status: str = Field("", description="APPROVED, IGNORED, FLAGGED or a word of your own")
    comment: str = ""
    targets: list[_Chosen] = Field([], max_length=100, description="what was decided")
    extra: dict[str, str] = Field({}, description="cells of columns of your own")

    @property
    def rows(self) -> list[Row]:
        """What was decided, as the rows of a table of mappings say it."""
        said = {"status": self.status.upper() or UNCHECKED, "comment": self.comment}
        chosen = [one.model_dump(exclude_none=True).items() for one in self.targets] or [{}.items()]
        cells = ({key: str(value) for key, value in one} for one in chosen)
        return [Row(said | one, tuple(self.extra.items()), {}) for one in cells]


class _Terms(_Body):
    """Terms to be mapped."""

    terms: list[_Term] = Field(min_length=1)
    context: list[str] = Field([], description="headers of the terms' context")
    vocabulary: str = Field("", description="what the codes are of, such as ICD10CM")
    candidates: int = Field(5, ge=1, le=50, description="candidates of each term")

    @model_validator(mode="after")
    def _fits(self) -> "_Terms":
        if any(len(one.context) != len(self.context) for one in self.terms):
            raise ValueError("a term has more or fewer cells of context than there are headers")
        return self

    def read(self) -> list[Term]:
        """Make the terms that a mapper takes."""
        return [
            Term(
                one.name, one.code, one.frequency, tuple(one.context), (),
                (CodeMap(self.vocabulary, one.code, "exact"),)
                if self.vocabulary and one.code else (),
            )
            for one in self.terms
        ]  # fmt: skip


Wanted = Literal["", "csv", "usagi", "omop", "fhir", "sssom"]


def mappings_router(
    desk_of: Callable[[str], Desk], waited: Callable[..., Any], length: int
) -> APIRouter:
    """Make the HTTP routes of terms.

    desk_of (Callable): finds the desk of a terminology. waited (Callable): waits for futures.
    length (int): characters of a term, at most.
    """
    router = APIRouter()

    def check(terms: Sequence[Any], longest: int) -> None:
        if len(terms) > MOST or longest > length:
            raise Errors.too_much_text(texts=MOST, length=length)

    @router.post("/terms")
    def terms(body: _Table) -> dict[str, Any]:
        """Read a table as `medlink map` does; of a table that it wrote, what was decided, too."""
        table, found, kb = pasted(body.table, body.name), Problems(), desk_of(body.terminology).kb
        columns = Columns(body.name, body.code, body.frequency, tuple(body.context))
        read = Terms(table, columns, "", found)
        try:
            known = Reviewed(table, kb)
        except MedlinkError:  # E636: another table
            known = Reviewed(None, kb)
        terms = list(dict.fromkeys(read) if known.path else read)
        check(terms, 0)
        shown = [_shown(known.updated(Mapping(term))) for term in terms]
        return {"context": read.context, "terms": shown, "aside": dict(found.aside)}

    @router.post("/map")
    async def map(
        body: _Terms, as_format: Annotated[Wanted, Query(alias="as")] = "", approved: bool = False
    ) -> Response:
        """Map terms to concepts; `as` names the format of a file, as `medlink map --as` does."""
        given, desk = body.read(), desk_of(body.terminology)
        check(given, max(len("".join((one.name, *one.context))) for one in given))
        format = format_of(Path(), desk.kb, as_format) if as_format else None
        new: list[Mapping] = []
        for start in range(0, len(given), _TOGETHER):
            (part,) = await waited([desk.map(given[start : start + _TOGETHER], body.candidates)])
            new += part

        def answer() -> Response:
            known = Reviewed(None, desk.kb)
            found = [known.applied(own, one.rows) for own, one in zip(new, body.terms, strict=True)]
            if format is None:
                said = {"terminology": desk.name, "mappings": [_shown(one) for one in found]}
                return Response(srsly.json_dumps(said), media_type="application/json")
            extra = list(dict.fromkeys(column for one in body.terms for column in one.extra))
            facts = Facts(desk.kb, body.vocabulary or "terms", body.context, extra, body.candidates)
            file = StringIO()
            kept = (one for one in found if not approved or one.status == APPROVED)
            format.write(file, kept, facts)
            return Response(file.getvalue(), media_type=_MEDIA.get(as_format, "text/csv"))

        return await asyncio.to_thread(answer)

    return router


def _shown(mapping: Mapping) -> dict[str, Any]:
    term = mapping.term
    return {
        "name": term.name, "code": term.code, "frequency": term.frequency,
        "context": term.context, "status": mapping.status, "comment": mapping.comment,
        "extra": dict(mapping.extra), "targets": [one._asdict() for one in mapping.targets],
        "others": [one._asdict() for one in mapping.others],
    }  # fmt: skip
