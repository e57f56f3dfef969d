"""BioC XML: documents of passages with offsets, annotations with infons and locations."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from ..ids import split_ids
from ..records import Document, Mention, Span
from ..tally import Tally
from .pubtator import to_span
from .xml import read_elements

# Names of the infon with the ids, the most specific first.
_ID_KEYS = ("identifier", "MESH", "MeSH", "mesh", "OMIM", "HPO", "UMLS")


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
