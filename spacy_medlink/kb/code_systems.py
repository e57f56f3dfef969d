"""Code systems: the canonical address of each vocabulary, as FHIR has it, and codes within it."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from ..types import Concept
from .rekey import scheme_of
from .vocabularies import canonical

_OBO = ("MONDO", "DOID", "UBERON", "GO", "CHEBI", "CL", "MP")
# From the tables of FHIR R4 and terminology.hl7.org. The addresses are identifiers, not pages.
_ADDRESSES = {
    "SNOMEDCT_US": "http://snomed.info/sct",
    "LNC": "http://loinc.org",
    "UCUM": "http://unitsofmeasure.org",
    "RXNORM": "http://www.nlm.nih.gov/research/umls/rxnorm",
    "UMLS": "http://www.nlm.nih.gov/research/umls",
    "MESH": "http://www.nlm.nih.gov/research/umls/msh",  # FHIR's pattern for those of the UMLS
    "NCIT": "http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl",
    "ICD10": "http://hl7.org/fhir/sid/icd-10",
    "ICD10CM": "http://hl7.org/fhir/sid/icd-10-cm",
    "ICD10PCS": "http://www.cms.gov/Medicare/Coding/ICD10",
    "ICD10GM": "http://fhir.de/CodeSystem/bfarm/icd-10-gm",
    "ICD9CM": "http://hl7.org/fhir/sid/icd-9-cm",
    "ICDO": "http://terminology.hl7.org/CodeSystem/icd-o-3",
    "ICD11": "http://id.who.int/icd/release/11/mms",
    "ATC": "http://www.whocc.no/atc",
    "CPT": "http://www.ama-assn.org/go/cpt",
    "CVX": "http://hl7.org/fhir/sid/cvx",
    "NDC": "http://hl7.org/fhir/sid/ndc",
    "MEDDRA": "https://www.meddra.org",
    "OMIM": "http://www.omim.org",
    "ORPHA": "http://www.orpha.net",
    "HP": "http://human-phenotype-ontology.org",
    "OMOP": "https://fhir-terminology.ohdsi.org",
    **{name: f"http://purl.obolibrary.org/obo/{name.lower()}.owl" for name in _OBO},
}
_VOCABULARIES = {address: name for name, address in _ADDRESSES.items()}
_WITH_PREFIX = frozenset({"HP", *_OBO})
_LOCAL = "urn:spacy-medlink:vocabulary:"  # for vocabularies without an address
_ICD = re.compile(r"^ICD-(\d+)-?")


class Coded(NamedTuple):
    """A code and the address of its code system."""

    system: str
    code: str


def system_of(vocabulary: str) -> str:
    """Return the address of a vocabulary; a URN with the vocabulary's name where FHIR has none."""
    name = canonical(vocabulary)
    return _ADDRESSES.get(name) or _LOCAL + quote(vocabulary, safe="")


def vocabulary_of(system: str) -> str:
    """Return the vocabulary of a code system's address, or the last part of an unknown address."""
    last = re.split(r"[/:#]", system.rstrip("/"))[-1].upper()
    return _VOCABULARIES.get(system) or _ICD.sub(r"ICD\1", last)


def coded(vocabulary: str, code: str) -> Coded:
    """Write a code as its code system does: OBO codes with the prefix, others without."""
    name = canonical(vocabulary)
    for prefix in (name, vocabulary):
        code = code.removeprefix(f"{prefix}:")
    return Coded(system_of(vocabulary), f"{name}:{code}" if name in _WITH_PREFIX else code)


def vocabulary_of_id(id: str, codes: Mapping[str, Sequence[str]]) -> str:
    """Return the vocabulary of a concept's id, as far as the id and the codes tell."""
    own = {vocabulary: tuple(values) for vocabulary, values in codes.items()}
    return scheme_of(Concept(id, "", codes=own))


def curie(id: str, codes: Mapping[str, Sequence[str]]) -> str:
    """Write the id of a concept with its vocabulary: "HP:0001945", "MESH:D003920"."""
    return id if ":" in id else f"{vocabulary_of_id(id, codes)}:{id}"


def codings(id: str, codes: Mapping[str, Sequence[str]]) -> list[Coded]:
    """List the codings of a concept: its id first, then its codes by vocabulary, each once."""
    own = coded(vocabulary_of_id(id, codes), id)
    others = (coded(vocabulary, code) for vocabulary in sorted(codes) for code in codes[vocabulary])
    return list(dict.fromkeys([own, *others]))
