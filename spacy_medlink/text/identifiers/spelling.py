"""Compares identifiers of different spelling: "MIM #301500" of a text with OMIM: 301500."""

import re
from collections.abc import Mapping, Sequence

IDENTIFIER = "identifier"  # the name under which its word stands among the tiers' scores

# Vocabularies that are written in several ways; those of one family share their codes.
_FAMILIES = {
    "MIM": "OMIM", "MCKUSICK": "OMIM", "MCK": "OMIM", "MSH": "MESH", "CUI": "UMLS",
    "UMLSCUI": "UMLS", "SNOMED": "SNOMEDCT", "SCTID": "SNOMEDCT", "HPO": "HP", "ORPHANET": "ORPHA",
    "NCI": "NCIT", "MDR": "MEDDRA", "ICDO3": "ICDO",
}  # fmt: skip
_STEMS = ("SNOMEDCT", "ICD10", "ICD9")  # editions, too: SNOMEDCT_US, ICD10CM
_TRANSLATED = re.compile("^(?:CIE|CIM)(?=10|9|11|O)")
# Vocabularies whose codes may be a terminology's ids without a prefix. What else looks like an
# identifier may be a finding: "HR:110".
_WELL_KNOWN = frozenset(
    "OMIM MESH UMLS SNOMEDCT ICD10 ICD9 ICD11 ICDO HP ORPHA NCIT MEDDRA".split()
)
_SIGNS = re.compile(r"[^0-9A-Z]+")


def is_identified(scores: Mapping[str, float]) -> bool:
    """Tell by a candidate's scores whether the document identifies it, and no other candidate."""
    return scores.get(IDENTIFIER) == 1


def canonical(vocabulary: str, code: str) -> tuple[str, str]:
    """Write an identifier in canonical spelling: ("OMIM", "301500") for "McK", "301, 500"."""
    family = _TRANSLATED.sub("ICD", _SIGNS.sub("", vocabulary.upper()))
    family = next((stem for stem in _STEMS if family.startswith(stem)), family)
    return _FAMILIES.get(family, family), _SIGNS.sub("", code.upper())


def spellings(id: str, codes: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """List the canonical identifiers of a concept, for `identifies`.

    id (str): the concept's id, with or without its vocabulary. codes: its codes by vocabulary.
    """
    vocabulary, _, local = id.rpartition(":")
    pairs = [canonical(vocabulary, local)] + [
        canonical(name, value.removeprefix(f"{name}:"))
        for name, values in codes.items() for value in values
    ]  # fmt: skip
    return frozenset(f"{vocabulary}:{code}" for vocabulary, code in pairs)


def identifies(identifier: str, spelled: frozenset[str]) -> bool:
    """Tell whether an identifier such as "OMIM:301500" is among a concept's spellings.

    An id without a vocabulary matches any vocabulary whose codes people write.
    """
    vocabulary, _, code = identifier.rpartition(":")
    return identifier in spelled or (vocabulary in _WELL_KNOWN and f":{code}" in spelled)
