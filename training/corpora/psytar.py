"""PsyTAR (Zolnoori et al. 2019): 891 drug reviews, UMLS and SNOMED CT.

A workbook, or its sheets as CSV files with their names. `Sentence_Labeling` has the sentences,
`ADR_Mapped`, `WD-Mapped`, `SSI_Mapped` and `DI_Mapped` the mentions with their ids. There are no
offsets: a mention is searched for in its sentence. It is kept without offsets where it is not
found, since annotators sometimes reordered words. Each sentence is a document.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from spacy_medlink.errors import MedlinkError
from spacy_medlink.exchange.documents import Document, Ids, Mention
from spacy_medlink.exchange.ids import cuis_in, numbers_in, together
from spacy_medlink.exchange.lines import unreadable
from spacy_medlink.kb.readers.xlsx import read_sheets

from .layout import find_said, no_corpus, walk
from .tables import read_cells
from .tally import Tally

_EXPECTED = "PsyTAR_dataset.xlsx, or its sheets as CSV files"
_SENTENCES = "sentencelabeling"
# By sheet, the type of its mentions and the column of their text.
_MAPPED = {
    "adrmapped": ("ADR", "adrs"),
    "wdmapped": ("WD", "wds"),
    "ssimapped": ("SSI", "ssi"),
    "dimapped": ("DI", "dis"),
}
_KEYS = ("sentence_index", "sentence_id")
Rows = list[tuple[int, list[str]]]


def _read(vocabulary: str, source: Path, tally: Tally) -> Iterator[Document]:
    sheets = {_plain(name): rows for name, rows in _sheets(source, tally)}
    if _SENTENCES not in sheets or not _MAPPED.keys() & sheets.keys():
        sheets_there = ", ".join(sheets) or "nothing"
        problem = f"the sheets Sentence_Labeling and ADR_Mapped are not in it, but {sheets_there}"
        raise no_corpus(source, "psytar", problem, _EXPECTED)
    mentions: dict[str, list[Mention]] = {}
    for sheet, (type, column) in _MAPPED.items():
        for key, mention in _mentions(sheets.get(sheet, []), type, column, vocabulary):
            mentions.setdefault(key, []).append(mention)
    header, rows = _header(sheets[_SENTENCES])
    for line, cells in rows:
        row = dict(zip(header, cells, strict=False))
        key, text = _key(row), row.get("sentences", "")
        if key and text.strip():
            placed = tuple(_placed(text, mentions.pop(key, [])))
            yield Document(key, text, placed, source, line=line)
    for key, lost in mentions.items():
        tally.note("mentions of sentences that are not there: a document without text", len(lost))
        yield Document(f"{key} (no sentence)", None, tuple(lost), source)


read_umls = partial(_read, "umls")
read_snomed = partial(_read, "snomed")


def _sheets(source: Path, tally: Tally) -> Iterator[tuple[str, Rows]]:
    files = [source] if source.is_file() else list(walk(source))
    for path in files:
        if path.suffix.lower() == ".xlsx":
            try:
                for name, rows in read_sheets(path):
                    yield name, list(rows)
            except MedlinkError as error:
                raise unreadable(path, error) from error
        elif path.suffix.lower() == ".csv":
            yield path.stem, list(read_cells(path, tally))


def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def _header(rows: Rows) -> tuple[list[str], Rows]:
    return ([cell.strip().lower() for cell in rows[0][1]], rows[1:]) if rows else ([], [])


def _key(row: dict[str, str]) -> str:
    """Name a sentence: drug_id and number, which spreadsheets may write as 3.0."""
    sentence_number = (
        next((row[key] for key in _KEYS if row.get(key)), "").strip().removesuffix(".0")
    )
    drug = row.get("drug_id", "").strip()
    return f"{drug}#{sentence_number}" if drug and sentence_number else ""


def _mentions(rows: Rows, type: str, column: str, vocabulary: str) -> Iterator[tuple[str, Mention]]:
    header, rows = _header(rows)
    for line, cells in rows:
        row = dict(zip(header, cells, strict=False))
        mention_text, key = row.get(column, "").strip(), _key(row)
        if mention_text and key:
            # Two columns may have the same name, so a row as a dictionary is not enough.
            pairs = list(zip(header, cells, strict=False))
            codes = [cell for name, cell in pairs if name.startswith(vocabulary)]
            yield key, Mention(mention_text, (), _link(codes, vocabulary), type, line=line)


def _link(cells: list[str], vocabulary: str) -> Ids:
    """Read the ids of all columns of a vocabulary: a mention may need two concepts."""
    find = cuis_in if vocabulary == "umls" else numbers_in
    return together(*(id for cell in cells for id in find(cell)))


def _placed(text: str, mentions: list[Mention]) -> Iterator[Mention]:
    """Add offsets to each mention; the second of two equal mentions gets the second place."""
    ends: dict[str, int] = {}
    for mention in mentions:
        mention_text = mention.said.lower()
        spans = find_said(text, mention.said, ends.get(mention_text, 0)) or find_said(
            text, mention.said
        )
        if spans:
            ends[mention_text] = spans[0][1]
        yield mention._replace(spans=spans)
