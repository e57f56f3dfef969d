"""Formats of other tools for links: each is a function from records to text, with a name."""

from collections.abc import Mapping

from ...errors import Errors
from . import bioc, brat, fhir, note_nlp, tasks
from .shared import Format, Record

FORMATS: Mapping[str, Format] = {
    "bioc": Format(bioc.write),
    "brat": Format(brat.write, (), brat.write_folder),
    "fhir": Format(fhir.write),
    "label_studio": Format(tasks.write_label_studio),
    "note_nlp": Format(note_nlp.write, (".csv", ".csv.gz")),
    "prodigy": Format(tasks.write_prodigy, (".jsonl", ".jsonl.gz")),
}

__all__ = ["FORMATS", "Format", "Record", "format_named"]


def format_named(name: str) -> Format:
    """Get a format.

    RAISES (MedlinkError): E108 when there is none of this name.
    """
    if name not in FORMATS:
        raise Errors.unknown_choice(what="format", value=name, known=", ".join(FORMATS))
    return FORMATS[name]
