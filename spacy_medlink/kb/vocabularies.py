"""Vocabularies, languages and semantic groups: one name for each, however a source spells it."""

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ..errors import Errors
from ..text.tables import table_lines


class Vocabulary(NamedTuple):
    """A row of vocabularies.tsv.

    spellings (str): other names, separated by a blank. address (str): of the code system in FHIR
        or terminology.hl7.org; it identifies, and need not be a page. codes (str): beginning of the
        addresses of codes, if it is another one. page (str): of a concept, with {code} for the id
        without its vocabulary.
    """

    name: str
    spellings: str
    address: str
    codes: str
    page: str


_ROWS = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()[1:]
VOCABULARIES = {row.name: row for row in (Vocabulary(*line.split("\t")) for line in _ROWS)}
# A release is a date ("_2025_09_01", "2009_04D", "2010_2010_02_22"), of a known vocabulary also a
# year ("_2006") or a number ("MDR23_1", "NCIt_20.06e").
_DATED = re.compile(
    r"(.{2,40}?)[\W_]*(?:19|20)\d\d(?:[A-Z]{2})?(\d{4}|(?:[\W_]\d{1,4}[A-Z]?)*)", re.IGNORECASE
)
_NUMBERED = re.compile(r"(.{2,40}?)[\W_]*v?\d+[._]\d+[A-Z]?", re.IGNORECASE)
# Ids whose shape gives their vocabulary: six digits are OMIM; eight digits are ambiguous.
_SHAPES = (
    (re.compile(r"C\d{7}"), "UMLS"),
    (re.compile(r"[CD]\d{6}|[CD]\d{9}"), "MESH"),
    (re.compile(r"\d{6}"), "OMIM"),
    (re.compile(r"\d{9,18}"), "SNOMEDCT_US"),
)
_MARKS = re.compile(r"[\W_]")


def _folded(spelling: str) -> str:
    return _MARKS.sub("", spelling).upper()


_NAMES = {
    _folded(spelling): row.name
    for row in VOCABULARIES.values()
    for spelling in (row.name, *row.spellings.split())
}


@lru_cache(4096)
def canonical(vocabulary: str) -> str:
    """Return the usual name of a vocabulary without its release: "SNOMED_CT_2010" is SNOMEDCT_US.

    One that is not known stays as it is spelled, without a whole date at its end.
    """
    dated, numbered = _DATED.fullmatch(vocabulary), _NUMBERED.fullmatch(vocabulary)
    spellings = (vocabulary, *(release[1] for release in (dated, numbered) if release))
    name = next(filter(None, (_NAMES.get(_folded(spelling)) for spelling in spellings)), "")
    return name or (dated[1] if dated and dated[2] else vocabulary)


