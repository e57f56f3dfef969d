"""brat standoff: a text and an `.ann` file for each document, in one directory.

https://brat.nlplab.org/standoff.html
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..annotate.formats import Format, Record
from ..text.context import KINDS
from .shared import file_name, kinds_of, links_of, said_in, section_of

# Characters that some program takes for the end of a line of `.ann`; a tab divides its columns.
_PIECE = re.compile("[^\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")


def write(records: Iterable[Record]) -> Iterator[str]:
    """Write the lines of `.ann` files."""
    return (_annotations(record) for record in records)


def write_folder(records: Iterable[Record], folder: Path) -> None:
    """Write the files of documents, named after their ids, and `annotation.conf`."""
    types, sections, repeated = set[str](), set[str](), Counter[str]()
    for record in records:
        types.update(_type(mention) for mention in record["mentions"])
        sections.update(_word(section_of(mention)) for mention in record["mentions"])
        name = file_name(record["doc_id"], folder, repeated, ".txt")
        (folder / f"{name}.txt").write_bytes(record["text"].encode())
        (folder / f"{name}.ann").write_bytes(_annotations(record).encode())
    kinds = [f"{context_type.title()}\tArg:<ENTITY>" for context_type in KINDS]
    names = "|".join(sorted(sections - {""}))
    kinds += [f"Section\tArg:<ENTITY>, Value:{names}"] if names else []
    lines = ["[entities]", *sorted(types), "[relations]", "[events]", "[attributes]", *kinds, ""]
    (folder / "annotation.conf").write_text("\n".join(lines), encoding="utf-8")


def _annotations(record: Record) -> str:
    """Write mentions as T lines, links as N lines, context as A lines, probabilities as notes."""
    lines: dict[str, list[str]] = {"T": [], "N": [], "A": [], "#": []}
    for nth, mention in enumerate(record["mentions"], 1):
        mark, section = f"T{nth}", _word(section_of(mention))
        lines["T"].append(f"{_type(mention)} {_place(record, mention)}")
        for link in links_of(mention):
            id, name = "%20".join(link.curie.split()), " ".join(link.name.split())
            lines["N"].append(f"Reference {mark} {id}\t{name}")
        lines["A"] += [f"{context_type.title()} {mark}" for context_type in kinds_of(mention)]
        lines["A"] += [f"Section {mark} {section}"] if section else []
        if mention["prob"] is not None:
            lines["#"].append(f"AnnotatorNotes {mark}\tprobability {mention['prob']}")
    return "".join(
        f"{letter}{nth}\t{line}\n"
        for letter, its_lines in lines.items()
        for nth, line in enumerate(its_lines, 1)
    )


def _place(record: Record, mention: Record) -> str:
    """Write the offsets and the text of a mention; on several lines it is discontinuous."""
    pieces = list(_PIECE.finditer(said_in(record, mention)))
    spans = [
        f"{mention['start'] + piece.start()} {mention['start'] + piece.end()}" for piece in pieces
    ]
    return f"{';'.join(spans)}\t{' '.join(piece[0] for piece in pieces)}"


def _type(mention: Record) -> str:
    return _word(mention["type"]) or "Mention"


def _word(text: str) -> str:
    return _NO_NAME.sub("_", text).strip("_")


FORMAT = Format(write, (), write_folder)
