"""scispaCy's concepts: JSON Lines, or one JSON list of all of them."""

from collections.abc import Iterator
from pathlib import Path

from ..kb.readers import jsonl
from ..kb.readers.fields import sound
from ..types import BadLines, Record
from .json_stream import JsonStream


def read(path: Path, bad_lines: BadLines = None) -> Iterator[Record]:
    """Stream the concepts of a `.jsonl` or `.json` file, plain or `.gz`.

    RAISES (MedlinkError): as `jsonl.read`; always E105 where a list is not JSON.
    """
    return (record for _, record in numbered(path, bad_lines))


def numbered(path: Path, bad_lines: BadLines = None) -> Iterator[tuple[int, Record]]:
    """Stream the records of `read`, each with its line number."""
    if not _is_list(path):
        return jsonl.numbered(path, bad_lines)
    records: Iterator[tuple[int, Record]]
    records = sound(path, _elements(path), jsonl.checked, bad_lines, jsonl.EXPECTED)
    return jsonl.with_names(records, path, bad_lines)


def _is_list(path: Path) -> bool:
    if not path.name.lower().removesuffix(".gz").endswith(".json"):
        return False
    with JsonStream(path) as stream:
        return stream.is_next("[")


def _elements(path: Path) -> Iterator[tuple[int, object]]:
    with JsonStream(path) as stream:
        for line in stream.elements():
            yield line, stream.value()
        stream.finish()
