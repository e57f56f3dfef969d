"""Shared parts of the formats: records, the links of a mention, and streamed JSON."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from .. import __version__
from ..annotate.formats import Record
from ..kb.code_systems import curie, vocabulary_of_id
from ..text.context import KINDS, SECTION

_LONGEST_NAME = 180  # characters of a file's name
SYSTEM = f"spacy-medlink {__version__}"


class Linked(NamedTuple):
    """A concept that a mention is linked to, with its codes by vocabulary."""

    id: str
    name: str
    codes: Mapping[str, Sequence[str]]

    @property
    def curie(self) -> str:
        """The id with the vocabulary before it: "MESH:D003920"."""
        return curie(self.id, self.codes)


def links_of(mention: Record) -> list[Linked]:
    """List the links of a mention: several of a composite one, none of NIL."""
    pairs = [(part["id"], part["name"]) for part in mention["parts"]]
    pairs = pairs or [(id, mention["name"] or "") for id in mention["ids"]]
    codes = mention["codes"]
    first = [Linked(id, name, codes) for id, name in pairs[:1]]
    # A record gives no more of further parts; their ids are from the same vocabulary.
    vocabulary = vocabulary_of_id(pairs[0][0], codes) if pairs else ""
    return first + [Linked(id, name, {vocabulary: [id]}) for id, name in pairs[1:]]


def kinds_of(mention: Record) -> list[str]:
    """List the contexts of a mention: "negated", "family" ..."""
    return [context_type for context_type in KINDS if mention.get(context_type)]


def section_of(mention: Record) -> str:
    """Name the section of a mention, "" for none."""
    return mention.get(SECTION) or ""


def said_in(record: Record, mention: Record) -> str:
    """Get the text of a mention."""
    text: str = record["text"]
    return text[mention["start"] : mention["end"]]


def as_json(value: object) -> str:
    """Write JSON on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def framed(begin: str, items: Iterable[object], end: str) -> Iterator[str]:
    """Write a JSON list of many items, one on each line, between two pieces of text."""
    yield begin
    for nth, item in enumerate(items):
        yield f"{',' if nth else ''}\n{as_json(item)}"
    yield f"\n{end}\n"


def file_name(id: str, folder: Path, repeated: Counter[str], suffix: str) -> str:
    """Make a name that no other document has, on any file system."""
    plain = quote(id.removesuffix(".txt"), safe=" ")
    plain = plain.replace(".", "%2E", 1) if plain.startswith(".") else plain or "%"
    name = plain = plain[:_LONGEST_NAME]
    while (folder / f"{name}{suffix}").exists():
        repeated[plain] += 1
        name = f"{plain}~{repeated[plain] + 1}"
    return name
