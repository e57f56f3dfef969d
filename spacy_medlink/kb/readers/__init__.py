"""Readers: one file per terminology format, each a function that streams records."""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from ...errors import Errors
from ...types import BadLines, Record

Reader = Callable[[Path, BadLines], Iterator[Record]]

# Format name to module in this package; the module's `read` is the reader.
FORMATS = {
    "biosyn": "biosyn",
    "csv": "tabular",
    "fhir": "fhir",
    "gazetteer": "gazetteer",
    "icd": "icd",
    "jsonl": "jsonl",
    "mesh": "mesh",
    "obo": "obo",
    "omop": "omop",
    "owl": "rdf",
    "scispacy": "jsonl",
    "skos": "rdf",
    "snomed": "snomed",
    "tsv": "tabular",
    "umls": "umls",
}


def get_reader(format: str) -> Reader:
    """Get the reader of a format.

    RAISES (MedlinkError): E108 for an unknown format.
    """
    if format not in FORMATS:
        raise Errors.unknown_format(format=format, known=", ".join(sorted(FORMATS)))
    reader: Reader = import_module(f".{FORMATS[format]}", __name__).read
    return reader


def read(format: str, path: str | Path, bad_lines: BadLines = None) -> Iterator[Record]:
    """Stream the records of a source.

    format (str): one of FORMATS. path (Path): file or directory.
    bad_lines (Optional[List[BadLine]]): collects bad lines; None makes the first one an error.
    RAISES (MedlinkError): E105 bad line, E107 no such source, E108 unknown format.
    """
    reader, path = get_reader(format), Path(path)
    if not path.exists():
        raise Errors.source_missing(path=path)
    return reader(path, bad_lines)


def read_numbered(
    format: str, path: Path, bad_lines: BadLines = None, **options: Any
) -> Iterator[tuple[int, Record]]:
    """Stream records with their line numbers; 0 if the line is unknown.

    A concept on several lines may come in as many records.
    RAISES (MedlinkError): as `read`.
    """
    reader = get_reader(format)
    if not path.exists():
        raise Errors.source_missing(path=path)
    numbered = getattr(import_module(f".{FORMATS[format]}", __name__), "numbered", None)
    if numbered is None:
        return ((0, record) for record in reader(path, bad_lines, **options))
    found: Iterator[tuple[int, Record]] = numbered(path, bad_lines, **options)
    return found
