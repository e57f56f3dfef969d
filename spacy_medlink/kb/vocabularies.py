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


def _table(name: str) -> list[list[str]]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [line.split("\t") for _, line in table_lines(text)]


_CODES = dict(_table("languages.tsv"))


def iso_639_1(code: str) -> str:
    """Turn a code such as "SPA", "spa" or "es-MX" into ISO 639-1; unknown ones stay."""
    language = code.strip().replace("_", "-").partition("-")[0]
    return _CODES.get(language.upper(), language.lower())


_TYPES = _table("semantic_types.tsv")  # id, name, and of types their group
_BY_NAME = {name.casefold(): id for id, name, *_ in _TYPES}
GROUPS = {
    group: " ".join(id for id, _, *own in _TYPES if own == [group])
    for group in sorted(id for id, _, *own in _TYPES if not own)
}
"""The semantic types of each group, separated by blanks."""


def type_named(name: str) -> str:
    """Find the UMLS type or group with a name, such as "Disease or Syndrome"; other texts stay."""
    return _BY_NAME.get(name.strip().casefold(), name)


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
