"""Gazetteers of DisTEMIST, MedProcNER, SympTEMIST and CANTEMIST: one term of a code a line."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from ..errors import Errors
from ..kb.readers import tabular
from ..kb.readers.rows import read_table
from ..kb.writer import unite
from ..types import BadLines, Concept, Record

# The fields of a table, and their headers in the corpora and in other releases of these.
_HEADERS = {
    "id": ("code", "codigo", "código"),
    "name": ("term", "description", "descripcion", "descripción", "name"),
    "lang": ("language", "lang"),
    "type": ("semantic_tag", "tag"),
    tabular.MAIN: ("mainterm", "main_term"),
}
_BARE: tabular.Columns = {"id": 1, "name": 2}


def read(
    path: Path,
    bad_lines: BadLines = None,
    *,
    columns: tabular.Columns | None = None,
    lang: str = "es",
    source: str = "",
) -> Iterator[Record]:
    """Stream the concepts of a gazetteer: `code language term semantic_tag mainterm`, with tabs.

    The columns may come in any order; without a header, a line is `code term`, as in the ICD-O-3
    lists of CANTEMIST. The semantic tag is the type. The main term of a code is the preferred name,
    or the first term if there is no main term.

    columns (Optional[Columns]): as for tables; None finds them by their headers.
    lang (str): language of terms in rows without one. source (str): vocabulary of the names; ""
        means ICDO3 for a code of morphology, else SNOMEDCT.
    RAISES (MedlinkError): E161 without a header that has code and term, unless there are just two
        columns; E105 for a bad line, unless `bad_lines` collects it.
    """
    columns = columns or _columns(path)
    pieces = tabular.numbered(path, bad_lines, columns=columns, delimiter="\t", lang=lang)
    concepts = (piece for _, piece in pieces if isinstance(piece, Concept))
    for _, group in groupby(concepts, key=lambda piece: piece.id):
        entries = []
        for piece in group:
            vocabulary = source or ("ICDO3" if "/" in piece.id else "SNOMEDCT")
            tty = piece.names[0].tty if tabular.MAIN in columns else "SY"
            name = piece.names[0]._replace(source=vocabulary, tty=tty)
            entries.append(replace(piece, names=(name,)))
        yield unite(sorted(entries, key=lambda piece: piece.names[0].tty != "PT"))


def _columns(path: Path) -> tabular.Columns:
    first = next(read_table(path, [], "\t"), (0, []))[1]
    headers = {cell.strip().lower(): cell.strip() for cell in first}
    columns = {
        field: headers[name]
        for field, names in _HEADERS.items() for name in names if name in headers
    }  # fmt: skip
    if {"id", "name"} <= columns.keys():
        return columns
    if first and (len(first) != len(_BARE) or columns):
        raise Errors.no_column(path=path, column="'code'", found=", ".join(first)[:500])
    return _BARE
