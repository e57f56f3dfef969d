"""W3C Web Annotation, in JSON-LD: each mention is an annotation of its document.

https://www.w3.org/TR/annotation-model/: its TextPositionSelector counts code points, too.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from ...kb.code_systems import address_of
from .shared import SYSTEM, Record, framed, kinds_of, links_of, said_in, section_of

_CONTEXT = "http://www.w3.org/ns/anno.jsonld"
_AROUND = 32  # characters before and behind a mention
_ADDRESS = re.compile(r"(?:https?://|urn:)[!#-;=?-\[\]_a-z~]+", re.IGNORECASE)


def write(records: Iterable[Record]) -> Iterator[str]:
    """Write a list of annotations."""
    return framed("[", (one for record in records for one in _annotations(record)), "]")


def _annotations(record: Record) -> Iterator[dict[str, Any]]:
    text, id = record["text"], record["doc_id"]
    # An id that is no address is relative to the file, as the name of a text beside the file is.
    source = id if _ADDRESS.fullmatch(id) else quote(id)
    for number, mention in enumerate(record["mentions"]):
        start, end = mention["start"], mention["end"]
        quoted = {"type": "TextQuoteSelector", "exact": said_in(record, mention),
                  "prefix": text[max(0, start - _AROUND) : start],
                  "suffix": text[end : end + _AROUND]}  # fmt: skip
        place = {"type": "TextPositionSelector", "start": start, "end": end}
        yield {
            "@context": _CONTEXT,
            "id": uuid5(NAMESPACE_URL, f"{source} {number} {start} {end}").urn,
            "type": "Annotation",
            "motivation": "identifying",
            "creator": {"type": "Software", "name": SYSTEM},
            "body": _bodies(mention),
            "target": {"source": source, "selector": [place, quoted]},
        }


def _bodies(mention: Record) -> list[dict[str, Any]]:
    """List the concepts by address, their names, and the contexts of the mention as tags."""
    tags = [mention["type"], section_of(mention), *kinds_of(mention)]
    bodies: list[dict[str, Any]] = []
    for link in links_of(mention):
        address = address_of(link.id, link.codes)
        bodies.append({"type": "SpecificResource", "purpose": "identifying", "source": address})
        named = f"{link.name} ({link.curie})" if link.name else link.curie
        bodies.append({"type": "TextualBody", "purpose": "describing", "value": named})
    return bodies + [
        {"type": "TextualBody", "purpose": "tagging", "value": tag} for tag in tags if tag
    ]
