"""OMOP: the table NOTE_NLP of the common data model 5.3 and 5.4, in CSV."""

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from ..annotate.formats import Format, Record
from ..errors import Warnings
from ..kb.readers.lines import open_source
from ..text.context import KINDS
from ..util.telling import tell
from .shared import SYSTEM, Linked, links_of, said_in, section_of
from .spreadsheets import escaped, unescaped

_COLUMNS = (
    "note_nlp_id", "note_id", "section_concept_id", "snippet", "offset", "lexical_variant",
    "note_nlp_concept_id", "note_nlp_source_concept_id", "nlp_system", "nlp_date", "nlp_datetime",
    "term_exists", "term_temporal", "term_modifiers",
)  # fmt: skip
_LONGEST = 249  # characters of `snippet` and `lexical_variant`, without an apostrophe
_AROUND = 60  # before and behind a mention in its snippet
_OMOP = "OMOP"
# Contexts in which the patient does not have the condition, by the rules of the column.
_ABSENT = ("negated", "hypothetical", "family")


def write(records: Iterable[Record]) -> Iterator[str]:
    """Write the table, one row for each link or NIL; W342 warns of document ids not integer."""
    yield _line(_COLUMNS)
    today, nth, odd, first = date.today().isoformat(), 0, 0, ""
    for record in records:
        id = record["doc_id"]
        if not (id.isascii() and id.isdecimal()):
            odd, first = odd + 1, first or id
        for mention in record["mentions"]:
            for link in links_of(mention) or [Linked("", "", {})]:
                nth += 1
                yield _line([nth, *_row(record, mention, link, today)])
    if odd:
        tell(Warnings.note_ids.format(count=odd, id=first))


def _row(record: Record, mention: Record, link: Linked, today: str) -> list[object]:
    text, start = said_in(record, mention)[:_LONGEST], mention["start"]
    around = min(_AROUND, (_LONGEST - len(text)) // 2)
    snippet = record["text"][max(0, start - around) : start + len(text) + around]
    has_context = all(context_type in mention for context_type in KINDS)
    exists = "N" if any(mention.get(context_type) for context_type in _ABSENT) else "Y"
    temporal = "Past" if mention.get("historical") else "Present"
    concept = next((code for code in link.codes.get(_OMOP, ()) if code.isdecimal()), "0")
    return [
        record["doc_id"], 0, snippet, start, text, concept, 0, SYSTEM, today, "",
        exists if has_context else "", temporal if has_context else "", _modifiers(mention, link),
    ]  # fmt: skip


def _modifiers(mention: Record, link: Linked) -> str:
    modifiers = {
        context_type: str(mention[context_type]).lower()
        for context_type in KINDS
        if context_type in mention
    }
    modifiers["section"] = section_of(mention)
    modifiers["code"] = quote(link.curie, safe=":/") if link.id else ""
    modifiers["probability"] = "" if mention["prob"] is None else str(mention["prob"])
    return ",".join(f"{key}={value}" for key, value in modifiers.items() if value)


def _line(cells: Iterable[object]) -> str:
    file = io.StringIO()
    csv.writer(file).writerow(map(_cell, cells))
    return file.getvalue()


def _cell(cell: object) -> object:
    """Make a cell without NUL, which databases refuse, and that no spreadsheet executes."""
    if not isinstance(cell, str):
        return cell
    return escaped(cell.replace("\0", "\ufffd"))


FORMAT = Format(write, (".csv", ".csv.gz"))


def read_gold(path: Path) -> Iterator[dict[str, Any]]:
    """Make records of a table; the texts of the notes are in another table of OMOP.

    RAISES (KeyError, ValueError, csv.Error): for rows that are none of the table.
    """
    notes: dict[str, dict[tuple[int, str], dict[str, Any]]] = {}
    with open_source(path) as file:
        for row in csv.DictReader(io.StringIO(file.read().decode("utf-8-sig"), newline="")):
            start, said = int(row["offset"]), row["lexical_variant"]
            said = unescaped(said)
            modifiers = dict(each.partition("=")[::2] for each in row["term_modifiers"].split(","))
            concept = row["note_nlp_concept_id"]
            id = unquote(modifiers.get("code", "")) or (concept if concept not in ("", "0") else "")
            place = {"start": start, "end": start + len(said)} if len(said) < _LONGEST else {}
            mentions = notes.setdefault(row["note_id"], {})
            mention = mentions.setdefault((start, said), {"mention": said, "ids": [], **place})
            mention["ids"] += [id] if id else []
    for note_id, by_place in notes.items():
        yield {"doc_id": note_id, "text": None, "mentions": [*by_place.values()]}
