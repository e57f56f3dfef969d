"""MRREL: relations and trade names. A row gives the relation of its second concept to its first.

The file has every relation twice, once from each side. The rows of a child therefore name all its
parents (PAR, inverse_isa), and the rows of a substance all its brands (tradename_of).
"""

from collections.abc import Iterable

from ....types import ISA, Relation
from .conso import OBSOLETE
from .rrf import Row, Select

COLUMNS = "CUI1 AUI1 STYPE1 REL CUI2 AUI2 STYPE2 RELA RUI SRUI SAB SL RG DIR SUPPRESS CVF"
CUI2 = 4
_REL, _RELA, _SAB, _SUPPRESS = 3, 7, 10, 14
PARENTS = Select(
    lambda row: row[_REL] == "PAR" or row[_RELA] == "inverse_isa", (b"|PAR|", b"|inverse_isa|")
)
CHILDREN = Select(lambda row: row[_REL] == "CHD" or row[_RELA] == "isa", (b"|CHD|", b"|isa|"))
BRANDS = Select(lambda row: row[_RELA] == "tradename_of", (b"|tradename_of|",))
# Siblings follow from the parents, and would be very many; "isa" is read from the other side, as
# "inverse_isa".
SAID = Select(lambda row: row[_REL] != "SIB" and row[_RELA] != "isa")
_UP, _INVERSE_ISA = ("PAR", "CHD"), "inverse_isa"


def relations_of(rows: list[Row]) -> tuple[Relation, ...]:
    """List the relations in the rows of a concept, in both directions, each once.

    A relation is named by RELA, or by REL where RELA is empty.
    """
    relations: dict[Relation, None] = {}
    for row in rows:
        if not _counts(row):
            continue
        rel, rela, other, source = row[_REL], row[_RELA], row[CUI2], row[_SAB]
        if rel == "PAR" or rela == _INVERSE_ISA:
            relations[Relation(ISA, other, source)] = None
        if rela != _INVERSE_ISA and (name := rela or (rel if rel not in _UP else "")):
            relations[Relation(name, other, source, True)] = None
    return tuple(relations)


def brands_of(rows: Iterable[Row]) -> dict[str, list[str]]:
    """Map substances to their brands (both CUIs), each brand once, in the order of the rows."""
    brands: dict[str, dict[str, None]] = {}
    for row in rows:
        if _counts(row):
            brands.setdefault(row[0], {})[row[CUI2]] = None
    return {cui: list(brands[cui]) for cui in brands}


def _counts(row: Row) -> bool:
    return row[_SUPPRESS] not in OBSOLETE and row[CUI2] != row[0]
