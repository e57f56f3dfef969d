"""Annotations of UIMA, as INCEpTION and cTAKES write them: XMI and JSON of a CAS, WebAnno's TSV.

https://uima.apache.org/d/uimaj-current/, https://github.com/apache/uima-uimaj-io-jsoncas,
https://inception-project.github.io/releases/latest/docs/user-guide.html (WebAnno TSV 3.3)
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import MedlinkError
from ..kb.readers.xml_records import XmlRecord, xml_records
from .documents import Document, Mention, Problems, Span
from .ids import or_unsaid, stated_ids
from .lines import read_lines, to_span, unreadable

_SOFA = "cas:Sofa"
_LABELS = ("value", "label", "type", "semanticType")
# Annotations that every pipeline makes, and nobody links.
_STRUCTURE = re.compile(
    r"(?:Token|Sentence|Lemma|Stem|POS|Paragraph|Segment|Annotation|MetaData|Chunk|Dependency|NP|VP|"
    r"TagsetDescription|\w*Token|\w*Identification)$"
)
_DEEPEST = 3  # references from a mention to its concept


def read_elements(path: Path, tags: Collection[str] | None) -> Iterator[XmlRecord]:
    """Stream the elements that have one of the tags, written with their prefix.

    tags (Optional[Collection[str]]): None for all those directly in the root element.
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


def read_xmi(path: Path, tags: Collection[str] | None) -> Xmi | None:
    """Read the text and the annotations that have one of the tags, such as "custom:CLINENTITY".

    UIMA counts UTF-16 code units; offsets are converted to characters.

    tags (Optional[Collection[str]]): None for all. RETURNS (Optional[Xmi]): None when the file
        holds no text.
    """
    text, annotations = None, []
    for record in read_elements(path, None if tags is None else {_SOFA, *tags}):
        attributes = dict(record.element.attrib)
        if record.element.tag.endswith(":Sofa"):
            text = attributes.get("sofaString", text)
        else:
            children = {child.tag: child.text or "" for child in record.element}
            annotations.append((record.element.tag, {**children, **attributes}))
    if text is None:
        return None
    places = characters(text)
    features = [
        Feature(tag, _span(attributes, places), attributes) for tag, attributes in annotations
    ]
    return Xmi(text, features)


def characters(text: str) -> dict[int, int] | None:
    """Map each offset in UTF-16 to an offset in characters; None where all are equal."""
    if text.isascii() or max(text) <= "\uffff":
        return None
    units = accumulate((1 + (character > "\uffff") for character in text), initial=0)
    return {unit: character for character, unit in enumerate(units)}


def _span(attributes: Mapping[str, str], places: dict[int, int] | None) -> Span | None:
    span = to_span(attributes.get("begin", ""), attributes.get("end", ""))
    if span is None or places is None:
        return span
    start, end = places.get(span[0]), places.get(span[1])
    return None if start is None or end is None else (start, end)


def read_xmi_document(path: Path, problems: Problems) -> Iterator[Document]:
    """Read the annotations of an XMI file that have a concept, or could have one."""
    xmi = read_xmi(path, None)
    if xmi is None:
        problems.fault("no text", path, 1)
    else:
        by_id = {
            feature.attributes.get("xmi:id", ""): feature.attributes for feature in xmi.features
        }
        yield _document(path, xmi.text, xmi.features, by_id)


def read_cas(data: Mapping[str, Any], path: Path) -> Document:
    """Read a CAS in JSON. RAISES (ValueError): where no text is in it."""
    given = data["%FEATURE_STRUCTURES"]
    structures = list(given.values()) if isinstance(given, Mapping) else given
    text = next((each["sofaString"] for each in structures if "sofaString" in each), None)
    if text is None:
        raise ValueError("no sofaString, which is the text")
    places, features, by_id = characters(text), list[Feature](), dict[str, dict[str, str]]()
    for each in structures:
        attributes = {key.lstrip("@^#"): _plain(value) for key, value in each.items()}
        by_id[attributes.get("%ID", "")] = attributes
        features.append(Feature(attributes["%TYPE"], _span(attributes, places), attributes))
    return _document(path, text, features, by_id)


