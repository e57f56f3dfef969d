"""JSON of other tools, by what its objects hold; each tool makes records of gold of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from . import fhir, phenopacket
from . import gold_formats as exports
from .bioc import read_bioc_json
from .documents import Strict, gold_record
from .gold_formats import Json, Record
from .ids import is_id
from .uima import read_cas

PATH = Path()  # of documents whose path nobody asks for


class Tool(NamedTuple):
    """A tool.

    is_one (Callable): tells whether an object is of the tool. records (Callable): makes records of
    objects. needs (str): where a concept's id would be.
    """

    name: str
    is_one: Callable[[Json], bool]
    records: Callable[[Iterable[Json]], Iterator[Record]]
    needs: str


def _each(read: Callable[[Json], Record]) -> Callable[[Iterable[Json]], Iterator[Record]]:
    return lambda objects: map(read, objects)


def _has(*keys: str) -> Callable[[Json], bool]:
    return lambda data: {*keys} <= {*data}


def tool_of(data: object) -> Tool | None:
    """Find the tool that an object is of; None where it is gold, or not known."""
    if not isinstance(data, Mapping) or not {"mentions", "ids"}.isdisjoint(data):
        return None
    return next((tool for tool in TOOLS if tool.is_one(data)), None)


def _is_medcat_output(data: Json) -> bool:
    values = [data] if isinstance(data.get("entities"), Mapping) else list(data.values())
    return bool(values) and all(
        isinstance(value, Mapping) and isinstance(value.get("entities"), Mapping)
        for value in values
    )


def _of_medcat_output(objects: Iterable[Json]) -> Iterator[Record]:
    """Read what MedCAT finds, of one document or of several by their ids; often without a text."""
    for data in objects:
        documents = {"": data} if "entities" in data else data
        for doc_id, document in documents.items():
            mentions = [
                {"start": entity["start"], "end": entity["end"], "ids": [entity["cui"]],
                 "type": next(iter(entity.get("type_ids") or entity.get("types") or ()), ""),
                 "mention": entity.get("source_value") or entity["detected_name"]}
                for entity in document["entities"].values()
            ]  # fmt: skip
            yield {"doc_id": str(doc_id), "text": document.get("text"), "mentions": mentions}


def _of_medcat_training(objects: Iterable[Json]) -> Iterator[Record]:
    for data in objects:
        for project in data.get("projects") or [data]:
            yield from map(exports.of_medcat, project["documents"])


def _is_medcat_training(data: Json) -> bool:
    documents = data.get("documents")
    first = documents[0] if isinstance(documents, list) and documents else {}
    return "projects" in data or {"text", "annotations"} <= {*first}


def _is_bioc(data: Json) -> bool:
    return any(isinstance(data.get(key), list) for key in ("passages", "documents", "PubTator3"))


def _of_bioc(objects: Iterable[Json]) -> Iterator[Record]:
    for data in objects:
        yield from map(gold_record, read_bioc_json(data, PATH, Strict()))


def _of_bigbio(data: Json) -> Record:
    """Read the schema "kb" of BigBIO, whose passages have their place in the text."""
    text = ""
    for passage in data["passages"]:
        (start, _), *_ = passage["offsets"]
        text = text.ljust(start) + " ".join(passage["text"])
    mentions = []
    for entity in data["entities"]:
        offsets, said = entity["offsets"], " ".join(entity["text"])
        ids = [_curie(each["db_name"], each["db_id"]) for each in entity.get("normalized") or ()]
        place = {"start": offsets[0][0], "end": offsets[0][1]} if len(offsets) == 1 else {}
        kind = entity["type"]
        type = kind if isinstance(kind, str) else next(iter(kind), "")
        mentions.append({**place, "mention": said, "ids": ids, "type": type})
    doc_id = data.get("document_id") or data.get("id") or ""
    return {"doc_id": str(doc_id), "text": text, "mentions": mentions}


def _curie(vocabulary: object, id: object) -> str:
    return str(id) if ":" in str(id) or not vocabulary else f"{vocabulary}:{id}"


def _is_doccano(data: Json) -> bool:
    return isinstance(data.get("text", data.get("data")), str) and any(
        isinstance(data.get(key), list) for key in ("label", "labels", "entities")
    )


def _of_doccano(data: Json) -> Record:
    """Read spans, whose label is the id, if anything is: doccano has no other place for it."""
    spans = next(
        data[key] for key in ("label", "labels", "entities") if isinstance(data.get(key), list)
    )
    mentions = []
    for span in spans:
        if isinstance(span, Mapping):
            start, end = (span[f"{side}_offset"] for side in ("start", "end"))
            label = span["label"]
        else:
            start, end, label = span
        mentions.append({"start": start, "end": end, "ids": [label] if is_id(label) else None})
    text = data.get("text", data.get("data"))
    return {"doc_id": str(data.get("id", "")), "text": text, "mentions": mentions}


def _of_pubannotation(data: Json) -> Record:
    concepts: dict[str, list[str]] = {}
    for each in data.get("attributes") or ():
        concepts.setdefault(each["subj"], []).extend(filter(is_id, [str(each["obj"])]))
    mentions: list[dict[str, Any]] = []
    for each in data["denotations"]:
        span, label = each["span"], each["obj"]
        ids = concepts.get(each.get("id", "")) or ([label] if is_id(label) else None)
        type = "" if ids == [label] else label
        mentions.append({"start": span["begin"], "end": span["end"], "ids": ids, "type": type})
    doc_id = data.get("sourceid") or data.get("id") or ""
    return {"doc_id": str(doc_id), "text": data["text"], "mentions": mentions}


def _of_spacy(data: Json) -> Record:
    mentions = [
        {"start": ent["start"], "end": ent["end"], "type": ent.get("label", ""),
         "ids": exports.ids_of([ent.get("kb_id") or ""])}
        for ent in data["ents"]
    ]  # fmt: skip
    return {"doc_id": str(data.get("id", "")), "text": data["text"], "mentions": mentions}


TOOLS = (
    Tool("a CAS of UIMA in JSON", _has("%FEATURE_STRUCTURES"),
         _each(lambda data: gold_record(read_cas(data, PATH))),
         "a feature `identifier`, `cui` or `concept` of the annotations"),
    Tool("FHIR", fhir.is_gold, fhir.read_gold, "a CodeableConcept with a coding"),
    Tool("a phenopacket", phenopacket.is_gold, _each(phenopacket.read_gold),
         "phenotypicFeatures with a type"),
    Tool("MedCATtrainer", _is_medcat_training, _of_medcat_training, "a `cui`"),
    Tool("what MedCAT finds", _is_medcat_output, _of_medcat_output, "a `cui`"),
    Tool("BigBIO", _has("passages", "entities"), _each(_of_bigbio), "`normalized` of the entities"),
    Tool("BioC in JSON", _is_bioc, _of_bioc, "an infon `identifier`"),
    Tool("PubAnnotation", _has("text", "denotations"), _each(_of_pubannotation),
         "an `obj` that is one (HP:0001945), of a denotation or an attribute"),
    Tool("Label Studio", exports.is_label_studio, exports.of_label_studio,
         "a TextArea, Choices or a Taxonomy for each region"),
    Tool("Prodigy", exports.is_prodigy, _each(exports.of_prodigy),
         "a `kb_id` of the spans, or chosen options"),
    Tool("a Doc of spaCy in JSON", _has("text", "ents"), _each(_of_spacy), "a `kb_id` of the ents"),
    Tool("doccano", _is_doccano, _each(_of_doccano),
         "a label that is one, such as HP:0001945: doccano has no other place for it"),
)  # fmt: skip
