"""What annotation tools ask of the service: Label Studio's ML backend, INCEpTION's recommender."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from xml.etree import ElementTree

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from ..annotate.formats.label_studio import NAMES, Names, prediction_of
from ..annotate.formats.shared import SYSTEM, Record, links_of
from ..errors import Errors
from .desk import Desk

_LONGEST = 100_000  # characters of a labeling configuration
_DOCTYPE = "<!DOCTYPE"  # may hold entities that grow without end

_Waited = Callable[[Sequence[Any]], Awaitable[list[Any]]]


class Task(BaseModel):
    """A task of Label Studio."""

    data: dict[str, Any]


class Tasks(BaseModel):
    """Tasks of Label Studio, and its labeling configuration."""

    tasks: list[Task]
    label_config: str | None = Field(None, max_length=_LONGEST)


class Layer(BaseModel):
    """The layer that INCEpTION wants annotations of, and the feature that holds the concept."""

    layer: str
    feature: str


class Xmi(BaseModel):
    """A document of INCEpTION."""

    xmi: str


class Recommendation(BaseModel):
    """What INCEpTION asks."""

    metadata: Layer
    document: Xmi
    types: str = Field(alias="typeSystem")


def tools_router(
    desk_of: Callable[[str], Desk], check_texts: Callable[..., None], waited: _Waited
) -> APIRouter:
    """Make what annotation tools ask, each of the terminology that `terminology` names."""
    router = APIRouter()

    async def records_of(texts: Sequence[str], terminology: str) -> list[Record]:
        check_texts(*texts)
        desk = desk_of(terminology)
        found = await waited([desk.link(text, {}, 0) for text in texts])
        return [{"text": text, "mentions": own} for text, own in zip(texts, found, strict=True)]

    @router.get("/label-studio/health")
    def health() -> dict[str, str]:
        """Say that the backend is there."""
        return {"status": "UP"}

    @router.post("/label-studio/setup")
    def setup() -> dict[str, str]:
        """Say which model answers; nothing is prepared."""
        return {"model_version": SYSTEM}

    @router.post("/label-studio/predict")
    async def predict(body: Tasks, terminology: str = "") -> dict[str, Any]:
        """Predict the regions of tasks."""
        names, field = _read_config(body.label_config or "")
        fields = [task.data.get(field) for task in body.tasks]
        texts = [one for one in fields if isinstance(one, str)]
        if len(texts) < len(fields):
            raise Errors.bad_task(field=field)
        records = await records_of(texts, terminology)
        return {"results": [prediction_of(record, names) for record in records]}

    @router.post("/inception/predict")
    async def recommend(body: Recommendation, terminology: str = "") -> dict[str, str]:
        """Add annotations of a layer to a document."""
        cas = await asyncio.to_thread(_read_cas, body)
        (record,) = await records_of([cas.sofa_string or ""], terminology)
        return {"document": await asyncio.to_thread(_recommended, cas, body.metadata, record)}

    @router.post("/inception/train", status_code=204)
    def train() -> Response:
        """Learn nothing: `medlink learn` does."""
        return Response(status_code=204)

    return router


def _read_cas(body: Recommendation) -> Any:
    """Read a document of UIMA: `cassis.Cas`.

    RAISES (MedlinkError): E667 without the library, E668 for what is no document.
    """
    try:
        import cassis
    except ImportError:
        raise Errors.cassis_missing() from None
    if _DOCTYPE in body.document.xmi or _DOCTYPE in body.types:
        raise Errors.bad_cas(problem="it has a document type")
    try:
        cas = cassis.load_cas_from_xmi(
            body.document.xmi, cassis.load_typesystem(body.types), lenient=True
        )
        cas.typesystem.get_type(body.metadata.layer)
    except Exception as error:  # of XML, of UIMA, of missing types: it names many kinds
        raise Errors.bad_cas(problem=error) from None
    return cas


def _recommended(cas: Any, asked: Layer, record: Record) -> str:
    """Add an annotation for each link. RETURNS the document as XMI."""
    kind = cas.typesystem.get_type(asked.layer)
    known = {feature.name for feature in kind.all_features}
    for mention in record["mentions"]:
        for link in links_of(mention)[:1]:
            values = {
                asked.feature: link.id,
                f"{asked.feature}_score": mention["prob"] or mention["score"],
                "inception_internal_predicted": True,
            }
            own = {name: value for name, value in values.items() if name in known}
            cas.add(kind(begin=mention["start"], end=mention["end"], **own))
    return str(cas.to_xmi())


def _read_config(config: str) -> tuple[Names, str]:
    """Read the names of the tags, and the field of the data that holds the text.

    RAISES (MedlinkError): E666 for a configuration that is no XML.
    """
    if not config:
        return NAMES, NAMES.text
    if _DOCTYPE in config:
        raise Errors.bad_label_config(problem="it has a document type")
    try:
        tags = {one.tag: one.attrib for one in ElementTree.fromstring(config).iter()}
    except ElementTree.ParseError as error:
        raise Errors.bad_label_config(problem=error) from None
    text = tags.get("Text") or tags.get("HyperText") or {}
    labels = tags.get("Labels") or tags.get("HyperTextLabels") or {}
    names = Names(
        text.get("name", NAMES.text),
        labels.get("name", NAMES.labels),
        tags.get("TextArea", {}).get("name", NAMES.concept),
    )
    return names, text.get("value", f"${NAMES.text}").removeprefix("$")