def by_vocabulary(codes: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Sort (vocabulary, code) by vocabulary; each code once, in the order in which they came."""
    sorted_codes: dict[str, dict[str, None]] = {}
    for vocabulary, code in codes:
        sorted_codes.setdefault(vocabulary, {})[code] = None
    return {vocabulary: tuple(ordered) for vocabulary, ordered in sorted_codes.items()}


def by_shape(id: str) -> str:
    """Return the vocabulary of an id without a prefix by its shape; "" if it does not tell."""
    return next((name for shape, name in _SHAPES if shape.fullmatch(id)), "")


def is_known(vocabulary: str) -> bool:
    """Tell whether a vocabulary is one of those whose spellings are known."""
    return canonical(vocabulary) in VOCABULARIES


_CODES = {
    "ARA": "ar", "BAQ": "eu", "BUL": "bg", "CAT": "ca", "CHI": "zh", "CZE": "cs", "DAN": "da",
    "DUT": "nl", "ENG": "en", "EST": "et", "FIN": "fi", "FRE": "fr", "GER": "de", "GRE": "el",
    "HEB": "he", "HIN": "hi", "HRV": "hr", "HUN": "hu", "ICE": "is", "ITA": "it", "JPN": "ja",
    "KOR": "ko", "LAV": "lv", "LIT": "lt", "NOR": "no", "PER": "fa", "POL": "pl", "POR": "pt",
    "RUM": "ro", "RUS": "ru", "SCR": "hr", "SLO": "sk", "SLV": "sl", "SPA": "es", "SRP": "sr",
    "SWE": "sv", "THA": "th", "TUR": "tr", "UKR": "uk", "VIE": "vi",
}  # fmt: skip


# Those of ISO 639-2/T, where they differ.
_CODES |= {
    "CES": "cs", "DEU": "de", "ELL": "el", "EUS": "eu", "FAS": "fa", "FRA": "fr", "ISL": "is",
    "NLD": "nl", "RON": "ro", "SLK": "sk", "ZHO": "zh",
}  # fmt: skip


def iso_639_1(code: str) -> str:
    """Turn a code such as "SPA", "spa" or "es-MX" into ISO 639-1; unknown ones stay."""
    language = code.strip().replace("_", "-").partition("-")[0]
    return _CODES.get(language.upper(), language.lower())


# After McCray, Burgun and Bodenreider (2001), as of 2018, with types that older releases still use.
GROUPS = {
    "ACTI": "T051 T052 T053 T054 T055 T056 T057 T064 T066",
    "ANAT": "T017 T018 T021 T022 T023 T024 T025 T026 T029 T030 T031",
    "CHEM": (
        "T103 T104 T109 T110 T111 T114 T115 T116 T118 T119 T120 T121 T122 T123 T124 T125 T126 T127"
        " T129 T130 T131 T192 T195 T196 T197 T200"
    ),
    "CONC": "T077 T078 T079 T080 T081 T082 T089 T102 T169 T170 T171 T185",
    "DEVI": "T074 T075 T203",
    "DISO": "T019 T020 T033 T037 T046 T047 T048 T049 T050 T184 T190 T191",
    "GENE": "T028 T085 T086 T087 T088",
    "GEOG": "T083",
    "LIVB": (
        "T001 T002 T003 T004 T005 T006 T007 T008 T009 T010 T011 T012 T013 T014 T015 T016 T096 T097"
        " T098 T099 T100 T101 T194 T204"
    ),
    "OBJC": "T071 T072 T073 T167 T168",
    "OCCU": "T090 T091",
    "ORGA": "T092 T093 T094 T095",
    "PHEN": "T034 T038 T067 T068 T069 T070",
    "PHYS": "T032 T039 T040 T041 T042 T043 T044 T045 T201",
    "PROC": "T058 T059 T060 T061 T062 T063 T065",
}


@lru_cache(maxsize=1)
def _by_name() -> dict[str, str]:
    lines = table_lines(Path(__file__).with_name("semantic_types.tsv").read_text(encoding="utf-8"))
    rows = (line.split("\t") for _, line in lines)
    return {name.casefold(): id for id, name in rows}


def type_named(name: str) -> str:
    """Find the UMLS type or group with a name, such as "Disease or Syndrome"; other texts stay."""
    return _by_name().get(name.strip().casefold(), name)


def types_of(groups: Iterable[str]) -> frozenset[str]:
    """List the semantic types of groups, such as "DISO" (disorders).

    RAISES (MedlinkError): E213 for a group that the UMLS does not have.
    """
    selected: set[str] = set()
    for group in groups:
        if group.upper() not in GROUPS:
            names = ", ".join(GROUPS)
            raise Errors.unknown_in_filter(what="semantic group", value=group, near=names)
        selected.update(GROUPS[group.upper()].split())
    return frozenset(selected)


def groups_of(types: Iterable[str]) -> tuple[str, ...]:
    """List the groups that semantic types belong to, in alphabetical order."""
    wanted = set(types)
    return tuple(
        group for group, members in GROUPS.items() if not wanted.isdisjoint(members.split())
    )
