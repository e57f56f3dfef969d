"""The usual headers of columns, in seven languages, and how two headers are compared.

`headers.tsv` has those of each field; tables of concepts and of local terms share it.
"""

import unicodedata
from collections.abc import Sequence
from pathlib import Path


def folded(header: str) -> str:
    """Fold what does not tell two headers apart: case, accents, blanks and signs."""
    decomposed = unicodedata.normalize("NFKD", header.casefold())
    return "".join(filter(str.isalnum, decomposed))


def _read() -> dict[str, tuple[str, ...]]:
    table = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in table.splitlines()[1:])
    return {field: tuple(map(folded, headers.split("; "))) for field, headers in rows}


HEADERS = _read()
"""Field to its usual headers, folded, the likeliest first."""
_LAST = ("code", "kode", "codigo", "codice", "schlussel", "schlusselnummer", "key")


def places_of(field: str, headers: Sequence[str]) -> list[int]:
    """List the columns of a field by their folded headers, the likeliest first."""
    usual = HEADERS[field]
    places = [nth for nth, header in enumerate(headers) if header in usual]
    return sorted(places, key=lambda nth: usual.index(headers[nth]))


def code_column(headers: Sequence[str]) -> int | None:
    """Find the only column whose header ends like one of codes ("Diagnose-Code"), if any."""
    places = [nth for nth, header in enumerate(headers) if header.endswith(_LAST)]
    return places[0] if len(places) == 1 else None
