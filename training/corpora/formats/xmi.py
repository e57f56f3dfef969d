"""UIMA XMI: the text in one attribute, annotations as elements with offsets."""

from collections.abc import Collection
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from ..records import Span
from .pubtator import to_span
from .xml import read_elements

_SOFA = "cas:Sofa"


class Feature(NamedTuple):
    """An annotation: its tag, its place in characters (None without one), all attributes."""

    tag: str
    span: Span | None
    attributes: dict[str, str]


class Xmi(NamedTuple):
    """A file with one view of a text."""

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
        Feature(tag, _span(attributes, places), attributes) for tag, attributes in annotations
    ]
    return Xmi(text, features)


def _characters(text: str) -> dict[int, int] | None:
    """Map each offset in UTF-16 to an offset in characters; None where all are equal."""
    if text.isascii() or max(text) <= "\uffff":
        return None
    units = accumulate((1 + (character > "\uffff") for character in text), initial=0)
    return {unit: character for character, unit in enumerate(units)}


def _span(attributes: dict[str, str], places: dict[int, int] | None) -> Span | None:
    span = to_span(attributes.get("begin", ""), attributes.get("end", ""))
    if span is None or places is None:
        return span
    start, end = places.get(span[0]), places.get(span[1])
    return None if start is None or end is None else (start, end)
