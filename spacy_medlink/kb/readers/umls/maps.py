"""MRMAP: maps between source vocabularies, which give concepts the codes that theirs map to."""

import re
import sqlite3
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from ....types import CodeMap
from ...vocabularies import by_vocabulary
from .conso import STR, Kinds
from .rrf import Row

COLUMNS = (
    "MAPSETCUI MAPSETSAB MAPSUBSETID MAPRANK MAPID MAPSID FROMID FROMSID FROMEXPR FROMTYPE FROMRULE"
    " FROMRES REL RELA TOID TOSID TOEXPR TOTYPE TORULE TORES MAPRULE MAPRES MAPTYPE MAPATN MAPATV"
    " CVF"
)
REQUIRED = (0, 1, 8)  # MAPSETCUI, MAPSETSAB, FROMEXPR
TABLES = """
CREATE TABLE map (
    mapset TEXT, code TEXT, part TEXT, rank TEXT, target TEXT, relation TEXT, source TEXT, note TEXT
);
"""
_INDEX = "CREATE INDEX map_code ON map (mapset, code)"
_OF_CODE = (
    "SELECT target, relation, source, note FROM map WHERE mapset = ? AND code = ? ORDER BY"
    " relation != 'exact', CAST(part AS INTEGER), CAST(rank AS INTEGER), rowid"
)
_CODES = frozenset({"CODE", "SCUI", "SDUI"})  # what else is mapped are ids and expressions
_NOTHING = frozenset({"", "100051"})  # TOID where the source says that there is no target
# XR says that there is no map. Which side of RB and RN is the broader one NLM leaves open, so these
# are related, and the note has them.
_NO_MAP, _SAME, _UNSURE = "XR", "SY", ("RB", "RN")
_NAME = re.compile(r"(\S+) to (\S+) Mappings", re.IGNORECASE)

Codes = dict[str, tuple[str, ...]]


class Maps:
    """Finds what the codes of a concept map to.

    db (sqlite3.Connection): has `TABLES`. rows (Iterable[Row]): of MRMAP. kinds (Kinds): how
        vocabularies are called.
    """

    def __init__(self, db: sqlite3.Connection, rows: Iterable[Row], kinds: Kinds) -> None:
        self._db, self._kinds = db, kinds
        self._sets: dict[str, list[tuple[str, str]]] = {}
        db.execute("BEGIN")
        db.executemany("INSERT INTO map VALUES (?,?,?,?,?,?,?,?)", _values(rows))
        db.execute("COMMIT")
        db.execute(_INDEX)
        self.sets = [cui for (cui,) in db.execute("SELECT DISTINCT mapset FROM map")]

    def name_sets(self, rows: Iterable[Row]) -> None:
        """Learn between which vocabularies the sets map, from their rows of MRCONSO.

        A set is called "SNOMEDCT_US_2020_09_01 to ICD10CM_2021 Mappings"; one that is called
        otherwise is of no use.
        """
        for cui, atoms in groupby(rows, key=itemgetter(0)):
            named = next(filter(None, (_NAME.fullmatch(row[STR]) for row in atoms)), None)
            if named is not None and cui in self.sets:
                origin, target = map(self._kinds.scheme_of, named.groups())
                if origin and target:
                    self._sets.setdefault(origin, []).append((cui, target))

    def added_to(self, codes: Codes) -> tuple[Codes, tuple[CodeMap, ...]]:
        """Append to codes what they map to, and say how that is meant."""
        mapped: dict[CodeMap, None] = {}
        for origin in codes if self._sets else ():
            for mapset, vocabulary in self._sets.get(origin, ()):
                for code in codes[origin]:
                    for target, *rest in self._db.execute(_OF_CODE, (mapset, code)):
                        mapped[CodeMap(vocabulary, target, *rest)] = None
        if not mapped:
            return codes, ()
        maps = tuple(sorted(mapped, key=lambda code_map: code_map.relation != "exact"))
        source_codes = ((scheme, code) for scheme in codes for code in codes[scheme])
        return by_vocabulary([*source_codes, *(each[:2] for each in maps)]), maps


def _values(rows: Iterable[Row]) -> Iterator[tuple[str, ...]]:
    for row in rows:
        rel, target = row[12], row[16].strip()
        if {row[14], target} & _NOTHING or rel == _NO_MAP or not {row[9], row[17]} <= _CODES:
            continue
        if row[23] == "ACTIVE" and row[24] == "0":
            continue
        note = "; ".join(filter(None, (f"REL {rel}" if rel in _UNSURE else "", row[21].strip())))
        relation = "exact" if rel == _SAME else "related" if rel else ""
        yield row[0], row[8].strip(), row[2], row[3], target, relation, row[1], note
