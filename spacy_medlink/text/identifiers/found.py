"""Finds the identifiers in a text: "OMIM 301500", "ICD-10: E11.9", "HP:0001250"."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from .spelling import canonical


class Identifier(NamedTuple):
    """An identifier in a text.

    start, end (int): its characters, including the vocabulary's name. vocabulary, code (str): in
        the canonical spelling; vocabulary is "" where the text names none.
    """

    start: int
    end: int
    vocabulary: str
    code: str


_HYPHEN = "[- \u2010\u2011]?"
# Behind its dot a code of ICD-10 has up to four characters. Behind up to three, ICD-10-GM writes a
# letter that says how sure the diagnosis is.
_BEHIND_DOT = r"\d[0-9A-Z]{3}|\d[0-9A-Z]{0,2}?"
_SURE = "[GVAZ]?"
_ICD10 = rf"[A-Z]\d[0-9A-Z](?:\.?(?:{_BEHIND_DOT}))?"
# What every name of a vocabulary contains, its names, and how its codes look. To ask for the stems
# first takes microseconds where the expressions together take a hundred.
_VOCABULARIES = (
    ("MIM", "OMIM|MIM", r"[#*%+^]?\s?\d{6}"),
    ("mim", "[Oo]mim", r"[#*%+^]?\s?\d{6}"),
    ("McK", "McKusick|McK", r"[#*%+^]?\s?(?:\d{6}|\d{3},\s?\d{3})"),
    ("MeSH", "MeSH", r"[CD]\d{6,9}"),
    ("MESH", "MESH", r"[CD]\d{6,9}"),
    ("UMLS", "UMLS(?: CUI)?", r"C\d{7}"),
    ("SNOMED", f"SNOMED(?:{_HYPHEN}CT)?", r"\d{6,18}"),
    ("SCTID", "SCTID", r"\d{6,18}"),
    *(
        (stem, f"{stem}{_HYPHEN}{names}", code)
        for stem in ("ICD", "CIE", "CIM", "icd")
        for names, code in (
            (f"10(?:{_HYPHEN}(?:CM|GM|WHO|AM|CA|ES|FR))?", _ICD10),
            (f"9(?:{_HYPHEN}(?:CM|MC))?", r"(?:\d{3}|V\d\d|E\d{3})(?:\.\d{1,2})?"),
            (f"O(?:{_HYPHEN}3)?", r"\d{4}/\d"),
            ("11", r"[0-9A-Z]{2}\d[0-9A-Z](?:\.[0-9A-Z]{1,2})?"),
        )
    ),
    ("HP", "HPO?", r"\d{7}"),
    ("ORPHA", "ORPHA(?:NET|net)?", r"\d{1,7}"),
    ("Orpha", "Orpha(?:net)?", r"\d{1,7}"),
    ("NCI", "NCIT?", r"C\d{3,6}"),
    ("edDRA", "MedDRA", r"\d{8}"),
)
_BETWEEN = (
    r"(?:[ -]?(?:[Cc]odes?|[Kk]ode|[Cc]ódigo|ids?|IDs?|[Nn]o\.?|[Nn]r\.?|[Nn]umber|entry))?"
    r"\s?[:=#_]?\s?"
)
_NAMED: dict[str, list[re.Pattern[str]]] = {}
for _stem, _names, _code in _VOCABULARIES:
    _sure = _SURE if _code is _ICD10 else ""
    _pattern = re.compile(f"({_names}){_BETWEEN}({_code}){_sure}(?![0-9A-Za-z])")
    _NAMED.setdefault(_stem, []).append(_pattern)
# To ask for a letter takes a twelfth of asking for two: of each stem, one that texts seldom have.
_RARE = "KUHRDMONEi"
_RAREST = [(next(letter for letter in _RARE if letter in stem), stem) for stem in _NAMED]
# A number behind a prefix, of whatever vocabulary; a CUI, which nothing else looks like; a code of
# ICD-10 with its dot, which has to stand out, or to follow another one. Each is looked for by its
# rarest part.
_NUMBER = re.compile(r":[A-Z]?\d{3,18}(?![\w.:/-])")
_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9]{1,11}$")
_CUI = re.compile(r"C\d{7}(?!\w)")
_AFTER_DOT = re.compile(rf"(\.(?:{_BEHIND_DOT})){_SURE}(?!\w)")
_STANDS_OUT = re.compile(
    r"(?:^|[(\[{\n]|\.[0-9A-Z]{1,4}[,;/])[ \t]*"
    r"(?:(?:\d{1,3}[.)]+|[-*\u2022\u2013])[ \t]+)?[A-Z]\d[0-9A-Z]$"
)
_BEFORE = 24  # characters that are looked at


def find_identifiers(text: str) -> list[Identifier]:
    """Find the identifiers that a text writes, in its order."""
    stems = [stem for letter, stem in _RAREST if letter in text and stem in text]
    named: dict[int, Identifier] = {}
    for pattern in chain.from_iterable(map(_NAMED.__getitem__, stems)):
        for match in pattern.finditer(text):
            if _begins(text, match.start()):
                code = canonical(match[1], match[2])
                named[match.end()] = Identifier(match.start(), match.end(), *code)
    unnamed = [identifier for identifier in _unnamed(text) if identifier.end not in named]
    return sorted([*named.values(), *unnamed])


def _unnamed(text: str) -> Iterator[Identifier]:
    """List the identifiers that are known by their form, without a vocabulary's name."""
    for match in _NUMBER.finditer(text):
        prefix = _PREFIX.search(text, max(0, match.start() - _BEFORE), match.start())
        if prefix and _begins(text, prefix.start()):
            code = canonical(prefix.group(), match.group())
            yield Identifier(prefix.start(), match.end(), *code)
    for match in _CUI.finditer(text):
        if _begins(text, match.start()):
            yield Identifier(match.start(), match.end(), *canonical("UMLS", match.group()))
    for match in _AFTER_DOT.finditer(text):
        start, dot = match.start() - 3, match.start()
        if start >= 0 and _STANDS_OUT.search(text[max(0, start - _BEFORE) : dot]):
            code = canonical("ICD10", text[start : match.end(1)])
            yield Identifier(start, match.end(), *code)


def _begins(text: str, start: int) -> bool:
    """Tell whether a word begins here."""
    return start == 0 or not (text[start - 1].isalnum() or text[start - 1] in "_.:/")
