"""MedTator: XML with the text, and a tag for each mention; the id is one of its attributes.

https://github.com/OHNLP/MedTator/wiki/Annotation-Data
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from .documents import Problems
from .gold_formats import COUNTS, placed
from .ids import stated_ids
from .uima import read_elements

_PLACE = re.compile(r"(\d{1,11})~(\d{1,11})")


def read_medtator(path: Path, problems: Problems) -> Iterator[dict[str, Any]]:
    """Make the record of a file; tags of the whole document, and relations, are left out."""
    text, tags = "", list[Element]()
    for record in read_elements(path, None):
        if record.element.tag == "TEXT":
            text = record.element.text or ""
        elif record.element.tag == "TAGS":
            tags += record.element
    mentions = [_mention(text, tag) for tag in tags if _PLACE.match(tag.get("spans", ""))]
    yield {"doc_id": path.stem, "text": text, "mentions": mentions}


def _mention(text: str, tag: Element) -> dict[str, Any]:
    ids = stated_ids({key: value for key, value in tag.items() if key != "text"}) or None
    places = [match.groups() for match in _PLACE.finditer(tag.get("spans", ""))]
    if len(places) > 1:
        return {"mention": tag.get("text", ""), "ids": ids, "type": tag.tag}
    region = {"start": int(places[0][0]), "end": int(places[0][1])}
    return placed(text, region, tag.get("text"), ids, tag.tag, COUNTS)
