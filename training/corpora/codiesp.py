"""CodiEsp (Miranda-Escalada et al. 2020): 1,000 Spanish clinical cases, CIE-10.

`trainX.tsv`, `devX.tsv`, `testX.tsv` have no header: file, DIAGNOSTICO or PROCEDIMIENTO, code,
words, places ("12 20;25 31"). CodiEsp-D has only the diagnoses; its `trainD.tsv` is not read, since
it gives codes of whole documents, not of mentions. Codes become upper case, as in ICD-10.
"""

from collections.abc import Iterator
from pathlib import Path

from .formats.brat import spans_of
from .formats.tables import read_cells
from .formats.text import read_text
from .ids import split_ids
from .layout import beside, files_of, split_of, walk
from .records import Document, Mention
from .tally import Tally

_EXPECTED = "final_dataset_v4_to_publish with its train/, dev/ and test/"
_DIAGNOSIS = "DIAGNOSTICO"


def read_diagnoses(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the documents with their diagnoses (CodiEsp-D)."""
    for document in read_all(source, tally):
        kept = tuple(mention for mention in document.mentions if mention.type == _DIAGNOSIS)
        dropped = len(document.mentions) - len(kept)
        if dropped:
            tally.drop("procedures, which CodiEsp-D leaves to CodiEsp-P", dropped)
        yield document._replace(mentions=kept)


def read_all(source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the documents with diagnoses and procedures (CodiEsp-X)."""
    texts = {path: path.stem for path in walk(beside(source)) if path.suffix == ".txt"}
    tables = list(files_of(source, r"(train|dev|test)X\.tsv", "codiesp-x", _EXPECTED))
    for table in tables:
        mentions = _mentions(table, tally)
        for path, name in texts.items():
            # The texts of a single table may be in its directory, or in one beside it.
            if table.parent not in path.parents and len(tables) > 1:
                continue
            text = read_text(path, tally)
            if text is not None:
                split = split_of(table, source)
                of_document = tuple(mentions.pop(name, ()))
                yield Document(name, text, of_document, table, "es", split)
        if mentions:
            for name, lost in mentions.items():
                tally.fault("documents without a text file", table, lost[0].line, name)


def _mentions(table: Path, tally: Tally) -> dict[str, list[Mention]]:
    by_document: dict[str, list[Mention]] = {}
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
