"""MRSAB, MRRANK and MRCONSO: vocabularies and ranks, then names, codes and brand names."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from ....types import Name
from ...vocabularies import canonical, iso_639_1
from .rrf import Row

RANK_COLUMNS = "RANK SAB TTY SUPPRESS"
SOURCE_COLUMNS = (
    "VCUI RCUI VSAB RSAB SON SF SVER VSTART VEND IMETA RMETA SLC SCC SRL TFR CFR CXTY TTYL ATNL LAT"
    " CENC CURVER SABIN SSN SCIT"
)
# Vocabularies whose codes have a customary name that is not the abbreviation of the UMLS.
_CODE_SCHEMES = {"MSH": "MESH", "MDR": "MEDDRA", "NCI": "NCIT", "ORPHANET": "ORPHA"}
_TRANSLATION = re.compile(r"([A-Z][A-Z0-9]{2,}?)(?:([A-Z]{3})|-[A-Z]{2}-[A-Z]{2})")
_OWN_NAMES = (
    "IN PIN MIN BN SCD SBD SCDC SBDC SCDF SBDF SCDFP SBDFP SCDG SBDG SCDGP GPCK BPCK DF DFG".split()
)
OBSOLETE = frozenset("OEY")
# Placeholders of the Metathesaurus for a missing code, which identify nothing.
_WITHOUT_CODES = frozenset({"MTH", "SRC"})


class Kind(NamedTuple):
    """The common properties of MRCONSO rows with equal language, source, term type and SUPPRESS.

    lang (str): ISO 639-1 code. score (int): higher is a better name; always even.
    obsolete (bool): whether the name is obsolete or suppressed.
    scheme (str): the vocabulary of the row's code, "" when it has none.
    """

    lang: str
    score: int
    obsolete: bool
    scheme: str


class Kinds(dict[tuple[str, ...], Kind]):
    """The kinds of rows by (LAT, SAB, TTY, SUPPRESS), each made when it is first needed.

    ranks (Iterable[Row]): rows of MRRANK. sources (Iterable[Row]): rows of MRSAB.
    wanted, wanted_types (Collection[str]): vocabularies and term types that a filter leaves; their
        rows are better than all others. Empty: all.
    """

    def __init__(
        self,
        ranks: Iterable[Row],
        sources: Iterable[Row],
        wanted: Collection[str] = (),
        wanted_types: Collection[str] = (),
    ) -> None:
        super().__init__()
        self._wanted, self._wanted_types = frozenset(map(canonical, wanted)), wanted_types
        self._ranks = {(sab, tty, suppress): int(rank) for rank, sab, tty, suppress, _ in ranks}
        if not self._ranks:  # RxNorm has no MRRANK: its own names come first
            self._ranks = {("RXNORM", tty, "N"): 1 for tty in _OWN_NAMES}
        self._top = max(self._ranks.values(), default=0) + 1
        rows = {row[3]: row for row in sources}
        self._roots = {row[2]: sab for sab, row in rows.items()}
        # Translations have the codes of their original: MSHSPA those of MSH.
        self._families = {sab: row[5] for sab, row in rows.items() if row[5] in rows}
        self.english = {sab for sab, row in rows.items() if row[19] in ("ENG", "")}

    def __missing__(self, key: tuple[str, ...]) -> Kind:
        lat, sab, tty, suppress = key
        lang, obsolete = iso_639_1(lat), suppress in OBSOLETE
        rank = self._ranks.get((sab, tty, suppress), 0)
        left = not self._wanted or canonical(sab) in self._wanted
        left_type = not self._wanted_types or tty in self._wanted_types
        first = 8 * left + 4 * left_type + 2 * (not obsolete) + (lang == "en")
        score = first * self._top + rank
        scheme = self._scheme(sab)
        made = self[key] = Kind(lang, 2 * score, obsolete, scheme)
        return made

    def scheme_of(self, vsab: str) -> str:
        """Name the vocabulary of codes by any version, such as "ICD10CM" by "ICD10CM_2021"."""
        if vsab in self._roots:
            return self._scheme(self._roots[vsab])
        begins = [
            sab for sab in self._roots.values() if re.match(rf"{re.escape(sab)}(?![A-Z])", vsab)
        ]
        return self._scheme(max(begins, key=len, default=re.sub(r"_\d.*", "", vsab)))

    def _scheme(self, sab: str) -> str:
        family = self._families.get(sab) or _original(sab)
        return "" if sab in _WITHOUT_CODES else _CODE_SCHEMES.get(family, family)


def _original(sab: str) -> str:
    """Name the vocabulary that a translation is of: MSH of MSHSPA, LNC of LNC-ES-ES.

    MRSAB, which says it, may be missing.
    """
    if translation := _TRANSLATION.fullmatch(sab):
        original, lang = translation[1], translation[2]
        if lang is None or iso_639_1(lang) != lang.lower():
            return canonical(original) if original == "SCT" else original
    return sab


def check_rank(row: Row) -> str:
    """Return the problem of a row of MRRANK, "" if there is none."""
    return "" if row[0].isdecimal() and len(row[0]) < 10 else f"RANK is {row[0][:40]!r}"


COLUMNS = "CUI LAT TS LUI STT SUI ISPREF AUI SAUI SCUI SDUI SAB TTY CODE STR SRL SUPPRESS CVF"
STR = 14
_kind_of = itemgetter(1, 11, 12, 16)
_rest_of = itemgetter(11, 12, 13, 14)
_flags_of = itemgetter(2, 4, 6)
_BEST = ("P", "PF", "Y")
_new = tuple.__new__


Atoms = tuple[tuple[Name, ...], dict[str, tuple[str, ...]]]
"""Names, the best one first, and codes by vocabulary."""


def read_atoms(rows: Iterable[Row], kinds: Kinds) -> Atoms:
    """Merge the rows of a concept: each (text, language) once, each code once.

    The best names, which come first, are English ones in use with the highest rank in MRRANK; then
    those of other languages, then obsolete ones. Among equal ranks, the form marked as preferred
    (TS, STT, ISPREF) comes first, then the first row. A name of several rows has the term type of
    the best one. Codes of names in use come first.
    """
    names: dict[tuple[str, str], Name] = {}
    scores: dict[tuple[str, str], int] = {}
    codes: dict[str, dict[str, None]] = {}
    old_codes: list[tuple[str, str]] = []
    for row in rows:
        lang, score, obsolete, scheme = kinds[_kind_of(row)]
        sab, tty, code, text = _rest_of(row)
        key = text, lang
        score += _flags_of(row) == _BEST
        earlier = names.get(key)
        if earlier is None:
            # Name(...) would take twice as long, 15 million times.
            names[key] = _new(Name, (text, lang, sab, tty, obsolete))
            scores[key] = score
        else:
            tty = tty if score > scores[key] else earlier.tty
            names[key] = _united(earlier, sab, tty, obsolete)
            scores[key] = max(score, scores[key])
        if not scheme or not code or code == "NOCODE" or (code == row[0] and scheme != "RXNORM"):
            continue
        if obsolete:
            old_codes.append((scheme, code))
        elif scheme in codes:
            codes[scheme][code] = None
        else:
            codes[scheme] = {code: None}
    for scheme, code in old_codes:
        codes.setdefault(scheme, {})[code] = None
    best_first = sorted(names, key=scores.__getitem__, reverse=True)
    return (
        tuple(map(names.__getitem__, best_first)),
        {scheme: tuple(found) for scheme, found in codes.items()},
    )


def _united(earlier: Name, sab: str, tty: str, obsolete: bool) -> Name:
    source = earlier.source if sab in earlier.source.split("|") else f"{earlier.source}|{sab}"
    return Name(earlier.text, earlier.lang, source, tty, earlier.obsolete and obsolete)


TTY = "TRADE"


class TradeNames:
    """Gives a substance the names of its brands.

    brands (Mapping[str, Sequence[str]]): CUIs of substances to CUIs of their brands.
    rows (Iterable[Row]): rows of MRCONSO, at least those of the brands. kinds (Kinds): the kinds
        of the rows.
    """

    def __init__(
        self, brands: Mapping[str, Sequence[str]], rows: Iterable[Row], kinds: Kinds
    ) -> None:
        self._brands = brands
        self._names: dict[str, list[Name]] = {}
        wanted = {cui for cuis in brands.values() for cui in cuis}
        for cui, atoms in groupby(rows, key=itemgetter(0)):
            if cui in wanted:
                names, _ = read_atoms(atoms, kinds)
                self._names[cui] = [name._replace(tty=TTY) for name in names if not name.obsolete]

    def __contains__(self, cui: str) -> bool:
        return cui in self._brands

    def added_to(self, cui: str, names: Sequence[Name]) -> tuple[Name, ...]:
        """Append the names of a substance's brands to its names, where they are new."""
        present = {(name.text, name.lang) for name in names}
        more = [
            name
            for brand in self._brands[cui]
            for name in self._names.get(brand, ())
            if (name.text, name.lang) not in present
        ]
        return (*names, *dict.fromkeys(more))
