"""FHIR R4: a Bundle with a Parameters resource for each document.

A mention in a note is not yet a Condition: a person has to decide that. So a mention is a parameter
with a CodeableConcept, which can be copied into other resources. A context that changes the meaning
("negated", "family" ...) is a modifierExtension, which readers of FHIR must not ignore. The codes
of a concept come after its id, by vocabulary.

`fhir_condition` makes Conditions all the same, for those who know what they do: with the
verificationStatus that a mention is worth, "unconfirmed", "provisional" or "refuted".
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from ..annotate.formats import Format, Record
from ..kb.code_systems import codings, vocabulary_of
from ..kb.vocabularies import GROUPS
from ..types import Data
from .shared import Linked, framed, kinds_of, links_of, said_in, section_of

_BUNDLE = '{"resourceType":"Bundle","type":"collection","entry":['
CONFIDENCE = "urn:spacy-medlink:confidence"  # extension of a CodeableConcept: 0..1
MENTION = "urn:spacy-medlink:mention"  # extension of a Condition: document, start, end
CONTEXT = "urn:spacy-medlink:context"  # modifierExtension of a mention
_STATUS = "http://terminology.hl7.org/CodeSystem/condition-"
_ABSENT = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"
_DISORDERS, _DOC = "DISO", "document"
_NO_TEXT = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f]")  # not allowed in FHIR's strings


def write(records: Iterable[Record]) -> Iterator[str]:
    """Write a Bundle."""
    entries = (_entry(nth, record) for nth, record in enumerate(records))
    return framed(_BUNDLE, entries, "]}")


def string(text: str) -> str:
    """Write a string; control characters become U+FFFD, so that the length stays the same."""
    return _NO_TEXT.sub("\ufffd", text)


def codeable_concept(link: Linked, text: str = "", confidence: float | None = None) -> Data:
    """Make a CodeableConcept of a link.

    confidence (Optional[float]): the probability that the link is right, if there is one.
    """
    sure = [] if confidence is None else [{"url": CONFIDENCE, "valueDecimal": confidence}]
    coded = [
        {"system": coding.system, "code": " ".join(coding.code.split())}
        for coding in codings(link.id, link.codes)
    ] if link.id else []  # fmt: skip
    if coded and link.name:
        coded[0]["display"] = string(link.name)
    concept = {"extension": sure, "coding": coded, "text": string(text)}
    return {key: value for key, value in concept.items() if value}


def _entry(nth: int, record: Record) -> Data:
    id = record["doc_id"]
    mentions = [_mention(record, mention) for mention in record["mentions"]]
    document = {"name": "document", "valueString": string(id)}
    resource = {"resourceType": "Parameters", "parameter": [document, *mentions]}
    return {"fullUrl": uuid5(NAMESPACE_URL, f"{id} {nth}").urn, "resource": resource}


def _mention(record: Record, mention: Record) -> Data:
    text = said_in(record, mention)
    parts: list[Data] = [
        {"name": "start", "valueUnsignedInt": mention["start"]},
        {"name": "end", "valueUnsignedInt": mention["end"]},
        {"name": "type", "valueString": string(mention["type"])},
        {"name": "section", "valueString": string(section_of(mention))},
    ]
    for link in links_of(mention) or [Linked("", "", {})]:
        concept = codeable_concept(link, text, mention["prob"])
        parts.append({"name": "concept", "valueCodeableConcept": concept})
    context = [{"url": CONTEXT, "valueCode": context_type} for context_type in kinds_of(mention)]
    parts = [part for part in parts if "" not in part.values()]
    return {"name": "mention", **({"modifierExtension": context} if context else {}), "part": parts}


def write_conditions(records: Iterable[Record]) -> Iterator[str]:
    """Write a Bundle of Conditions, of mentions that say something of the patient."""
    entries = (
        {"fullUrl": uuid5(NAMESPACE_URL, f"{record['doc_id']} {nth} {place}").urn,
         "resource": condition}
        for nth, record in enumerate(records)
        for place, condition in enumerate(_conditions(record))
    )  # fmt: skip
    return framed(_BUNDLE, entries, "]}")


def _conditions(record: Record) -> Iterator[Data]:
    for mention in record["mentions"]:
        # A drug or a part of the body is no Condition; labels beside semantic groups do not tell.
        is_other = mention["type"] in GROUPS and mention["type"] != _DISORDERS
        if is_other or mention.get("family") or mention.get("hypothetical"):
            continue
        status = "provisional" if mention.get("uncertain") else "unconfirmed"
        status = "refuted" if mention.get("negated") else status
        place = [
            {"url": "document", "valueString": string(record["doc_id"]) or "document"},
            {"url": "start", "valueUnsignedInt": mention["start"]},
            {"url": "end", "valueUnsignedInt": mention["end"]},
        ]
        for link in links_of(mention):
            past = {"clinicalStatus": _status("clinical", "inactive")}
            yield {
                "resourceType": "Condition",
                "extension": [{"url": MENTION, "extension": place}],
                **(past if mention.get("historical") else {}),
                "verificationStatus": _status("ver-status", status),
                "code": codeable_concept(link, said_in(record, mention), mention["prob"]),
                "subject": {"extension": [{"url": _ABSENT, "valueCode": "unknown"}]},
            }


def _status(kind: str, code: str) -> Data:
    return {"coding": [{"system": f"{_STATUS}{kind}", "code": code}]}


FORMAT = Format(write)
CONDITION = Format(write_conditions)


def is_gold(data: Mapping[str, Any]) -> bool:
    """Tell whether an object is a resource that mentions can be read from."""
    return data.get("resourceType") in ("Bundle", "Parameters", "Condition")


def read_gold(objects: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Make records of what `write` and `write_conditions` write: without the texts."""
    conditions: dict[str, list[Data]] = {}
    for data in objects:
        is_bundle = data["resourceType"] == "Bundle"
        for resource in [entry["resource"] for entry in data["entry"]] if is_bundle else [data]:
            if resource["resourceType"] == "Condition":
                place = _values(resource.get("extension", ()), MENTION)
                doc_id = place.pop(_DOC, "")
                conditions.setdefault(doc_id, []).append(_said(resource["code"]) | place)
            elif resource["resourceType"] == "Parameters":
                yield _parameters(resource["parameter"])
    for doc_id, mentions in conditions.items():
        yield {"doc_id": doc_id, "text": None, "mentions": mentions}


