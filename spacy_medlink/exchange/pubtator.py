"""PubTator: `id|t|title`, `id|a|abstract`, then a mention a line, then a blank line.

A mention is `id start end text type ids`, tab-separated; BC5CDR adds the parts of composite
mentions. Offsets count characters of title and abstract with one character between them.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from .documents import Document, Ids, Mention, Problems
from .ids import split_ids
from .lines import read_lines, to_span

_PASSAGE = re.compile(r"([^|\t]+)\|([ta])\|(.*)", re.DOTALL)
ReadIds = Callable[[str], Ids]


class _Block:
    """The document that is being read."""

    def __init__(self, doc_id: str, path: Path, line: int) -> None:
        self.doc_id, self.path, self.line = doc_id, path, line
        self.passages = {"t": "", "a": ""}
        self.mentions: list[Mention] = []

    def document(self) -> Document:
        text = f"{self.passages['t']} {self.passages['a']}"
        return Document(self.doc_id, text, tuple(self.mentions), self.path, line=self.line)


def read_pubtator(
    path: Path, problems: Problems, read_ids: ReadIds = split_ids
) -> Iterator[Document]:
    """Stream the documents of a PubTator file, plain or `.gz`.

    read_ids (Callable[[str], Ids]): reads a cell of ids of this corpus.
    """
    block: _Block | None = None
    for line_number, line in read_lines(path, problems):
        passage = _PASSAGE.fullmatch(line)
        if passage:
            doc_id, passage_type, text = passage.groups()
            if block is None or block.doc_id != doc_id.strip() or passage_type == "t":
                if block is not None:
                    yield block.document()
                block = _Block(doc_id.strip(), path, line_number)
            block.passages[passage_type] = text
        elif not line.strip():
            if block is not None:
                yield block.document()
            block = None
        else:
            _add(block, line.split("\t"), path, line_number, problems, read_ids)
    if block is not None:
        yield block.document()


def _add(
    block: _Block | None,
    cells: list[str],
    path: Path,
    line: int,
    problems: Problems,
    read_ids: ReadIds,
) -> None:
    if block is None or cells[0].strip() != block.doc_id:
        problems.fault("lines that belong to no document", path, line)
    elif len(cells) == 4 and not cells[1].isdecimal():
        problems.drop("relations between concepts")
    else:
        mention = _mention(cells, line, read_ids)
        if mention is None:
            problems.fault("lines that are no mention", path, line)
        else:
            block.mentions.append(mention)


def _mention(cells: list[str], line: int, read_ids: ReadIds) -> Mention | None:
    if len(cells) < 5:
        return None
    _, start, end, mention_text, type, *rest = (cell.strip() for cell in cells)
    span = to_span(start, end)
    if span is None:
        return None
    link = read_ids(rest[0] if rest else "")
    parts = tuple(filter(None, rest[1].split("|"))) if len(rest) > 1 else ()
    return Mention(mention_text, (span,), link, type, parts if link.composite else (), line)
