"""MRREL: parents and trade names. A row says what its second concept is to its first.

Every relation stands in the file twice, once from each side, so the rows of a child name all of
its parents (PAR, inverse_isa) and those of a substance all of its brands (tradename_of).
"""

from collections.abc import Iterable

from .select import AnyOf, Row
from .sources import OBSOLETE

COLUMNS = "CUI1 AUI1 STYPE1 REL CUI2 AUI2 STYPE2 RELA RUI SRUI SAB SL RG DIR SUPPRESS CVF"
CUI2 = 4
_REL, _RELA, _SUPPRESS = 3, 7, 14
PARENTS = AnyOf({_REL: "PAR", _RELA: "inverse_isa"})
CHILDREN = AnyOf({_REL: "CHD", _RELA: "isa"})
BRANDS = AnyOf({_RELA: "tradename_of"})


def parents_of(rows: list[Row]) -> tuple[str, ...]:
    """List the parents that rows of a concept name, each once."""
    if not rows:
        return ()
    return tuple(dict.fromkeys([row[CUI2] for row in rows if _counts(row)]))


def brands_of(rows: Iterable[Row]) -> dict[str, list[str]]:
    """Map substances to the brands that rows name, both CUIs, each once and in order."""
    brands: dict[str, dict[str, None]] = {}
    for row in rows:
        if _counts(row):
            brands.setdefault(row[0], {})[row[CUI2]] = None
    return {cui: list(brands[cui]) for cui in brands}


def _counts(row: Row) -> bool:
    return row[_SUPPRESS] not in OBSOLETE and row[CUI2] != row[0]
