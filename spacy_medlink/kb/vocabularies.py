"""Vocabularies: one name for each, however a source spells it and whichever release it says."""

import re
from functools import lru_cache

# What has an address of a code system or a web page of a concept is known by its name alone.
_SPELLINGS = {
    "UMLS": "UMLS_CUI CUI", "MESH": "MSH", "OMIM": "MIM", "HP": "HPO", "LNC": "LOINC",
    "NCIT": "NCI NCIthesaurus", "MEDDRA": "MDR", "ORPHA": "Orphanet ORDO ORPHAcode",
    "SNOMEDCT_US": "SNOMEDCT SNOMED SCT SCTID", "ICD10": "ICD10WHO", "ICDO": "ICDO3",
    "ICD9": "", "ICD9CM": "", "ICD10CM": "", "ICD10PCS": "", "ICD10GM": "", "ICD11": "",
    "ATC": "", "CPT": "", "CVX": "", "NDC": "", "OMOP": "", "RXNORM": "", "UCUM": "",
    "MONDO": "", "DOID": "", "UBERON": "", "GO": "", "CHEBI": "", "CL": "", "MP": "",
}  # fmt: skip
# A release is a date ("_2025_09_01", "2009_04D", "2010_2010_02_22"), of a known vocabulary also a
# year ("_2006") or a number ("MDR23_1", "NCIt_20.06e").
_DATED = re.compile(
    r"(.{2,40}?)[\W_]*(?:19|20)\d\d(?:[A-Z]{2})?(\d{4}|(?:[\W_]\d{1,4}[A-Z]?)*)", re.IGNORECASE
)
_NUMBERED = re.compile(r"(.{2,40}?)[\W_]*v?\d+[._]\d+[A-Z]?", re.IGNORECASE)
_MARKS = re.compile(r"[\W_]")


def _folded(spelling: str) -> str:
    return _MARKS.sub("", spelling).upper()


_NAMES = {
    _folded(spelling): name
    for name, others in _SPELLINGS.items()
    for spelling in (name, *others.split())
}


@lru_cache(4096)
def canonical(vocabulary: str) -> str:
    """Return the usual name of a vocabulary without its release: "SNOMED_CT_2010" is SNOMEDCT_US.

    One that is not known stays as it is spelled, without a whole date at its end.
    """
    dated, numbered = _DATED.fullmatch(vocabulary), _NUMBERED.fullmatch(vocabulary)
    spellings = (vocabulary, *(release[1] for release in (dated, numbered) if release))
    known = next(filter(None, (_NAMES.get(_folded(one)) for one in spellings)), "")
    return known or (dated[1] if dated and dated[2] else vocabulary)


def is_known(vocabulary: str) -> bool:
    """Tell whether a vocabulary is one of those whose spellings are known."""
    return canonical(vocabulary) in _SPELLINGS
