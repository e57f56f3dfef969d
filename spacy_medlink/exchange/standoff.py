"""brat standoff, read: `T1<tab>TYPE 0 5;9 12<tab>text`, with notes and references for each id."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from .documents import Document, Ids, Mention, Problems, Span
from .ids import either, is_id, together
from .lines import read_lines, to_span


class Bound(NamedTuple):
    """A text-bound annotation; its spans are in the order of the text."""

    type: str
    spans: tuple[Span, ...]
    said: str
    line: int


class Standoff(NamedTuple):
    """An `.ann` file.

    bounds (Dict[str, Bound]): by their ids ("T1"). notes (Dict[str, List[str]]): what annotators
    wrote about an id. references (Dict[str, List[str]]): the concepts of normalisations (N lines).
    """

    bounds: dict[str, Bound]
    notes: dict[str, list[str]]
    references: dict[str, list[str]]


def read_brat(path: Path, problems: Problems) -> Standoff:
    """Read an `.ann` file; relations, events and attributes are left out."""
    standoff = Standoff({}, {}, {})
    for line_number, line in read_lines(path, problems):
        id, _, rest = line.partition("\t")
        head, _, tail = rest.partition("\t")
        if not line.strip():
            continue
        if id.startswith("T") and (bound := _bound(head, tail, line_number)):
            if id in standoff.bounds:
                problems.fault("annotations whose id another one has", path, line_number)
            else:
                standoff.bounds[id] = bound
        elif id.startswith("#") and len(names := head.split()) == 2:
            standoff.notes.setdefault(names[1], []).append(tail.strip())
        elif id.startswith("N") and len(names := head.split()) == 3:
            standoff.references.setdefault(names[1], []).append(names[2])
        elif id[:1] in tuple("AMREN*"):
            problems.drop("relations, events, attributes and normalisations")
        else:
            problems.fault("lines that are no annotation", path, line_number)
    return standoff


def _bound(head: str, mention_text: str, line: int) -> Bound | None:
    type, _, offsets = head.partition(" ")
    spans = spans_of(offsets)
    return Bound(type, spans, mention_text.strip(), line) if type and spans else None


def spans_of(offsets: str) -> tuple[Span, ...]:
    """Read "0 5;9 12"; () for any other form."""
    spans = []
    for piece in re.split(r"\s*;\s*", offsets.strip()):
        numbers = piece.split()
        span = to_span(*numbers) if len(numbers) == 2 else None
        if span is None:
            return ()
        spans.append(span)
    return tuple(sorted(spans))


def read_documents(path: Path, problems: Problems) -> Iterator[Document]:
    """Read an `.ann` file with the text beside it. A type may be the id, as Mantra's are."""
    beside = path.with_suffix(".txt")
    text = None
    if not beside.is_file():
        problems.fault(f"no text beside it ({beside.name})", path, 1)
    try:
        text = beside.read_bytes().decode()  # whatever it holds: offsets count a byte-order mark
    except UnicodeDecodeError:
        problems.fault(f"a text beside it that is not UTF-8 ({beside.name})", path, 1)
    standoff = read_brat(path, problems)
    mentions = []
    for id, bound in standoff.bounds.items():
        link = _link(standoff.references.get(id, []), standoff.notes.get(id, []))
        if is_id(bound.type) and not link.ids:
            link, bound = either(bound.type), bound._replace(type="")
        mentions.append(Mention(bound.said, bound.spans, link, bound.type, line=bound.line))
    yield Document(unquote(path.stem), text, tuple(mentions), path, line=1)


def _link(references: list[str], notes: list[str]) -> Ids:
    """Take the concepts that a normalisation, or else a note, names."""
    if references:
        # "HPO:HP:0001945" has the name of the database before the id.
        return together(*(re.sub(r"^\w+:(?=\w+:)", "", unquote(each)) for each in references))
    for note in notes:
        codes = re.split(r"[|+;,\s]+", note.strip())
        if not all(re.search(r"\d", code) and len(code) < 30 for code in codes):
            codes = [code for code in codes if is_id(code)]  # among words
        if codes:
            return together(*codes)
    return Ids()
