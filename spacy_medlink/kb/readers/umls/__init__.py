"""UMLS: a Metathesaurus release, its sorted RRF files read side by side in one pass."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from sqlite3 import Connection

from ....errors import Errors, Warnings
from ....types import ISA, BadLines, Concept, Record, Retired
from ....util.telling import tell
from ...scratch import Groups, scratch
from ...second_process import read_apart
from . import conso, maps, relations
from .conso import Kinds, TradeNames, read_atoms
from .maps import Maps
from .release import Piece, find_tables, in_order
from .rrf import Check, Row, Select, Table, of_ids

Wanted = tuple[tuple[str, ...], ...]  # what filters will leave: sources, term types

_LARGE = 1 << 26  # bytes of MRCONSO above which a second process is worth its start
_TABLES = ("MRCONSO", "MRSTY", "MRDEF", "MRREL", "MRCUI", "MRRANK", "MRSAB", "MRMAP")
_TYPE_COLUMNS = "CUI TUI STN STY ATUI CVF"
_DEFINITION_COLUMNS = "CUI AUI ATUI SATUI SAB DEF SUPPRESS CVF"
_HISTORY_COLUMNS = "CUI1 VER REL RELA MAPREASON CUI2 MAPIN"
_REASONS = {"DEL": "deleted", "SY": "merged", "RB": "broader", "RN": "narrower", "RO": "related"}


def read(
    path: Path,
    bad_lines: BadLines = None,
    sources: tuple[str, ...] = (),
    term_types: tuple[str, ...] = (),
) -> Iterator[Record]:
    """Stream the concepts of a release, then its retired ids.

    Names come best first, with their source vocabularies and term type; suppressed names are
    obsolete. Drugs also have their brand names, with term type "TRADE". Types are the semantic
    types (TUIs). Relations have the name in RELA, else in REL; PAR and inverse_isa become "isa",
    and siblings are left out. Maps give a concept the codes that its codes map to. Only MRCONSO is
    required; MRSTY, MRDEF, MRREL, MRCUI, MRRANK, MRSAB and MRMAP are optional. Rows about ids
    without a name in MRCONSO are skipped. RXNCONSO, RXNSTY, RXNREL and RXNSAB of RxNorm are read
    like these, and sorted first; its RXCUIs are the ids.

    path (Path): the META directory (or one above it) with `.RRF` or `.RRF.gz` files, or the
        directory or archive of a release that was never unpacked; of RxNorm the directory rrf.
    bad_lines (Optional[List[BadLine]]): collects bad lines; None makes the first one an error.
    sources, term_types (Tuple[str, ...]): what a filter will leave, if not all; a name is ordered
        by its rank in these.
    RAISES (MedlinkError): E105 for a bad line, E150 for a file that is not sorted by id, E160 when
        there is no release, E160 when MRREL has only one side of the hierarchy.
    """
    tables = find_tables(path)
    if "MRSTY" not in tables:
        tell(Warnings.no_types.format(path=path))
    if sum(piece.path.stat().st_size for piece in tables["MRCONSO"]) > _LARGE:
        wanted = (sources, term_types)
        return read_apart(f"{__name__}:read_here", path, bad_lines, wanted=wanted)
    return read_here(path, bad_lines, (sources, term_types))


def read_here(path: Path, bad_lines: BadLines = None, wanted: Wanted = ()) -> Iterator[Record]:
    """Read as `read` does, but always in this process. wanted: sources, then term types."""
    with in_order(find_tables(path)) as tables:
        yield from _Release(tables, bad_lines).records(wanted)


def release_of(path: Path) -> str:
    """Read the name of the release, such as "2026AA"; "" when MRSAB has none."""
    rows = _Release(find_tables(path), []).sources()
    return max((row[9] for row in rows), default="")


def files_of(path: Path) -> list[Path]:
    """List the files that are read; a release has many more."""
    tables = find_tables(path)
    return sorted({piece.path for name in _TABLES for piece in tables.get(name, ())})


class _Release:
    """The tables of one release, and the records they make together."""

    def __init__(self, tables: dict[str, list[Piece]], bad_lines: BadLines) -> None:
        self._tables = tables
        self._bad_lines = bad_lines
        # A table that is read several times must report a bad line only once.
        self._reported: dict[str, set[int]] = defaultdict(set)

    def sources(self) -> list[Row]:
        """Read MRSAB, the rows of versions in use."""
        rows = self._table("MRSAB", conso.SOURCE_COLUMNS, (3,), by_id=False).rows()
        return [row for row in rows if row[21] != "N"]

    def records(self, wanted: Wanted) -> Iterator[Record]:
        """Stream concepts, then retired ids."""
        kinds = Kinds(self._ranks(), self.sources(), *wanted)
        with scratch(maps.TABLES) as db:
            yield from self._concepts(kinds, self._maps(db, kinds))
        yield from self._retired()

    def _concepts(self, kinds: Kinds, mapped: Maps) -> Iterator[Concept]:
        brands = self._trade_names(kinds)
        types = self._table("MRSTY", _TYPE_COLUMNS, (1,)).groups()
        definitions = self._table("MRDEF", _DEFINITION_COLUMNS, (5,)).groups()
        related = self._related()
        for cui, rows in groupby(self._names(), key=itemgetter(0)):
            names, source_codes = read_atoms(rows, kinds)
            codes, code_maps = mapped.added_to(source_codes)
            if cui in brands:
                names = brands.added_to(cui, names)
            relations_of = relations.relations_of(related.take(cui))
            yield Concept(
                cui,
                names[0].text,
                names,
                tuple(sorted({row[1] for row in types.take(cui)})),
                _definition(definitions.take(cui), kinds),
                codes,
                tuple(
                    dict.fromkeys(
                        [relation.id for relation in relations_of if relation.relation == ISA]
                    )
                ),
                relations_of,
                code_maps,
            )
        for groups in (types, definitions, related):
            groups.finish()

    def _maps(self, db: Connection, kinds: Kinds) -> Maps:
        rows = self._table("MRMAP", maps.COLUMNS, maps.REQUIRED, by_id=False).rows()
        maps_of = Maps(db, rows, kinds)
        if maps_of.sets:
            maps_of.name_sets(self._names(of_ids(maps_of.sets)))
        return maps_of

    def _ranks(self) -> Iterator[Row]:
        columns = conso.RANK_COLUMNS
        check = conso.check_rank
        return self._table("MRRANK", columns, (1, 2), by_id=False, check=check).rows()

    def _related(self) -> Groups[Row]:
        children = self._relations(relations.CHILDREN).rows()
        parents = self._relations(relations.PARENTS).rows()
        if next(children, None) is not None and next(parents, None) is None:
            raise Errors.wrong_file(
                path=self._tables["MRREL"][0].path,
                what="the whole MRREL.RRF",
                problem="it names children (CHD, isa) but no parents (PAR, inverse_isa)",
                expected="the whole one of a release, or remove it to build without a hierarchy",
            )
        return self._relations(relations.SAID).groups()

    def _trade_names(self, kinds: Kinds) -> TradeNames:
        brands = relations.brands_of(self._relations(relations.BRANDS).rows())
        if not brands:
            return TradeNames({}, (), kinds)
        wanted = of_ids(cui for cuis in brands.values() for cui in cuis)
        return TradeNames(brands, self._names(wanted), kinds)

    def _names(self, select: Select | None = None) -> Iterator[Row]:
        columns, required = conso.COLUMNS, (conso.STR,)
        return self._table("MRCONSO", columns, required, select=select).rows()

    def _retired(self) -> Iterator[Retired]:
        history = self._table("MRCUI", _HISTORY_COLUMNS, (2,)).rows()
        for cui, rows in groupby(history, key=itemgetter(0)):
            yield _fate(cui, list(rows))

    def _relations(self, select: Select) -> Table:
        columns, required = relations.COLUMNS, (relations.CUI2,)
        return self._table("MRREL", columns, required, select=select)

    def _table(
        self,
        name: str,
        columns: str,
        required: Sequence[int],
        *,
        by_id: bool = True,
        select: Select | None = None,
        check: Check | None = None,
    ) -> Table:
        pieces, reported = self._tables.get(name, []), self._reported[name]
        return Table(pieces, columns, required, by_id, select, check, self._bad_lines, reported)


def _definition(rows: list[Row], kinds: Kinds) -> str:
    """Choose the first definition in use, English sources first."""
    if not rows:
        return ""
    used = [row for row in rows if row[6] not in conso.OBSOLETE]
    english = (row for row in used if row[4] in kinds.english)
    chosen = next(english, used[0] if used else None)
    return chosen[5] if chosen is not None else ""


def _fate(cui: str, rows: list[Row]) -> Retired:
    """Return the history of a CUI. Broader, narrower and related concepts do not replace it."""
    heirs = [row for row in rows if row[2] == "SY" and row[5]]
    # MAPIN: whether the heir itself is still in use.
    heir = next((row for row in heirs if row[6] == "Y"), heirs[0] if heirs else None)
    if heir is not None:
        return Retired(cui, heir[5], _REASONS["SY"])
    relation = rows[0][2]
    return Retired(cui, "", _REASONS.get(relation, relation))
