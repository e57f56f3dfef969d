"""DisTEMIST, MedProcNER and SympTEMIST (2022-2023): the same 1,000 Spanish cases, SNOMED CT.

Each has tables of linked mentions with its own column names, and texts in `.txt` files. "a+b" is a
composite mention, NO_CODE is NIL. DisTEMIST links only part of its training texts (training1 and
training2). The fullest of the SympTEMIST tables is read.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from .formats.tables import Aliases, read_table
from .formats.text import read_text, to_span
from .ids import split_ids
from .layout import beside, files_of, nearest, split_of, texts_of
from .records import Document, Mention
from .tally import Tally

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


def _read(name: str, source: Path, tally: Tally) -> Iterator[Document]:
    texts = texts_of(beside(source))
    expected = f"the unpacked release, with tables like {_TABLES[name]}"
    tables = _fullest(list(files_of(source, _TABLES[name], name, expected)))
    used = set[Path]()
    for table in tables:
        for doc_id, mentions in _mentions(table, tally).items():
            path = nearest(texts.get(doc_id, ()), table)
            if path is None:
                tally.fault("documents without a text file", table, mentions[0].line, doc_id)
                continue
            used.add(path)
            text = read_text(path, tally)
            if text is not None:
                split = split_of(table, source)
                yield Document(doc_id, text, tuple(mentions), table, "es", split)
    unused = sum(path not in used for paths in texts.values() for path in paths)
    if unused:
        tally.drop("text files that no table speaks of", unused)


read_distemist = partial(_read, "distemist")
read_medprocner = partial(_read, "medprocner")
read_symptemist = partial(_read, "symptemist")


def _fullest(tables: list[Path]) -> list[Path]:
    """Take the longest name of tables that differ only in `_complete` and `+COMPOSITE`."""
    best: dict[tuple[Path, str], Path] = {}
    for table in tables:
        key = (table.parent, re.sub(r"_complete|\+COMPOSITE", "", table.name))
        best[key] = max(best.get(key, table), table, key=lambda path: len(path.name))
    return list(best.values())


def _mentions(table: Path, tally: Tally) -> dict[str, list[Mention]]:
    by_document: dict[str, list[Mention]] = {}
    for line, row in read_table(table, tally, _COLUMNS):
        span = to_span(row["start"], row["end"])
        if span is None or not row["file"]:
            tally.fault("rows without a file and offsets", table, line)
            continue
        link = split_ids(row["code"], "+|")
        mention = Mention(row["said"], (span,), link, row["type"], line=line)
        by_document.setdefault(row["file"].removesuffix(".txt"), []).append(mention)
    return by_document
