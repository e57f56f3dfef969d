"""MRCONSO: names, preferred name and codes of a concept, and the brand names of substances."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from ....types import Name
from .select import Row
from .sources import Kinds

COLUMNS = "CUI LAT TS LUI STT SUI ISPREF AUI SAUI SCUI SDUI SAB TTY CODE STR SRL SUPPRESS CVF"
STR = 14
_kind_of = itemgetter(1, 11, 12, 16)
_rest_of = itemgetter(11, 12, 13, 14)
_flags_of = itemgetter(2, 4, 6)
_BEST = ("P", "PF", "Y")
_new = tuple.__new__


Atoms = tuple[tuple[Name, ...], dict[str, tuple[str, ...]]]
"""Names, the preferred one first, and codes by vocabulary."""


def read_atoms(rows: Iterable[Row], kinds: Kinds) -> Atoms:
    """Merge the rows of a concept: each (text, language) once, each code once.

    The preferred name is the English name in use with the highest rank in MRRANK. Among equal
    ranks, the form marked as preferred (TS, STT, ISPREF) comes first, then the first row. Codes of
    names in use come first.
    """
    names: dict[tuple[str, str], Name] = {}
    codes: dict[str, dict[str, None]] = {}
    old_codes: list[tuple[str, str]] = []
    best, preferred = -1, ("", "")
    for row in rows:
        lang, score, obsolete, scheme = kinds[_kind_of(row)]
        sab, tty, code, text = _rest_of(row)
        key = text, lang
        earlier = names.get(key)
        if earlier is None:
            # Name(...) would take twice as long, 15 million times.
            names[key] = _new(Name, (text, lang, sab, tty, obsolete))
        else:
            names[key] = _united(earlier, sab, tty, obsolete)
        if score >= best:
            score += _flags_of(row) == _BEST
            if score > best:
                best, preferred = score, key
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
    first = names.pop(preferred)
    return (first, *names.values()), {scheme: tuple(codes[scheme]) for scheme in codes}


def _united(earlier: Name, sab: str, tty: str, obsolete: bool) -> Name:
    source = earlier.source if sab in earlier.source.split("|") else f"{earlier.source}|{sab}"
    if earlier.obsolete and not obsolete:
        return Name(earlier.text, earlier.lang, source, tty, False)
    return earlier._replace(source=source)


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
