"""MRREL: parents and trade names. A row says what its second concept is to its first.

Every relation stands in the file twice, once from each side, so the rows of a child name all of
its parents (PAR, inverse_isa) and those of a substance all of its brands (tradename_of).
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from .rrf import Row
from .sources import OBSOLETE

COLUMNS = "CUI1 AUI1 STYPE1 REL CUI2 AUI2 STYPE2 RELA RUI SRUI SAB SL RG DIR SUPPRESS CVF"
CUI2 = 4
_REL, _RELA, _SUPPRESS = 3, 7, 14
_PARENT, _IS_PARENT, _CHILD, _IS_CHILD = "PAR", "inverse_isa", "CHD", "isa"
_BRAND = "tradename_of"


def select_parents(data: NDArray[np.uint8], bars: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Pick the rows of a block that name a parent."""
    return _holds(data, bars, _REL, _PARENT) | _holds(data, bars, _RELA, _IS_PARENT)


def select_children(data: NDArray[np.uint8], bars: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Pick the rows of a block that name a child."""
    return _holds(data, bars, _REL, _CHILD) | _holds(data, bars, _RELA, _IS_CHILD)


def select_brands(data: NDArray[np.uint8], bars: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Pick the rows of a block that name a brand."""
    return _holds(data, bars, _RELA, _BRAND)


def is_parent(row: Row) -> bool:
    """Tell whether a row names a parent."""
    return row[_REL] == _PARENT or row[_RELA] == _IS_PARENT


def is_child(row: Row) -> bool:
    """Tell whether a row names a child."""
    return row[_REL] == _CHILD or row[_RELA] == _IS_CHILD


def parents_of(rows: Iterable[Row]) -> tuple[str, ...]:
    """List the parents that the rows of a concept name, each once."""
    found = (row[CUI2] for row in rows if is_parent(row) and _counts(row))
    return tuple(dict.fromkeys(found))


def brands_of(rows: Iterable[Row]) -> dict[str, list[str]]:
    """Map substances to their brands, both CUIs, each once and in the order of the rows."""
    brands: dict[str, dict[str, None]] = {}
    for row in rows:
        if row[_RELA] == _BRAND and _counts(row):
            brands.setdefault(row[0], {})[row[CUI2]] = None
    return {cui: list(brands[cui]) for cui in brands}


def _counts(row: Row) -> bool:
    return row[_SUPPRESS] not in OBSOLETE and row[CUI2] != row[0]


def _holds(
    data: NDArray[np.uint8], bars: NDArray[np.int64], column: int, text: str
) -> NDArray[np.bool_]:
    """Tell which rows have the text in a column (not the first): (n_rows,)."""
    starts = bars[:, column - 1] + 1
    holds: NDArray[np.bool_] = bars[:, column] - starts == len(text)
    rows = np.flatnonzero(holds)
    wanted = np.frombuffer(text.encode(), np.uint8)
    found = data[starts[rows][:, None] + np.arange(len(wanted))]
    holds[rows] = (found == wanted).all(axis=1)
    return holds
