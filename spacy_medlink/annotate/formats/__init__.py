"""Formats of other tools for links: each is a function from records to text, with a name."""

from collections.abc import Mapping

from ...errors import Errors
from . import bioc, brat, fhir, label_studio, note_nlp, prodigy
from .shared import Format, Record

FORMATS: Mapping[str, Format] = {
    "bioc": Format(bioc.write),
    "brat": Format(brat.write, (), "text/plain", brat.write_folder),
    "fhir": Format(fhir.write, media="application/fhir+json"),
    "label_studio": Format(label_studio.write),
    "note_nlp": Format(note_nlp.write, (".csv", ".csv.gz"), "text/csv"),
    "prodigy": Format(prodigy.write, (".jsonl", ".jsonl.gz"), "application/x-ndjson"),
}

__all__ = ["FORMATS", "Format", "Record", "format_named"]


def format_named(name: str) -> Format:
    """Get a format.

    RAISES (MedlinkError): E108 when there is none of this name.
    """
    if name not in FORMATS:
        raise Errors.unknown_choice(what="format", value=name, known=", ".join(FORMATS))
    return FORMATS[name]
