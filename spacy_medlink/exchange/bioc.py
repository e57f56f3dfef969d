"""BioC: a collection of documents with passages and annotations; written as JSON, read as XML, too.

Comeau et al. 2013, doi:10.1093/database/bat064; the JSON form is that of NCBI's BioC API.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from ..annotate.formats import Format, Record
from ..types import Data
from .documents import Document, Mention, Problems, Span
from .ids import split_ids, stated_ids
from .lines import to_span
from .shared import SYSTEM, as_json, framed, kinds_of, links_of, said_in, section_of
from .uima import read_elements

# Names of the infon with the ids, the most specific first.
_ID_KEYS = ("identifier", "MESH", "MeSH", "mesh", "OMIM", "HPO", "UMLS", "CUI", "cui", "accession")


def write(records: Iterable[Record]) -> Iterator[str]:
    """Write a collection; infons, which are texts, hold ids ("identifier") and the context."""
    head = {"source": SYSTEM, "date": date.today().isoformat(), "key": "", "version": "1.0",
             "infons": {"offsets": "Unicode code points"}}  # fmt: skip
    yield from framed(as_json(head)[:-1] + ',"documents":[', map(_document, records), "]}")


def _document(record: Record) -> Data:
    annotations = [
        _annotation(str(nth), record, mention) for nth, mention in enumerate(record["mentions"], 1)
    ]
    passage = {"offset": 0, "infons": {}, "text": record["text"], "sentences": [],
               "annotations": annotations, "relations": []}  # fmt: skip
    return {"id": record["doc_id"], "infons": {}, "passages": [passage], "annotations": [],
            "relations": []}  # fmt: skip


def _annotation(id: str, record: Record, mention: Record) -> Data:
    links = links_of(mention)
    values = {
        "type": mention["type"], "identifier": ",".join(link.curie for link in links),
        "name": " | ".join(link.name for link in links), "score": mention["score"],
        "probability": mention["prob"], "reason": mention["reason"],
        "section": section_of(mention), **dict.fromkeys(kinds_of(mention), "true"),
    }  # fmt: skip
    infons = {key: str(value) for key, value in values.items() if value not in ("", None)}
    location = {"offset": mention["start"], "length": mention["end"] - mention["start"]}
    return {"id": id, "infons": infons, "text": said_in(record, mention), "locations": [location]}


def read_bioc(path: Path, problems: Problems) -> Iterator[Document]:
    """Stream the documents of a BioC collection in XML.

    Passages are put at their offsets, with spaces between them. Separate annotations of the parts
    of a composite mention are left out, as in the PubTator files.
    """
    for record in read_elements(path, {"document"}):
        yield _read(_as_data(record.element), path, record.line, problems)


def read_bioc_json(data: Mapping[str, Any], path: Path, problems: Problems) -> Iterator[Document]:
    """Stream the documents of a collection, or of a single document, in JSON."""
    for document in data.get("documents") or data.get("PubTator3") or [data]:
        yield _read(document, path, 1, problems)


def _as_data(document: Element) -> Data:
    """Write a document of XML as one of JSON."""
    passages = [
        {"offset": passage.findtext("offset"), "text": passage.findtext("text")}
        for passage in document.iter("passage")
    ]
    annotations = [
        {"infons": {infon.get("key", ""): infon.text or "" for infon in annotation.iter("infon")},
         "text": annotation.findtext("text"),
         "locations": [dict(location.attrib) for location in annotation.iter("location")]}
        for annotation in document.iter("annotation")
    ]  # fmt: skip
    return {"id": document.findtext("id"), "passages": passages, "annotations": annotations}


def _read(document: Mapping[str, Any], path: Path, line: int, problems: Problems) -> Document:
    doc_id, text = str(document.get("id") or "").strip(), ""
    found = list(document.get("annotations") or ())
    for passage in document["passages"]:
        sentences = passage.get("sentences") or ()
        for part in (passage, *sentences):
            offset = str(part.get("offset", "")).strip()
            span, words = to_span(offset, offset), part.get("text") or ""
            found += part.get("annotations") or ()
            # A passage far beyond the last one is a typing error, not a gap to be filled.
            if words and span is not None and len(text) <= span[0] <= len(text) + 10_000:
                text = text.ljust(span[0]) + words
            elif words and not (sentences and part is not passage):
                where = f"document {doc_id}"
                problems.fault("passages whose offset does not fit", path, line, where)
    mentions = (_mention(annotation, problems) for annotation in found)
    kept = tuple(mention for mention in mentions if mention is not None)
    return Document(doc_id, text, kept, path, line=line)


def _mention(annotation: Mapping[str, Any], problems: Problems) -> Mention | None:
    infons = {key: str(value or "").strip() for key, value in annotation["infons"].items()}
    if infons.get("CompositeRole") == "IndividualMention":
        problems.drop("parts of composite mentions, annotated by themselves")
        return None
    cell = next((infons[key] for key in _ID_KEYS if infons.get(key)), "")
    cell = cell or "|".join(stated_ids(infons))
    said = (annotation.get("text") or "").strip()
    separators = "|+," if ":" in cell else "|+"
    link = split_ids(cell, separators)
    return Mention(said, tuple(_spans(annotation)), link, infons.get("type", ""))


def _spans(annotation: Mapping[str, Any]) -> Iterator[Span]:
    for location in annotation.get("locations") or ():
        offset, length = (str(location.get(key, "")).strip() for key in ("offset", "length"))
        span = to_span(offset, length)
        if span is not None:
            yield span[0], span[0] + span[1]


FORMAT = Format(write)