def _plain(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _document(
    path: Path, text: str, features: Iterable[Feature], by_id: Mapping[str, Mapping[str, str]]
) -> Document:
    titles = (feature.attributes.get("documentTitle", "") for feature in features)
    mentions = []
    for feature in features:
        ids = _ids(feature.attributes, by_id, _DEEPEST)
        local = re.split("[:.]", feature.tag)[-1]
        if feature.span and feature.span[0] < feature.span[1]:
            label = next(
                (feature.attributes[key] for key in _LABELS if feature.attributes.get(key)), local
            )
            if ids or not _STRUCTURE.match(local):
                mentions.append(Mention("", (feature.span,), or_unsaid(ids), label))
    return Document(next(filter(None, titles), path.stem), text, tuple(mentions), path, line=1)


def _ids(
    attributes: Mapping[str, str], by_id: Mapping[str, Mapping[str, str]], depth: int
) -> list[str]:
    """List the ids of an annotation: its own, or those of the structures that it refers to."""
    if (ids := stated_ids(attributes)) or not depth:
        return ids
    referred = [
        reference
        for key, value in attributes.items()
        if key == "elements" or re.search("concept", key, re.I)
        for reference in value.split()
    ]
    found = (_ids(by_id[each], by_id, depth - 1) for each in referred if each in by_id)
    return list(dict.fromkeys(id for ids in found for id in ids))


_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_TOKEN = re.compile(r"\d+-\d+(?:\.\d+)?")
_VALUE = re.compile(r"(.*?)(?:\[(\d+)\])?", re.DOTALL)


class _Layer(NamedTuple):
    """A layer of WebAnno's TSV: its name, its first column, and the names of its features."""

    name: str
    column: int
    features: list[str]


def read_webanno(path: Path, problems: Problems) -> Iterator[Document]:
    """Read WebAnno's TSV 3, in which a mention is the tokens with one number, "HP:0001945[1]"."""
    layers, units = list[_Layer](), ""
    sentence, spans = "", dict[tuple[str, str], dict[str, Any]]()
    for line, text in read_lines(path, problems):
        if text.startswith(("#T_SP=", "#T_CH=", "#T_RL=")):
            name, *features = text[6:].split("|")
            column = layers[-1].column + max(1, len(layers[-1].features)) if layers else 3
            is_span = text.startswith("#T_SP=")
            layers.append(_Layer(name if is_span else "", column, features))
        elif text.startswith("#Text="):
            sentence = f"{sentence}\n{_unescaped(text[6:])}" if sentence else _unescaped(text[6:])
        elif text.startswith("#") or not text.strip():
            continue
        else:
            cells = text.split("\t")
            span = to_span(*cells[1].split("-")) if len(cells) > 2 and "-" in cells[1] else None
            if not _TOKEN.fullmatch(cells[0]) or span is None:
                problems.fault("lines that are no token", path, line)
                continue
            if sentence:
                units, sentence = units.ljust(span[0]) + _units(sentence), ""
            for layer in layers:
                _add(layer, cells, span, spans)
    text = _text(units)
    places = characters(text) or {n: n for n in range(len(text) + 1)}
    mentions = []
    for each in spans.values():
        span = places.get(each["start"], 0), places.get(each["end"], 0)
        label = next((each[key] for key in _LABELS if each.get(key)), "")
        mentions.append(Mention("", (span,), or_unsaid(stated_ids(each)), label))
    yield Document(path.stem, text, tuple(mentions), path, line=1)


def _add(
    layer: _Layer, cells: list[str], span: Span, spans: dict[tuple[str, str], dict[str, Any]]
) -> None:
    """Add a token to the annotations of a layer that it belongs to."""
    if not layer.name or _STRUCTURE.match(layer.name.rpartition(".")[2]):
        return
    for feature, cell in zip(layer.features, cells[layer.column :], strict=False):
        for value in re.split(r"(?<!\\)\|", cell) if cell not in ("", "_") else ():
            match = _VALUE.fullmatch(value)
            said, number = (match[1], match[2]) if match else (value, None)
            key = (layer.name, number or f"at {span[0]}")
            annotation = spans.setdefault(key, {"start": span[0], "end": span[1]})
            annotation["end"] = max(annotation["end"], span[1])
            if said != "*":
                annotation[feature] = _unescaped(said)


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[1]), text)


def _units(text: str) -> str:
    """Write a text with a character for each unit of UTF-16."""
    data = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(int.from_bytes(data[n : n + 2], "little")) for n in range(0, len(data), 2))


def _text(units: str) -> str:
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
