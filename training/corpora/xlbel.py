"""XL-BEL (Liu et al. 2021): 1,000 mentions in each of ten languages, UMLS CUIs.

The files of version 0.0, which the paper measures on, have lines `CUI||mention`, those of 1.0
`CUI||mention||sentence` with the mention between `<tgt>` and `</tgt>`; of the English mentions 595
are the same. The file's name begins with the language. The file of all languages is skipped if
there are files of single languages.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from spacy_medlink.exchange.documents import Document, Mention
from spacy_medlink.exchange.ids import split_ids

from .layout import documents_of, files_of
from .tally import Tally

_CUIS = re.compile(r"CL?\d+(\|CL?\d+)*")
_OPEN, _CLOSE = "<tgt>", "</tgt>"
# By corpus, how its files are called, and what their lines are.
_FILES = {
    "xl-bel": ("_1k_test_query.txt", "lines `CUI||mention`"),
    "xl-bel-v1": ("_1k_test_query_with_context.txt", "lines `CUI||mention||sentence`"),
}


def _read(name: str, source: Path, tally: Tally) -> Iterator[Document]:
    """Stream the mentions, each as a document; all are for testing."""
    ending, form = _FILES[name]
    files = list(files_of(source, f"[a-z]+{ending}", name, f"files like fi{ending}"))
    parse = partial(_document, 1 + form.count("||"))
    for path in [path for path in files if _language(path) != "all"] or files:
        lang = _language(path).replace("all", "und")
        for document in documents_of(path, tally, parse, name, form):
            if document.text and not document.mentions[0].spans:
                tally.fault("sentences without a marked mention", path, document.line)
            yield document._replace(lang=lang, split="test")


read_v0, read_v1 = partial(_read, "xl-bel"), partial(_read, "xl-bel-v1")


def _language(path: Path) -> str:
    return path.name.split("_")[0].lower()


def _document(width: int, line: str) -> Document | None:
    cells = [cell.strip() for cell in line.split("||", 2)]
    if len(cells) != width or not cells[1] or not _CUIS.fullmatch(cells[0]):
        return None
    text, start = _unmarked("".join(cells[2:]))
    spans = ((start, start + len(cells[1])),) if start >= 0 else ()
    return Document("", text or None, (Mention(cells[1], spans, split_ids(cells[0], "|")),), Path())


def _unmarked(sentence: str) -> tuple[str, int]:
    """Remove the marks. RETURNS the text, and the start of the first mention, -1 without one."""
    before, mark, after = sentence.partition(_OPEN)
    if not mark or _CLOSE not in after:
        return sentence, -1
    after = after.replace(_OPEN, "").replace(_CLOSE, "")
    lead = len(after) - len(after.lstrip())
    return before + after, len(before) + lead
