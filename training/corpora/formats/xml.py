"""XML of corpora, an element at a time: UIMA XMI, and BioC; entities are refused."""

from collections.abc import Collection, Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb.readers.xml_records import XmlRecord, xml_records

from ..ids import split_ids
from ..records import Document, Mention, Span
from ..tally import Tally
from .text import to_span, unreadable

_SOFA = "cas:Sofa"
# Names of BioC's infon with the ids, the most specific first.
_ID_KEYS = ("identifier", "MESH", "MeSH", "mesh", "OMIM", "HPO", "UMLS")


def read_elements(path: Path, tags: Collection[str]) -> Iterator[XmlRecord]:
    """Stream the elements that have one of the tags, written with their prefix.

    RAISES (MedlinkError): E165 where the document is not well-formed, declares or needs entities,
        or cannot be opened.
    """
    try:
        yield from xml_records(path, tags)
    except MedlinkError as error:
        raise unreadable(path, error) from error


class Feature(NamedTuple):
    """An annotation of XMI: its tag, its place in characters (None without one), all attributes."""

    tag: str
    span: Span | None
    attributes: dict[str, str]


class Xmi(NamedTuple):
    """An XMI file with one view of a text."""

    text: str
    features: list[Feature]


def read_xmi(path: Path, tags: Collection[str]) -> Xmi | None:
    """Read the text and the annotations that have one of the tags, such as "custom:CLINENTITY".

    UIMA counts UTF-16 code units; offsets are converted to characters.

    RETURNS (Optional[Xmi]): None when the file holds no text.
    """
    text, annotations = None, []
    for record in read_elements(path, {_SOFA, *tags}):
        attributes = dict(record.element.attrib)
        if record.element.tag == _SOFA:
            text = attributes.get("sofaString")
        else:
            annotations.append((record.element.tag, attributes))
    if text is None:
        return None
    places = _characters(text)
    features = [
        Feature(tag, _xmi_span(attributes, places), attributes) for tag, attributes in annotations
    ]
    return Xmi(text, features)


def _characters(text: str) -> dict[int, int] | None:
    """Map each offset in UTF-16 to an offset in characters; None where all are equal."""
    if text.isascii() or max(text) <= "\uffff":
        return None
    units = accumulate((1 + (character > "\uffff") for character in text), initial=0)
    return {unit: character for character, unit in enumerate(units)}


def _xmi_span(attributes: dict[str, str], places: dict[int, int] | None) -> Span | None:
    span = to_span(attributes.get("begin", ""), attributes.get("end", ""))
    if span is None or places is None:
        return span
    start, end = places.get(span[0]), places.get(span[1])
    return None if start is None or end is None else (start, end)


def read_bioc(path: Path, tally: Tally) -> Iterator[Document]:
    """Stream the documents of a BioC collection.

    Passages are put at their offsets, with spaces between them. Separate annotations of the parts
    of a composite mention are left out, as in the PubTator files.
    """
    for record in read_elements(path, {"document"}):
        doc_id = (record.element.findtext("id") or "").strip()
        text = _text(record.element, path, record.line, doc_id, tally)
        annotations = record.element.iter("annotation")
        mentions = [_mention(annotation, tally) for annotation in annotations]
        kept = tuple(mention for mention in mentions if mention is not None)
        yield Document(doc_id, text, kept, path, line=record.line)


def _text(document: Element, path: Path, line: int, doc_id: str, tally: Tally) -> str:
    text = ""
    for passage in document.iter("passage"):
        words = passage.findtext("text") or ""
        offset = (passage.findtext("offset") or "").strip()
        span = to_span(offset, offset)
        # A passage far beyond the last one is a typing error, not a gap to be filled.
        if span is None or not len(text) <= span[0] <= len(text) + 10_000:
            tally.fault("passages whose offset does not fit", path, line, f"document {doc_id}")
            continue
        text = text.ljust(span[0]) + words
    return text


def _mention(annotation: Element, tally: Tally) -> Mention | None:
    infons = {
        infon.get("key", ""): (infon.text or "").strip() for infon in annotation.iter("infon")
    }
    if infons.get("CompositeRole") == "IndividualMention":
        tally.drop("parts of composite mentions, annotated by themselves")
        return None
    cell = next((infons[key] for key in _ID_KEYS if infons.get(key)), "")
    spans = tuple(_spans(annotation))
    mention_text = (annotation.findtext("text") or "").strip()
    return Mention(mention_text, spans, split_ids(cell), infons.get("type", ""))


def _spans(annotation: Element) -> Iterator[Span]:
    for location in annotation.iter("location"):
        offset, length = location.get("offset", ""), location.get("length", "")
        span = to_span(offset.strip(), length.strip())
        if span is not None:
            yield span[0], span[0] + span[1]
