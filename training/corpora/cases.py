"""Spanish clinical cases: tables of mentions beside text files.

CodiEsp (Miranda-Escalada et al. 2020): 1,000 cases, CIE-10. `trainX.tsv`, `devX.tsv`, `testX.tsv`
have no header: file, DIAGNOSTICO or PROCEDIMIENTO, code, words, places ("12 20;25 31"). CodiEsp-D
has only the diagnoses; its `trainD.tsv` is not read, since it gives codes of whole documents, not
of mentions. Codes become upper case, as in ICD-10.

DisTEMIST, MedProcNER and SympTEMIST (2022-2023): the same 1,000 cases, SNOMED CT. Each has its own
column names. "a+b" is a composite mention, NO_CODE is NIL. DisTEMIST links only part of its
training texts (training1 and training2). The fullest of the SympTEMIST tables is read.
"""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from spacy_medlink.exchange.documents import Document, Mention
from spacy_medlink.exchange.ids import split_ids
from spacy_medlink.exchange.lines import read_text, to_span
from spacy_medlink.exchange.standoff import spans_of

from .layout import beside, files_of, nearest, split_of, texts_of
from .tables import Aliases, read_cells, read_table
from .tally import Tally

_CODIESP = "final_dataset_v4_to_publish with its train/, dev/ and test/"
_DIAGNOSIS = "DIAGNOSTICO"
_COLUMNS: Aliases = {
    "file": ("filename",),
    "type": ("label",),
    "start": ("off0", "start_span", "span_ini"),
    "end": ("off1", "end_span", "span_end"),
    "said": ("span", "text"),
    "code": ("code",),
}
_TABLES = {
    "distemist": r"distemist_subtrack2_.*linking\.tsv",
    "medprocner": r"medprocner_tsv_(train|test)_subtask2\.tsv",
    "symptemist": r"symptemist_tsv_(train|test)_subtask2(_complete)?(\+COMPOSITE)?\.tsv",
}
Texts = dict[str, list[Path]]
ByDocument = dict[str, list[Mention]]


def read_codiesp_d(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the documents with their diagnoses (CodiEsp-D)."""
    for document in read_codiesp_x(source, tally):
        kept = tuple(mention for mention in document.mentions if mention.type == _DIAGNOSIS)
        dropped = len(document.mentions) - len(kept)
        if dropped:
            tally.drop("procedures, which CodiEsp-D leaves to CodiEsp-P", dropped)
        yield document._replace(mentions=kept)


def read_codiesp_x(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the documents with diagnoses and procedures, also those without any (CodiEsp-X)."""
    texts = texts_of(beside(source))
    tables = list(files_of(source, r"(train|dev|test)X\.tsv", "codiesp-x", _CODIESP))
    for table in tables:
        # The texts of a single table may be in its directory, or in one beside it.
        of_table = {
            name: near
            for name, paths in texts.items()
            if (near := [p for p in paths if table.parent in p.parents or len(tables) == 1])
        }
        mentions = _codiesp_mentions(table, tally)
        names = dict.fromkeys([*of_table, *mentions])
        yield from _documents(table, names, mentions, of_table, source, tally)


def _codiesp_mentions(table: Path, tally: Tally) -> ByDocument:
    by_document: ByDocument = {}
    for line, cells in read_cells(table, tally, "\t"):
        cells = [cell.strip() for cell in cells]
        spans = spans_of(cells[4]) if len(cells) >= 5 else ()
        if not spans:
            tally.fault("rows without five cells and places", table, line)
            continue
        name, type, code, mention_text, _ = cells[:5]
        link = split_ids(code.upper(), "|+")
        by_document.setdefault(name, []).append(Mention(mention_text, spans, link, type, line=line))
    return by_document


def _read(name: str, source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the documents that a table of DisTEMIST, MedProcNER or SympTEMIST speaks of."""
    texts = texts_of(beside(source))
    expected = f"the unpacked release, with tables like {_TABLES[name]}"
    used = set[Path]()
    for table in _fullest(list(files_of(source, _TABLES[name], name, expected))):
        mentions = _mentions(table, tally)
        used.update(path for id in mentions if (path := nearest(texts.get(id, ()), table)))
        yield from _documents(table, mentions, mentions, texts, source, tally)
    unused = sum(path not in used for paths in texts.values() for path in paths)
    if unused:
        tally.drop("text files that no table speaks of", unused)


read_distemist = partial(_read, "distemist")
read_medprocner = partial(_read, "medprocner")
read_symptemist = partial(_read, "symptemist")


def _documents(
    table: Path, names: Iterable[str], mentions: ByDocument, texts: Texts, source: Path,
    tally: Tally,
) -> Iterator[Document]:  # fmt: skip
    """Stream documents of a table, each with the nearest text of its name."""
    for name in names:
        path = nearest(texts.get(name, ()), table)
        if path is None:
            tally.fault("documents without a text file", table, mentions[name][0].line, name)
        elif (text := read_text(path, tally)) is not None:
            split = split_of(table, source)
            yield Document(name, text, tuple(mentions.get(name, ())), table, "es", split)


def _fullest(tables: list[Path]) -> list[Path]:
    """Take the longest name of tables that differ only in `_complete` and `+COMPOSITE`."""
    best: dict[tuple[Path, str], Path] = {}
    for table in tables:
        key = (table.parent, re.sub(r"_complete|\+COMPOSITE", "", table.name))
        best[key] = max(best.get(key, table), table, key=lambda path: len(path.name))
    return list(best.values())


def _mentions(table: Path, tally: Tally) -> ByDocument:
    by_document: ByDocument = {}
    for line, row in read_table(table, tally, _COLUMNS):
        span = to_span(row["start"], row["end"])
        if span is None or not row["file"]:
            tally.fault("rows without a file and offsets", table, line)
            continue
        link = split_ids(row["code"], "+|")
        mention = Mention(row["said"], (span,), link, row["type"], line=line)
        by_document.setdefault(row["file"].removesuffix(".txt"), []).append(mention)
    return by_document
