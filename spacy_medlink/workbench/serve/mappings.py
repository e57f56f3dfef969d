"""Local terms over HTTP: read from a table, mapped to concepts, and written as files."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator

from ...errors import Errors
from ...types import CodeMap, Data
from ...util.json_text import write_json
from ..mapping.mapper import UNCHECKED, Mapping
from ..mapping.reviewed import Row
from ..mapping.run import APPROVED
from ..mapping.terms import Columns, Term
from .desk import AllDesks, Desks
from .linking import Body

MOST = 10_000  # terms of a request
_TOGETHER = 256  # terms that are mapped before another request has its turn
_MEDIA = {"fhir": "application/fhir+json", "sssom": "text/tab-separated-values"}


router = APIRouter()


class Table(Body):
    """The text of a table of terms, or lines that are terms; columns are given by their headers."""

    table: str = Field(description="text as in a .csv or .tsv file, or a term a line")
    name: str = Field("", description="column of the names; guessed by default")
    code: str = Field("", description="column of the codes; guessed by default")
    frequency: str = Field("", description="column of how often a term occurs")
    context: list[str] = Field([], description="columns that say more of a term")


class Chosen(BaseModel):
    """A concept that was chosen for a term, as the answer has it."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    id: str
    match: str = ""
    matched: str = ""
    prob: float | None = None
    score: float | None = None


class TermBody(BaseModel):
    """A term; with a status other than UNCHECKED it keeps its targets."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(min_length=1)
    code: str = ""
    frequency: str = ""
    context: list[str] = Field([], description="a cell for each header of the request's context")
    status: str = Field("", description="APPROVED, IGNORED, FLAGGED or a word of your own")
    comment: str = ""
    targets: list[Chosen] = Field([], max_length=100, description="what was decided")
    extra: dict[str, str] = Field({}, description="cells of columns of your own")

    @property
    def rows(self) -> list[Row]:
        """What was decided, as the rows of a table of mappings say it."""
        review = {"status": self.status.upper() or UNCHECKED, "comment": self.comment}
        targets = [target.model_dump(exclude_none=True) for target in self.targets] or [{}]
        rows = ({key: str(value) for key, value in target.items()} for target in targets)
        return [Row(review | cells, tuple(self.extra.items()), {}) for cells in rows]


class TermsBody(Body):
    """Terms to be mapped."""

    terms: list[TermBody] = Field(min_length=1)
    context: list[str] = Field([], description="headers of the terms' context")
    vocabulary: str = Field("", description="what the codes are of, such as ICD10CM")
    candidates: int = Field(5, ge=1, le=50, description="candidates of each term")

    @model_validator(mode="after")
    def _fits(self) -> "TermsBody":
        if any(len(term.context) != len(self.context) for term in self.terms):
            raise ValueError("a term has more or fewer cells of context than there are headers")
        return self

    def read(self) -> list[Term]:
        """Make the terms that a mapper takes."""
        return [
            Term(
                term.name, term.code, term.frequency, tuple(term.context), (),
                (CodeMap(self.vocabulary, term.code, "exact"),)
                if self.vocabulary and term.code else (),
            )
            for term in self.terms
        ]  # fmt: skip


Wanted = Literal["", "csv", "usagi", "omop", "fhir", "sssom"]


@router.post("/terms")
async def terms(body: Table, desks: AllDesks) -> Data:
    """Read a table as `medlink map` does; of a table that it wrote, what was decided, too."""
    columns = Columns(body.name, body.code, body.frequency, tuple(body.context))
    desk, size = desks.named(body.terminology), len(body.table)
    context, read, aside = await desks.ask(desk, "read_terms", body.table, columns, size=size)
    _check(desks, len(read))
    return {"context": context, "terms": list(map(_shown, read)), "aside": aside}


@router.post("/map")
async def map_terms(
    body: TermsBody, desks: AllDesks, as_format: Annotated[Wanted, Query(alias="as")] = "",
    approved: bool = False,
) -> Response:  # fmt: skip
    """Map terms to concepts; `as` names the format of a file, as `medlink map --as` does."""
    given, desk = body.read(), desks.named(body.terminology)
    _check(desks, len(given), max(len("".join((term.name, *term.context))) for term in given))
    rows, mappings = [term.rows for term in body.terms], list[Mapping]()
    for start in range(0, len(given), _TOGETHER):
        part, size = slice(start, start + _TOGETHER), _TOGETHER * 10
        asked = given[part], rows[part], body.candidates
        desks.begin()
        mappings += await desks.ask(desk, "map", *asked, size=size)
    if not as_format:
        shown = {"terminology": desk.name, "mappings": list(map(_shown, mappings))}
        return Response(write_json(shown), media_type="application/json")
    extra = list(dict.fromkeys(column for term in body.terms for column in term.extra))
    kept = [mapping for mapping in mappings if not approved or mapping.status == APPROVED]
    described = body.vocabulary or "terms", body.context, extra, body.candidates
    file = await desks.ask(desk, "write_mappings", as_format, kept, *described)
    return Response(file, media_type=_MEDIA.get(as_format, "text/csv"))


def _check(desks: Desks, terms: int, longest: int = 0) -> None:
    length = desks.limits.length
    if terms > MOST or longest > length:
        raise Errors.too_much_text(texts=MOST, length=length)


def _shown(mapping: Mapping) -> Data:
    term = mapping.term
    return {
        "name": term.name, "code": term.code, "frequency": term.frequency,
        "context": term.context, "status": mapping.status, "comment": mapping.comment,
        "extra": dict(mapping.extra), "targets": [target._asdict() for target in mapping.targets],
        "others": [target._asdict() for target in mapping.others],
    }  # fmt: skip
