"""MRSAB and MRRANK: versions and languages of the source vocabularies, and ranks of names."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from ...vocabularies import iso_639_1
from .select import Row

RANK_COLUMNS = "RANK SAB TTY SUPPRESS"
SOURCE_COLUMNS = (
    "VCUI RCUI VSAB RSAB SON SF SVER VSTART VEND IMETA RMETA SLC SCC SRL TFR CFR CXTY TTYL ATNL LAT"
    " CENC CURVER SABIN SSN SCIT"
)
# Vocabularies whose codes have a customary name that is not the abbreviation of the UMLS.
_CODE_SCHEMES = {"MSH": "MESH", "MDR": "MEDDRA", "NCI": "NCIT", "ORPHANET": "ORPHA"}
_OWN_NAMES = (
    "IN PIN MIN BN SCD SBD SCDC SBDC SCDF SBDF SCDFP SBDFP SCDG SBDG SCDGP GPCK BPCK DF DFG".split()
)
OBSOLETE = frozenset("OEY")
# Placeholders of the Metathesaurus for a missing code, which identify nothing.
_WITHOUT_CODES = frozenset({"MTH", "SRC"})


class Kind(NamedTuple):
    """The common properties of MRCONSO rows with equal language, source, term type and SUPPRESS.

    lang (str): ISO 639-1 code. score (int): higher is a better preferred name; always even.
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
    """

    def __init__(self, ranks: Iterable[Row], sources: Iterable[Row]) -> None:
        super().__init__()
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
        score = (2 * (not obsolete) + (lang == "en")) * self._top + rank
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
        family = self._families.get(sab, sab)
        return "" if sab in _WITHOUT_CODES else _CODE_SCHEMES.get(family, family)


def check_rank(row: Row) -> str:
    """Return the problem of a row of MRRANK, "" if there is none."""
    return "" if row[0].isdecimal() and len(row[0]) < 10 else f"RANK is {row[0][:40]!r}"