def _values(extensions: Iterable[Data], url: str) -> Data:
    """Get the values of the parts of an extension, by their names."""
    parts = (part for each in extensions if each["url"] == url for part in each["extension"])
    return {part["url"]: value for part in parts for key, value in part.items() if key != "url"}


def _parameters(parameters: list[Data]) -> dict[str, Any]:
    doc_id, mentions = "", []
    for parameter in parameters:
        if parameter["name"] == "document":
            doc_id = parameter["valueString"]
        elif parameter["name"] == "mention":
            record: Data = {"ids": []}
            for part in parameter["part"]:
                if part["name"] == "concept":
                    said = _said(part["valueCodeableConcept"])
                    record |= {"mention": said["mention"], "ids": record["ids"] + said["ids"]}
                elif part["name"] in ("start", "end", "type"):
                    record[part["name"]] = next(v for k, v in part.items() if k != "name")
            mentions.append(record)
    return {"doc_id": doc_id, "text": None, "mentions": mentions}


def _said(concept: Data) -> Data:
    """Read a CodeableConcept: its text, and its first code with the vocabulary before it."""
    ids = []
    for coding in concept.get("coding", ())[:1]:
        vocabulary, code = vocabulary_of(coding.get("system", "")), coding["code"]
        ids = [code if ":" in code or vocabulary in ("", "ID") else f"{vocabulary}:{code}"]
    display = next((coding.get("display", "") for coding in concept.get("coding", ())), "")
    return {"mention": concept.get("text") or display, "ids": ids}
