"""Annotated notes as two tables, as in the SNOMED CT entity-linking challenge.

One table has annotations (note_id, start, end, concept_id), another beside it the notes (note_id,
text).
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ..errors import Errors, MedlinkError
from ..text.context import find_sections, shipped_cues
from ..types import BadLine
from ..util.outputs import marked
from .readers.headers import folded, places_of
from .readers.rows import read_table

TABLES = (".csv", ".xlsx")
COLUMNS = ("note_id", "start", "end", "concept_id")
ANNOTATIONS_FILE = marked("a table of annotations", ",".join(COLUMNS))
_EXPECTED = f"a table with the columns {', '.join(COLUMNS)}"
_Row = tuple[int, dict[str, str]]


class Annotation(NamedTuple):
    """A span of a note with its concept; start and end are in characters."""

    note_id: str
    start: int
    end: int
    concept_id: str


def read_annotations(path: Path) -> list[Annotation]:
    """Read a table of annotations.

    RAISES (MedlinkError): E107 without the file, E401 for a line that is no annotation, E404 for
        a table without any.
    """
    if not path.is_file():
        raise Errors.source_missing(path=path)
    annotations = []
    for line, row in _table(path)[1]:
        try:
            note_id, start, end, concept_id = (row[column].strip() for column in COLUMNS)
            annotation = Annotation(note_id, int(start), int(end), concept_id)
        except (KeyError, ValueError) as error:
            raise _bad(path, line, "it is no annotation") from error
        if not 0 <= annotation.start < annotation.end:
            raise _bad(path, line, f"the span {start}-{end} is empty")
        annotations.append(annotation)
    if not annotations:
        raise Errors.no_gold(path=path)
    return annotations


def dump_annotations(annotations: Iterable[Annotation]) -> str:
    """Write annotations as a table that `read_annotations` reads."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *annotations])
    return text.getvalue()


def read_annotated_notes(path: Path) -> Iterator[dict[str, object]]:
    """Stream the notes of a table of annotations as documents of a gold file, or bare mentions.

    A table with a column of mentions and one of ids, by usual headers, has bare mentions.

    The type of a mention is the section of its note, so that a memory that is learned from them
    has the section as its condition.

    RAISES (MedlinkError): as `read_annotations`; E401 where no table beside it has the notes, or a
        note is missing.
    """
    header, rows = _table(path)
    if not {*COLUMNS} <= {*header} and (bare := _bare_mentions(header, rows)):
        yield from bare
        return
    by_note: dict[str, list[Annotation]] = {}
    for annotation in read_annotations(path):
        by_note.setdefault(annotation.note_id, []).append(annotation)
    notes = _notes_beside(path)
    if missing := next((note for note in by_note if note not in notes), None):
        raise _bad(path, 1, f"no table beside it has note {missing!r} (note_id, text)")
    for note_id, annotations in by_note.items():
        text = notes[note_id]
        sections = sections_of(text, [annotation.start for annotation in annotations])
        mentions = [
            {"start": start, "end": end, "mention": text[start:end], "ids": [concept_id],
             "type": section}
            for (_, start, end, concept_id), section in zip(annotations, sections, strict=True)
        ]  # fmt: skip
        yield {"doc_id": note_id, "text": text, "mentions": mentions}


def sections_of(text: str, places: Iterable[int], lang: str = "en") -> list[str]:
    """List the names of the sections that places of a note are in, "" for none."""
    parts = find_sections(text, shipped_cues(lang))
    return [
        next((part.section.name for part in parts if part.start <= position < part.end), "")
        for position in places
    ]


def _notes_beside(path: Path) -> dict[str, str]:
    notes: dict[str, str] = {}
    tables = (file for file in path.parent.glob("*.*") if file.suffix in TABLES)
    for table in sorted(tables):
        header, rows = list[str](), iter(list[_Row]())
        with suppress(MedlinkError):  # whatever else lies there
            header, rows = _table(table)
        for line, row in rows if {"note_id", "text"} <= {*header} else ():
            if not row["note_id"] or not row["text"]:
                raise _bad(table, line, "it is no note (note_id, text)")
            notes[row["note_id"].strip()] = row["text"]
    return notes


def _bare_mentions(header: list[str], rows: Iterator[_Row]) -> Iterator[dict[str, object]] | None:
    """Read a table of mentions with ids, separated by "|" or ";"; None for another table."""
    headers = ["name" if title == "mention" else title for title in map(folded, header)]
    names, ids = places_of("name", headers), places_of("id", headers)
    if not (names and ids) or "start" in headers:
        return None
    mention, id = header[names[0]], header[ids[0]]
    return (
        {"mention": row[mention], "ids": re.split(r"\s*[|;]\s*", row[id].strip())}
        for _, row in rows if row[mention] and row[id]
    )  # fmt: skip


def _table(path: Path) -> tuple[list[str], Iterator[_Row]]:
    """Read the header of a table, and its rows."""
    rows = _sound(path)
    header = next(rows, (0, list[str]()))[1]
    filled = ((line, [*cells, *[""] * len(header)]) for line, cells in rows)
    return header, ((line, dict(zip(header, cells, strict=False))) for line, cells in filled)


def _sound(path: Path) -> Iterator[tuple[int, list[str]]]:
    bad: list[BadLine] = []
    for row in chain(read_table(path, bad, ","), [None]):
        for one in bad:
            raise _bad(path, one.line, f"it cannot be read ({one.problem})")
        if row is not None:
            yield row


def _bad(path: Path, line: int, problem: str) -> Exception:
    return Errors.wrong_line(path=path, line=line, problem=problem, expected=_EXPECTED)
