"""FHIR R4: a Bundle with a Parameters resource for each document.

A mention in a note is not yet a Condition: a person has to decide that. So a mention is a parameter
with a CodeableConcept, which can be copied into other resources. A context that changes the meaning
("negated", "family" ...) is a modifierExtension, which readers of FHIR must not ignore. The codes
of a concept come after its id, by vocabulary.
"""

import re
from collections.abc import Iterable, Iterator
from uuid import NAMESPACE_URL, uuid5

from ..annotate.formats import Format, Record
from ..kb.code_systems import codings
from ..types import Data
from .shared import Linked, framed, kinds_of, links_of, said_in, section_of

_BUNDLE = '{"resourceType":"Bundle","type":"collection","entry":['
CONFIDENCE = "urn:spacy-medlink:confidence"  # extension of a CodeableConcept: 0..1
CONTEXT = "urn:spacy-medlink:context"  # modifierExtension of a mention
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


FORMAT = Format(write)
