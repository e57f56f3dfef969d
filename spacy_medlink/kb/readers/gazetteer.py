"""Gazetteers of DisTEMIST, MedProcNER, SympTEMIST and CANTEMIST: one term of a code a line."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

from ...errors import Errors
from ...types import BadLine, Concept, Name, Record
from ..writer import unite
from .fields import FieldError, identifier, surface
from .lines import report
from .rows import Row, read_rows

# The columns, and their headers in the corpora and in other releases of these.
_HEADERS = {
    "code": ("code", "codigo", "código"),
    "term": ("term", "description", "descripcion", "descripción", "name"),
    "language": ("language", "lang"),
    "tag": ("semantic_tag", "tag"),
    "main": ("mainterm", "main_term"),
}
_BARE = {"code": 0, "term": 1}
_NO = frozenset({"", "0", "false", "no", "n"})


class _Entry(NamedTuple):
    main: bool
    concept: Concept


def read(
    path: Path, bad_lines: list[BadLine] | None = None, *, lang: str = "es", source: str = ""
) -> Iterator[Record]:
    """Stream the concepts of a gazetteer: `code language term semantic_tag mainterm`, with tabs.

    The columns may come in any order; without a header, a line is `code term`, as in the ICD-O-3
    lists of CANTEMIST. The semantic tag is the type. The main term of a code is the preferred name,
    or the first term if there is no main term.

    lang (str): language of terms in rows without one. source (str): vocabulary of the names; ""
        means ICDO3 for a code of morphology, else SNOMEDCT.
    RAISES (MedlinkError): E161 without a header that has code and term, unless there are just two
        columns; E105 for a bad line, unless `bad_lines` collects it.
    """
    rows = read_rows(path, bad_lines, "\t")
    first = next(rows, None)
    if first is None:
        return
    places = _places(first[1])
    if not places and (len(first[1]) != len(_BARE) or _is_header(first[1][0])):
        raise Errors.no_column(path=path, column="code", found=", ".join(first[1])[:500])
    data = rows if places else chain([first], rows)
    entries = _entries(path, data, bad_lines, places or _BARE, len(first[1]), lang, source)
    for _, group in groupby(entries, key=lambda entry: entry.concept.id):
        yield _united(list(group))


def _is_header(cell: str) -> bool:
    return any(cell.strip().lower() in names for names in _HEADERS.values())


def _places(first: list[str]) -> dict[str, int]:
    """Find the columns in a header; {} when the first line is none."""
    headers = [cell.strip().lower() for cell in first]
    places = {
        field: headers.index(name)
        for field, names in _HEADERS.items() for name in names if name in headers
    }  # fmt: skip
    return places if {"code", "term"} <= set(places) else {}


def _entries(
    path: Path,
    rows: Iterable[Row],
    bad_lines: list[BadLine] | None,
    places: dict[str, int],
    width: int,
    lang: str,
    source: str,
) -> Iterator[_Entry]:
    for number, cells in rows:
        try:
            if len(cells) != width:
                raise FieldError(f"{len(cells)} columns", f"{width} columns as in the first line")
            yield _entry({field: cells[place] for field, place in places.items()}, lang, source)
        except FieldError as error:
            report(path, number, error.problem, error.expected, bad_lines)


def _entry(row: dict[str, str], lang: str, source: str) -> _Entry:
    id, term = identifier(row["code"], "code"), surface(row["term"], "term")
    main = row.get("main", "").strip().lower() not in _NO
    tag = row.get("tag", "").strip()
    name = Name(
        term, row.get("language", "").strip().lower() or lang,
        source or ("ICDO3" if "/" in id else "SNOMEDCT"), "PT" if main else "SY",
    )  # fmt: skip
    return _Entry(main, Concept(id, term, (name,), types=(tag,) if tag else ()))


def _united(entries: list[_Entry]) -> Concept:
    """Merge the entries of a code, the main term first."""
    concept = unite([entry.concept for entry in entries])
    main = next((entry.concept for entry in entries if entry.main), None)
    if main is None or main.name == concept.name:
        return concept
    rest = (name for name in concept.names if name is not main.names[0])
    return replace(concept, name=main.name, names=(*main.names, *rest))
