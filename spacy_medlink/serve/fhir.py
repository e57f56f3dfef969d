"""FHIR's terminology operations (R4) over a knowledge base."""

from collections.abc import Callable
from datetime import datetime, timezone
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Query, Response

from ..annotate.formats.fhir import string
from ..annotate.formats.shared import as_json
from ..errors import Errors, MedlinkError
from ..kb import KnowledgeBase
from ..kb.browse import search_concepts
from ..kb.code_systems import Coded, coded, codings, vocabulary_of
from ..kb.resolve import IdResolver
from .desk import Desk

_MEDIA = "application/fhir+json"
_LONGEST = 200  # characters of a code
_CODES = {"E663": ("required", 400), "E664": ("not-found", 404), "E620": ("not-found", 404)}
# Relation of the target to the source, by the relation of a code to its concept; and its inverse.
_TO_CODE = {"exact": "equivalent", "broader": "wider", "narrower": "narrower"}
_TO_CONCEPT = {"exact": "equivalent", "broader": "narrower", "narrower": "wider"}
_Json = dict[str, Any]


def fhir_router(desk_of: Callable[[str], Desk]) -> APIRouter:
    """Make the operations, each of the terminology that `terminology` names."""
    router, resolvers = APIRouter(prefix="/fhir"), dict[str, IdResolver]()

    def answer(work: Callable[[KnowledgeBase], _Json], terminology: str) -> Response:
        status = 200
        try:
            found = work(desk_of(terminology).kb)
        except MedlinkError as error:
            code, status = _CODES.get(error.code, ("invalid", 400))
            issue = {"severity": "error", "code": code, "diagnostics": error.message}
            found = {"resourceType": "OperationOutcome", "issue": [issue]}
        return Response(as_json(found), status, media_type=_MEDIA)

    @router.get("/CodeSystem/$lookup")
    def lookup(code: str = "", system: str = "", terminology: str = "") -> Response:
        """Read the names, definition and parents of a code."""
        return answer(lambda kb: _lookup(kb, _asked(system, code)), terminology)

    @router.get("/CodeSystem/$validate-code")
    def validate_code(
        code: str = "", url: str = "", display: str = "", terminology: str = ""
    ) -> Response:
        """Say whether there is a code, and whether it has this name."""
        return answer(lambda kb: _validated(kb, _asked(url, code), display), terminology)

    @router.get("/ConceptMap/$translate")
    def translate(
        code: str = "", system: str = "", targetsystem: str = "", terminology: str = ""
    ) -> Response:
        """List the codes of other code systems for a concept, or the concepts of such a code."""

        def work(kb: KnowledgeBase) -> _Json:
            resolver = resolvers.setdefault(desk_of(terminology).name, IdResolver(kb))
            return _translated(resolver, _asked(system, code), targetsystem)

        return answer(work, terminology)

    @router.get("/ValueSet/$expand")
    def expand(
        filter: Annotated[str, Query(max_length=200)] = "",
        count: Annotated[int, Query(ge=0, le=100)] = 20,
        terminology: str = "",
    ) -> Response:
        """Find concepts by name."""
        return answer(lambda kb: _expanded(kb, filter, count), terminology)

    return router


def _asked(system: str, code: str) -> Coded:
    if not system or not code:
        raise Errors.no_coding()
    if len(code) > _LONGEST:
        raise Errors.no_such_code(value=code, system=system[:_LONGEST])
    return Coded(system, code)


def _id_of(kb: KnowledgeBase, asked: Coded) -> str | None:
    """Find the concept whose id, not another of its codes, is a code; None where there is none."""
    ids = (asked.code, f"{vocabulary_of(asked.system)}:{asked.code}")
    return next((id for id in ids if id in kb and codings(id, kb[id].codes)[0] == asked), None)


def _lookup(kb: KnowledgeBase, asked: Coded) -> _Json:
    id = _id_of(kb, asked)
    if id is None:
        raise Errors.no_such_code(value=asked.code, system=asked.system)
    concept = kb[id]
    said: list[_Json] = [
        {"name": "name", "valueString": vocabulary_of(asked.system)},
        {"name": "display", "valueString": string(concept.name)},
    ]
    for name in concept.names[1:]:
        language = [{"name": "language", "valueCode": name.lang}] if name.lang else []
        value = {"name": "value", "valueString": string(name.text)}
        said.append({"name": "designation", "part": [*language, value]})
    if concept.definition:
        said.append(_property("definition", {"valueString": string(concept.definition)}))
    parents = [codings(one, kb[one].codes)[0] for one in concept.parents if one in kb]
    return _parameters(said + [_property("parent", {"valueCode": one.code}) for one in parents])


def _property(code: str, value: _Json) -> _Json:
    own = [{"name": "code", "valueCode": code}, {"name": "value", **value}]
    return {"name": "property", "part": own}


def _validated(kb: KnowledgeBase, asked: Coded, display: str) -> _Json:
    id = _id_of(kb, asked)
    names = [name.text for name in kb[id].names] if id is not None else []
    problem = "" if id is not None else "There is no such code."
    if names and display and display.casefold() not in map(str.casefold, names):
        problem = "The code has no such name."
    said: list[_Json] = [{"name": "result", "valueBoolean": not problem}]
    said += [{"name": "message", "valueString": problem}] if problem else []
    return _parameters(
        said + [{"name": "display", "valueString": string(one)} for one in names[:1]]
    )


def _translated(resolver: IdResolver, asked: Coded, target: str) -> _Json:
    kb, found = resolver.kb, dict[Coded, tuple[str, str]]()
    own = _id_of(kb, asked)
    if own is not None:
        for one in kb.maps(own):
            code = coded(one.vocabulary, one.code)
            if code != asked:
                found.setdefault(code, (_TO_CODE.get(one.relation, "relatedto"), ""))
    else:
        for row in sorted(resolver.rows(f"{vocabulary_of(asked.system)}:{asked.code}")):
            concept = kb.concept_at(row, names=False)
            for one in kb.maps(concept.id):
                if coded(one.vocabulary, one.code) == asked:
                    relation = _TO_CONCEPT.get(one.relation, "relatedto")
                    code = codings(concept.id, concept.codes)[0]
                    found.setdefault(code, (relation, concept.name))
    matches = [
        {"name": "match", "part": [
            {"name": "equivalence", "valueCode": relation},
            {"name": "concept", "valueCoding": _coding(code, name)},
        ]}
        for code, (relation, name) in found.items()
        if target in ("", code.system)
    ]  # fmt: skip
    return _parameters([{"name": "result", "valueBoolean": bool(matches)}, *matches])


def _expanded(kb: KnowledgeBase, filter: str, count: int) -> _Json:
    found = search_concepts(kb, filter, count) if filter.strip() and count else []
    contains = [_coding(codings(one.id, kb[one.id].codes)[0], one.name) for one in found]
    expansion = {
        "identifier": uuid4().urn,
        "timestamp": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "parameter": [{"name": "count", "valueInteger": count}],
        **({"contains": contains} if contains else {}),
    }
    return {"resourceType": "ValueSet", "status": "active", "expansion": expansion}


def _coding(code: Coded, name: str) -> _Json:
    return {**code._asdict(), **({"display": string(name)} if name else {})}


def _parameters(said: list[_Json]) -> _Json:
    return {"resourceType": "Parameters", "parameter": said}
