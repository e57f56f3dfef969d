"""scispaCy's knowledge bases: a JSON list of concepts, or JSON Lines."""

from collections.abc import Iterator
from pathlib import Path

from ...types import BadLines, Record
from . import jsonl
from .fields import FieldError, storable, without_blank_names
from .json_stream import JsonStream
from .lines import report


def read(path: Path, bad_lines: BadLines = None) -> Iterator[Record]:
    """Stream the concepts of a `.json` or `.jsonl` file, plain or `.gz`.

    Concepts have `concept_id`, `canonical_name`, `aliases`, `types` and `definition`, and may have
    the other fields of the format `jsonl`.
    RAISES (MedlinkError): E105 for a bad concept, unless `bad_lines` collects it; always E105 where
        a list is not JSON.
    """
    with JsonStream(path) as stream:
        is_list = stream.is_next("[")
    return _read_list(path, bad_lines) if is_list else jsonl.read(path, bad_lines)


def _read_list(path: Path, bad_lines: BadLines) -> Iterator[Record]:
    with JsonStream(path) as stream:
        for line in stream.elements():
            value = stream.value()
            try:
                storable(value)
                record = jsonl.record_of(value)
            except FieldError as error:
                report(path, line, error.problem, jsonl.EXPECTED, bad_lines)
                continue
            yield without_blank_names(record, path, line, jsonl.EXPECTED, bad_lines)
        stream.finish()
