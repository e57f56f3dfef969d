"""brat standoff: `T1<tab>TYPE 0 5;9 12<tab>text`, with notes for each id."""

import re
from pathlib import Path
from typing import NamedTuple

from ..records import Span
from ..tally import Tally
from .text import read_lines, to_span


class Bound(NamedTuple):
    """A text-bound annotation; its spans are in the order of the text."""

    type: str
    spans: tuple[Span, ...]
    said: str
    line: int


class Standoff(NamedTuple):
    """An `.ann` file.

    bounds (Dict[str, Bound]): by their ids ("T1"). notes (Dict[str, List[str]]): what annotators
    wrote about an id.
    """

    bounds: dict[str, Bound]
    notes: dict[str, list[str]]


def read_brat(path: Path, tally: Tally) -> Standoff:
    """Read an `.ann` file; relations, events, attributes and normalisations are left out."""
    standoff = Standoff({}, {})
    for line_number, line in read_lines(path, tally):
        id, _, rest = line.partition("\t")
        head, _, tail = rest.partition("\t")
        if not line.strip():
            continue
        if id.startswith("T") and (bound := _bound(head, tail, line_number)):
            if id in standoff.bounds:
                tally.fault("annotations whose id another one has", path, line_number)
            else:
                standoff.bounds[id] = bound
        elif id.startswith("#") and len(names := head.split()) == 2:
            standoff.notes.setdefault(names[1], []).append(tail.strip())
        elif id[:1] in tuple("AMREN*"):
            tally.drop("relations, events, attributes and normalisations")
        else:
            tally.fault("lines that are no annotation", path, line_number)
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
