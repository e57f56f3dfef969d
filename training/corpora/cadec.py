"""Cadec (Karimi et al. 2015): 1,250 posts of patients, SNOMED CT and AMT, or MedDRA.

`text/LIPITOR.1.txt`; `original/LIPITOR.1.ann` gives the types (`T1<tab>ADR 9 19<tab>bit drowsy`),
`sct/` and `meddra/` the codes (`TT1<tab>271782001 | Drowsy | 9 19<tab>bit drowsy`). The lines were
written by hand: spaces for tabs, codes joined by "+" (together) or "or" and "/" (either).
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from spacy_medlink.exchange.documents import Document, Ids, Mention, Span
from spacy_medlink.exchange.ids import either, numbers_in, together
from spacy_medlink.exchange.lines import read_lines, read_text
from spacy_medlink.exchange.standoff import spans_of

from .layout import beside, no_corpus, walk
from .tally import Tally

_EXPECTED = "the directory with text/, original/, sct/ and meddra/"
_OFFSETS = re.compile(r"[\s|]*(?<!\d)(\d+ +\d+(?: *; *\d+ +\d+)*)[\s;]*$")


def _read(vocabulary: str, source: Path, tally: Tally) -> Iterator[Document]:
    folder = beside(source)
    by_kind: dict[str, dict[str, Path]] = {"text": {}, "original": {}, vocabulary: {}}
    for path in walk(folder):
        if path.parent.name.lower() in by_kind:
            by_kind[path.parent.name.lower()][path.stem] = path
    if not by_kind["text"] or not by_kind[vocabulary]:
        raise no_corpus(source, "cadec", f"text/ and {vocabulary}/ are not in it", _EXPECTED)
    for name, path in by_kind["text"].items():
        text = read_text(path, tally, fallback="latin-1")
        codes = by_kind[vocabulary].get(name)
        if codes is None:
            tally.fault("texts without an annotation file", path)
        elif text is not None:
            types = dict(_types(by_kind["original"].get(name), tally))
            yield Document(name, text, tuple(_mentions(codes, types, tally)), codes)


read_snomed = partial(_read, "sct")
read_meddra = partial(_read, "meddra")


def _annotations(path: Path, tally: Tally) -> Iterator[tuple[int, list[str]]]:
    for line_number, line in read_lines(path, tally, fallback="latin-1"):
        cells = re.split(r"\t| {4,}", line.strip())
        if cells[0].startswith("T"):
            yield line_number, cells
        elif line.strip() and not line.startswith("#"):
            tally.fault("lines that are no annotation", path, line_number)


def _types(path: Path | None, tally: Tally) -> Iterator[tuple[str, str]]:
    for _, cells in _annotations(path, tally) if path else ():
        if len(cells) > 1:
            yield f"T{cells[0]}", cells[1].split(" ")[0]


def _mentions(path: Path, types: dict[str, str], tally: Tally) -> Iterator[Mention]:
    for line_number, cells in _annotations(path, tally):
        body = " ".join(cells[1:-1]) if len(cells) > 2 else ""
        spans, codes = _split(body)
        if not spans:
            tally.fault("lines that are no annotation", path, line_number)
            continue
        yield Mention(
            cells[-1].strip(), spans, _link(codes), types.get(cells[0], ""), line=line_number
        )


def _split(body: str) -> tuple[tuple[Span, ...], str]:
    """Split "271782001 | Drowsy | 9 19" into its offsets and the rest."""
    offsets = _OFFSETS.search(body)
    if not offsets:
        return (), body
    return spans_of(offsets[1]), body[: offsets.start()]


def _link(codes: str) -> Ids:
    """Read the codes; CONCEPT_LESS has none."""
    return together(*numbers_in(codes)) if "+" in codes else either(*numbers_in(codes))
