"""MRCONSO: the names, preferred name and codes of a concept."""

from collections.abc import Iterable
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
        known = names.get(key)
        if known is None:
            # Name(...) would take twice as long, 15 million times.
            names[key] = _new(Name, (text, lang, sab, tty, obsolete))
        else:
            names[key] = _united(known, sab, tty, obsolete)
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


def _united(known: Name, sab: str, tty: str, obsolete: bool) -> Name:
    source = known.source if sab in known.source.split("|") else f"{known.source}|{sab}"
    if known.obsolete and not obsolete:
        return Name(known.text, known.lang, source, tty, False)
    return known._replace(source=source)
