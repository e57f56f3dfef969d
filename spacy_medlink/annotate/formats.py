"""Formats of other tools for links, by name. They register themselves as `medlink_formats`."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..types import Facts
from ..util import sides

_GROUP = "medlink_formats"
FORMAT_HELP = (
    "Format of other tools: bioc, brat and phenopacket (each into a directory), fhir, "
    "fhir_condition, label_studio, note_nlp (OMOP) or prodigy."
)

Record = Facts
"""As `records.record_of` makes it, with the text: "doc_id", "text", "mentions"."""


class Format(NamedTuple):
    """A format of annotations. Offsets are in code points, and texts stay as they are.

    write (Callable): from a stream of records to the pieces of a text.
    suffixes (Tuple[str, ...]): of its files; () where every document has files of its own.
    write_folder (Optional[Callable]): writes the files of documents into an empty directory.
    """

    write: Callable[[Iterable[Record]], Iterator[str]]
    suffixes: tuple[str, ...] = (".json", ".json.gz")
    write_folder: Callable[[Iterable[Record], Path], None] | None = None


def formats() -> list[str]:
    """List the formats that links can be written in."""
    return sides.names(_GROUP)


def format_named(name: str) -> Format:
    """Get a format.

    RAISES (MedlinkError): E108 when there is none of this name.
    """
    format: Format = sides.load(_GROUP, name, "format")
    return format
